// Network: a replica's connections, and the queue of frames for each peer.
//
// Two replicas have two connections. Each replica sends its frames, replies included, on the
// connection that it has made itself. So the replicas need no agreement on which connection
// survives when both connect at once. A client makes one connection, which carries frames both
// ways.
//
// Reading is bounded and round-robin (document 002, section 3.2.2, "reversed backlog"): a turn
// takes a limited amount from each readable connection. So a peer that was slow and now sends its
// backlog in one burst cannot keep the others waiting.
//
// Only the thread that runs the event loop uses a Network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "depfast/host/host.h"
#include "real/connection.h"
#include "real/counters.h"
#include "real/endpoint.h"
#include "real/event_loop.h"
#include "real/send_queue.h"

namespace depfast::real {

struct NetworkOptions {
  PeerId self = 0;
  std::vector<Endpoint> replicas;  // by replica id

  // The limits of the bytes held for a peer; beyond them the oldest frames are dropped. The queue
  // of a disconnected peer is short: old frames are of no use to a peer that returns.
  std::size_t held_bytes_max = std::size_t{64} << 20;
  std::size_t held_bytes_disconnected_max = std::size_t{1} << 20;

  // The limits of one connection in one turn.
  std::size_t read_bytes_per_turn_max = 128 * 1024;
  std::size_t frames_per_turn_max = 256;

  // The pause between attempts to connect: doubles from min to max, back to min after a greeting.
  Duration reconnect_min = 10ms;
  Duration reconnect_max = 1s;
  // The time allowed for connecting and greeting.
  Duration greeting_timeout = 3s;
};

class Network {
 public:
  using Log = std::function<void(const std::string&)>;
  // Our connection to a replica has been lost, or is there, after a greeting.
  using OnLink = std::function<void(PeerId replica, bool is_up)>;
  // A frame has arrived. The bytes are valid during the call.
  using Deliver = std::function<void(PeerId from, std::string_view frame)>;

  // Tokens of the network begin here.
  static constexpr EventLoop::Token kFirstToken = 16;

  // Takes over `listener`, a listening non-blocking socket. Looks up the replicas' addresses.
  // Throws std::invalid_argument for an unknown host name. `loop` and `counters` must outlive the
  // network.
  // `on_link` is called within Receive; none if it is empty.
  Network(NetworkOptions options, Descriptor listener, EventLoop& loop, NetworkCounters& counters,
          Log log, OnLink on_link = nullptr);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // See Host. Requires: `frame` increases; `peer` is not ourselves.
  void Send(PeerId peer, FrameId frame, Bytes bytes);
  void Release(PeerId peer, FrameId frame);
  // Requires: `peer` is a replica.
  std::size_t HeldBytes(PeerId peer) const;

  // Handles an event of the loop with one of the network's tokens. Requires: OnTime was called in
  // this turn.
  void OnEvent(EventLoop::Token token, std::uint32_t events);

  // Begins a turn: makes due connections, and closes those that have exceeded greeting_timeout.
  void OnTime(Time now);
  // The next time at which OnTime has work; kNever if there is none.
  Time NextDeadline() const;

  // Reads a bounded amount from every readable connection and delivers whole frames. Returns the
  // number of frames.
  std::size_t Receive(const Deliver& deliver);
  // Receive would find more without waiting for events.
  bool HasBacklog() const { return !ready_.empty(); }

  // Writes the queued frames: one system call for each connection whose socket takes them all.
  void Flush();

  // Closes all connections and forgets the queued frames. Until ReturnToService it makes none, and
  // closes those that others make: they see at once that nobody serves them.
  void TakeOutOfService();
  void ReturnToService();

  std::size_t connections() const { return peers_by_token_.size(); }

 private:
  enum class State : std::uint8_t {
    kConnecting,  // outgoing: the kernel is connecting
    kGreeting,    // the next frame must be a greeting
    kOpen,
  };

  struct Peer {
    State state = State::kGreeting;
    bool outgoing = false;   // we made the connection: to replica `id`
    bool in_ready = false;   // listed in ready_
    PeerId id = kNobody;     // valid if outgoing or open
    Time greet_by = kNever;  // kNever once open
    Connection connection;
  };

  // The outgoing frames for one replica or client.
  struct Outbox {
    SendQueue queue;
    EventLoop::Token connection = 0;  // the open connection that carries the frames; 0 if none
    bool in_dirty = false;            // listed in dirty_
  };

  // Our side of the connection to one replica.
  struct Link {
    sockaddr_in address = {};
    Time connect_at{0};  // kNever while connected or connecting
    Duration backoff{0};
  };

  bool IsReplica(PeerId id) const;
  Outbox* FindOutbox(PeerId id);
  void MarkDirty(PeerId id, Outbox& outbox);
  void MarkReady(EventLoop::Token token, Peer& peer);

  EventLoop::Token Add(Descriptor socket, State state, bool outgoing, PeerId id);
  void Close(EventLoop::Token token, const std::string& reason);
  void CloseMalformed(EventLoop::Token token, const std::string& reason);
  void Accept();
  void Connect(PeerId id);
  void FinishConnect(EventLoop::Token token, Peer& peer);
  void ScheduleReconnect(PeerId id);

  // Returns whether the connection still exists.
  bool ReceiveFrom(EventLoop::Token token, const Deliver& deliver, std::size_t& delivered);
  void Open(Peer& peer);
  bool TakeGreeting(EventLoop::Token token, Peer& peer, std::string_view frame);
  void WelcomePeer(EventLoop::Token token, Peer& peer);
  std::string NameOf(const Peer& peer) const;

  const NetworkOptions options_;
  EventLoop& loop_;
  NetworkCounters& counters_;
  const Log log_;
  const OnLink on_link_;
  Time now_{0};  // of the latest OnTime
  Descriptor listener_;
  bool in_service_ = true;
  Time accept_again_at_ = kNever;  // else descriptors are used up, until then
  EventLoop::Token last_token_ = kFirstToken;
  PeerId last_assigned_client_ = kFirstAssignedClient - 1;
  std::vector<Link> links_;                     // by replica id; our own is unused
  std::vector<Outbox> replicas_;                // by replica id; our own is unused
  std::unordered_map<PeerId, Outbox> clients_;  // the connected clients
  std::vector<EventLoop::Token> incoming_;      // by replica id; 0 if none
  std::unordered_map<EventLoop::Token, std::unique_ptr<Peer>> peers_by_token_;
  std::size_t not_open_ = 0;             // peers_by_token_ that have not greeted
  std::vector<EventLoop::Token> ready_;  // connections that may have bytes to read
  std::vector<PeerId> dirty_;            // peers with frames to write
  WriteScratch scratch_;
};

}  // namespace depfast::real
