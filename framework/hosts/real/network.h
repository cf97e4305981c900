// Network: a replica's connections, and the queue of frames for each peer.
//
// One connection carries our frames to a peer, and we make it; the peer's frames, replies among
// them, come on the connection that the peer makes. Neither side has to agree on whose connection
// survives when both connect at once. A client makes one connection, and is answered on it.
//
// Reading is bounded and round-robin (document 002, section 3.2.2, "reversed backlog"): a turn
// takes a limited amount from each connection that has something, so a peer that was slow and now
// sends its backlog in one burst cannot keep the others waiting.
//
// One thread uses a Network, whoever runs the event loop.
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

  // Frames held for a peer: beyond this, the oldest are dropped. A peer that is not connected gets
  // a short queue: frames of long ago are of no use to one that comes back.
  std::size_t held_bytes_max = std::size_t{64} << 20;
  std::size_t held_bytes_disconnected_max = std::size_t{1} << 20;

  // Of one connection in one turn.
  std::size_t read_bytes_per_turn_max = 128 * 1024;
  std::size_t frames_per_turn_max = 256;

  // Between attempts to connect: doubles from min to max, and starts anew once a peer has greeted.
  Duration reconnect_min = 10ms;
  Duration reconnect_max = 1s;
  // For a connection to be made and greeted.
  Duration greeting_timeout = 3s;
};

class Network {
 public:
  using Log = std::function<void(const std::string&)>;
  // A frame has arrived. The bytes are valid during the call.
  using Deliver = std::function<void(PeerId from, std::string_view frame)>;

  // Tokens from here on are the network's.
  static constexpr EventLoop::Token kFirstToken = 16;

  // Takes over `listener`, a listening non-blocking socket. Looks the replicas' addresses up.
  // Throws std::invalid_argument for a name that cannot be found. The rest must outlive it.
  Network(NetworkOptions options, Descriptor listener, EventLoop& loop, NetworkCounters& counters,
          Log log);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // See Host. Requires: `frame` increases; `peer` is not ourselves.
  void Send(PeerId peer, FrameId frame, Bytes bytes);
  void Release(PeerId peer, FrameId frame);
  // Requires: `peer` is a replica.
  std::size_t HeldBytes(PeerId peer) const;

  // An event of the loop, with a token of ours. Requires: OnTime was called in this turn.
  void OnEvent(EventLoop::Token token, std::uint32_t events);

  // A turn begins: makes the connections that are due and gives up those that take too long.
  void OnTime(Time now);
  // When OnTime has something to do next; kNever if nothing.
  Time NextDeadline() const;

  // Reads a bounded amount from every connection that has something, delivering whole frames.
  // Returns their number.
  std::size_t Receive(const Deliver& deliver);
  // Receive would find more without waiting for events.
  bool HasBacklog() const { return !ready_.empty(); }

  // Writes what was queued: one system call for each connection whose socket takes it all.
  void Flush();

  std::size_t connections() const { return peers_by_token_.size(); }

 private:
  enum class State : std::uint8_t {
    kConnecting,  // ours: the kernel is at it
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

  // What we send to one replica or client.
  struct Outbox {
    SendQueue queue;
    EventLoop::Token connection = 0;  // that carries it, once open; 0 if none does
    bool in_dirty = false;            // listed in dirty_
  };

  // Our side of the connection to one replica.
  struct Link {
    sockaddr_in address = {};
    Time connect_at{0};  // kNever while there is a connection, made or in the making
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
  Time now_{0};  // of the latest OnTime
  Descriptor listener_;
  bool listening_ = true;  // watched; false while the process is out of descriptors
  Time accept_again_at_ = kNever;
  EventLoop::Token last_token_ = kFirstToken;
  PeerId last_assigned_client_ = kFirstAssignedClient - 1;
  std::vector<Link> links_;                     // by replica id; our own is unused
  std::vector<Outbox> replicas_;                // by replica id; our own is unused
  std::unordered_map<PeerId, Outbox> clients_;  // those that are connected
  std::vector<EventLoop::Token> incoming_;      // by replica id; 0 if none
  std::unordered_map<EventLoop::Token, std::unique_ptr<Peer>> peers_by_token_;
  std::size_t not_open_ = 0;             // of them, those that have not greeted
  std::vector<EventLoop::Token> ready_;  // have, or may have, something to read
  std::vector<PeerId> dirty_;            // have something to write
  WriteScratch scratch_;
};

}  // namespace depfast::real
