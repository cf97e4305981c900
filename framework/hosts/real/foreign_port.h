// ForeignPort: the connections of clients that speak another protocol (foreign_protocol.h).
//
// Reading is bounded and round-robin, as on the replica's own connections (network.h). A client
// that does not read its answers is read from no more, and cut off when too much waits for it.
//
// One thread uses a ForeignPort, whoever runs the event loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "depfast/host/host.h"
#include "real/counters.h"
#include "real/descriptor.h"
#include "real/event_loop.h"
#include "real/foreign_protocol.h"
#include "real/network.h"

namespace depfast::real {

class ForeignPort {
 public:
  // Its clients have ids from here on: above those that Network gives to clients.
  static constexpr PeerId kFirstClientId = kFirstAssignedClient + (1 << 29);
  // Tokens from here on are the port's.
  static constexpr EventLoop::Token kFirstToken = EventLoop::Token{1} << 62;

  // Takes over `listener`, a listening non-blocking socket. The rest must outlive it.
  ForeignPort(ForeignProtocol protocol, PeerId replica, Descriptor listener, EventLoop& loop,
              NetworkCounters& counters);
  ForeignPort(const ForeignPort&) = delete;
  ForeignPort& operator=(const ForeignPort&) = delete;

  static bool Owns(PeerId client) { return client >= kFirstClientId; }
  static bool OwnsToken(EventLoop::Token token) { return token >= kFirstToken; }

  // Gives a frame to a client's conversation; one for a client that has gone is dropped.
  void Send(PeerId client, std::string_view frame);

  // An event of the loop, with a token of ours.
  void OnEvent(EventLoop::Token token, std::uint32_t events);

  // Reads a bounded amount from every client that has something, delivering frames. Returns their
  // number.
  std::size_t Receive(const Network::Deliver& deliver);
  // Receive would find more without waiting for events.
  bool HasBacklog() const { return !ready_.empty(); }

  // Writes what was answered.
  void Flush();

  std::uint16_t port() const { return context_.port; }
  std::size_t connections() const { return clients_.size(); }

 private:
  struct Client {
    Descriptor socket;
    std::unique_ptr<Conversation> conversation;
    std::string output;       // that the kernel has not taken
    std::size_t written = 0;  // of it
    bool readable = true;
    bool writable = true;
    bool hung_up = false;   // it will not send more than is here already
    bool ended = false;     // its side: nothing more will come
    bool broken = false;    // nothing can be sent to it any more
    bool in_ready = false;  // listed in ready_
    bool in_dirty = false;  // listed in dirty_
  };

  static EventLoop::Token TokenOf(PeerId client);
  void Accept();
  void RefuseOne();
  void MarkReady(PeerId id, Client& client);
  void MarkDirty(PeerId id, Client& client);
  static bool MayRead(const Client& client);
  void Read(Client& client);
  void Write(Client& client);
  static bool IsDone(const Client& client);

  const ForeignProtocol protocol_;
  ForeignContext context_;
  EventLoop& loop_;
  NetworkCounters& counters_;
  Descriptor listener_;
  Descriptor spare_;  // given up for a moment when the process is out of descriptors
  PeerId last_client_ = kFirstClientId - 1;
  std::unordered_map<PeerId, Client> clients_;
  std::vector<PeerId> ready_;  // have, or may have, something to read
  std::vector<PeerId> dirty_;  // may have something to write
};

}  // namespace depfast::real
