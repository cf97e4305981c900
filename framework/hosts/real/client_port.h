// ClientPort: the connections of clients that speak another protocol (client_protocol.h).
//
// Reading is bounded and round-robin, as on the replica's own connections (network.h). The port
// stops reading from a client that does not read its answers, and goes on as the answers leave. All
// connections share a budget of bytes, which their conversations keep to. So the port holds a
// bounded number of bytes, however many answers are asked for and not read. A client that reads is
// never cut off. One that takes nothing for a long time, while many bytes wait, is
// (ClientPortLimits).
//
// After the end of a conversation the port reads and discards the client's further bytes, up to a
// limit, until the client closes its side.
//
// Only the thread that runs the event loop uses a ClientPort.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "depfast/host/host.h"
#include "depfast/time.h"
#include "real/byte_budget.h"
#include "real/client_protocol.h"
#include "real/counters.h"
#include "real/descriptor.h"
#include "real/event_loop.h"
#include "real/network.h"

namespace depfast::real {

struct ClientPortLimits {
  // The limit of the bytes that all conversations hold (ClientContext::budget).
  std::size_t held_bytes_max = std::size_t{256} << 20;
  // The limit of the parts of commands that all conversations hold (ClientContext::unfinished).
  std::size_t unfinished_bytes_max = std::size_t{128} << 20;
  // Above this many unread answer bytes the port stops reading from the client.
  std::size_t unread_bytes_max = std::size_t{1} << 20;
  // The port closes the connection of a client that takes no byte for this time while it has more
  // than unread_bytes_max to take.
  Duration unread_time_max = 30s;
};

class ClientPort {
 public:
  // Ids of the port's clients begin here, above those that Network assigns.
  static constexpr PeerId kFirstClientId = kFirstAssignedClient + (1 << 29);
  // Tokens of the port begin here.
  static constexpr EventLoop::Token kFirstToken = EventLoop::Token{1} << 62;

  // Takes over `listener`, a listening non-blocking socket. `loop`, `counters` and `disk_failure`
  // (see ClientContext) must outlive the port.
  ClientPort(ClientProtocol protocol, PeerId replica, Descriptor listener, EventLoop& loop,
             NetworkCounters& counters, const std::string& disk_failure,
             const ClientPortLimits& limits = {});
  ClientPort(const ClientPort&) = delete;
  ClientPort& operator=(const ClientPort&) = delete;

  static bool Owns(PeerId client) { return client >= kFirstClientId; }
  static bool OwnsToken(EventLoop::Token token) { return token >= kFirstToken; }

  // Begins a turn: closes the connections of clients that do not read.
  void OnTime(Time now);
  // The next time at which OnTime has work; kNever if there is none.
  Time NextDeadline() const { return look_at_; }

  // Handles an event of the loop with one of the port's tokens. Requires: OnTime was called in this
  // turn.
  void OnEvent(EventLoop::Token token, std::uint32_t events);

  // Reads a bounded amount from every readable client and sends its requests to the replica; null
  // while that is out of service. Returns the number of requests.
  std::size_t Receive(Rpc* replica);
  // Receive would find more without waiting for events.
  bool HasBacklog() const { return !ready_.empty(); }

  // Writes the pending answers.
  void Flush();

  // From now on, `delay` is asked about the answers of a client before they are written. It returns
  // true if it has taken them, to give them back with Arrive: a fault delays the network.
  using Delay = std::function<bool(PeerId client, std::string& answers)>;
  void set_delay(Delay delay) { delay_ = std::move(delay); }
  // Answers that were delayed may be written. Drops them if the client has gone.
  void Arrive(PeerId client, std::string_view answers);

  // Closes all connections, whatever their conversations wait for. New ones are accepted.
  void CloseAll();

  std::uint16_t port() const { return context_.port; }
  std::size_t connections() const { return clients_.size(); }
  std::size_t held_bytes() const { return budget_.held(); }

 private:
  struct Client {
    Descriptor socket;
    std::shared_ptr<Conversation> conversation;
    std::string output;       // bytes that the kernel has not taken
    std::size_t written = 0;  // bytes of `output` that the kernel has taken
    std::size_t delayed = 0;  // bytes that are to come to `output` (Arrive)
    Time taken_at{0};         // when the kernel took the latest, or had taken all
    bool readable = true;
    bool writable = true;
    bool hung_up = false;       // the client has closed its side; unread bytes may be left
    bool ended = false;         // the client has closed its side, and all bytes are read
    bool broken = false;        // nothing can be sent to the client any more
    bool finished = false;      // the conversation is over, and its last answer is written
    std::size_t discarded = 0;  // bytes that came after that
    bool in_ready = false;      // listed in ready_
    bool in_dirty = false;      // listed in dirty_
    bool in_waiting = false;    // listed in waiting_

    std::size_t unread() const { return output.size() - written; }
  };

  static EventLoop::Token TokenOf(PeerId client);
  ClientContext ContextOf(PeerId client);
  void OnAnswer(PeerId client);
  void Accept();
  void RefuseOne();
  void MarkReady(PeerId id, Client& client);
  void MarkDirty(PeerId id, Client& client);
  bool MayRead(const Client& client) const;
  void Read(Client& client);
  void Write(Client& client);
  void TakeOutput(PeerId id, Client& client);
  // Lets the conversation and, if it has given room, those of other clients go on.
  void GoOn(PeerId id, Client& client);
  void LetOthersGoOn();
  static void Discard(Client& client, std::size_t bytes);
  static bool IsAllSaid(const Client& client);
  static void Finish(Client& client);
  // The connection can be closed.
  static bool IsDone(const Client& client);

  const ClientProtocol protocol_;
  const ClientPortLimits limits_;
  ByteBudget budget_;            // outlives the conversations
  ByteBudget unfinished_;        // this, too
  const ClientContext context_;  // without a connection
  EventLoop& loop_;
  NetworkCounters& counters_;
  Descriptor listener_;
  Descriptor spare_;  // closed for a moment when the process is out of descriptors
  PeerId last_client_ = kFirstClientId - 1;
  std::unordered_map<PeerId, Client> clients_;
  std::vector<PeerId> ready_;    // clients that may have bytes to read
  std::vector<PeerId> dirty_;    // clients that may have bytes to write
  std::vector<PeerId> waiting_;  // clients that wait for room in budget_
  Delay delay_;                  // may be empty
  Time now_{0};                  // of the latest OnTime
  Time look_at_ = kNever;        // when to look for clients that do not read
};

}  // namespace depfast::real
