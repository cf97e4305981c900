// FaultyLinks: the wires between a replica and its network, while another process injects a fault
// of the network.
//
// They are the simulator's wires (hosts/sim/wires.h) on real time. A sent frame is held until its
// link's window has room. Then it is on the wire until it arrives, which here means that the
// network gets it. Frames that are held count as held bytes and can be released, and frames on the
// wire cannot. So a delay costs the sender the memory that it would cost with TCP.
//
// A link without a fault is empty, and its frames go directly to the network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>

#include "depfast/host/host.h"
#include "depfast/host/random.h"
#include "depfast/time.h"
#include "real/fault_file.h"
#include "real/send_queue.h"

namespace depfast::real {

class FaultyLinks {
 public:
  static constexpr std::size_t kWindowBytes = 256 * 1024;  // between replicas, as in the simulator
  // So often the owner of frames on a wire looks whether the fault is over.
  static constexpr Duration kPatience = 10ms;

  // A frame arrives at the network.
  using Arrive = std::function<void(PeerId to, Bytes frame)>;

  // Peers below `replicas` are replicas, all others clients. `held_bytes_max`: see NetworkOptions.
  FaultyLinks(PeerId replicas, std::size_t held_bytes_max, RandomStream random, Arrive arrive);

  // From now on these are the faults. Frames that are already on a wire keep their delay, unless no
  // fault of the network is left: then all of them arrive with the next Advance.
  void Set(const InjectedFaults& faults);

  // Whether frames to the peer must take the wire: it has a fault, or earlier frames are on it.
  bool Carries(PeerId to) const { return faulty_ || links_.contains(to); }

  // Requires: Carries(to); `frame` increases.
  void Send(PeerId to, FrameId frame, Bytes bytes);
  // Drops the frame if it is held. Returns whether it was.
  bool Release(PeerId to, FrameId frame);
  std::size_t HeldBytes(PeerId to) const;

  // Puts held frames on their wires, and lets those arrive whose time has come. Returns the number
  // of frames that were dropped because too much was held.
  std::size_t Advance(Time now);
  // When Advance has work; kNever if there is none.
  Time NextDeadline() const;

 private:
  struct Link {
    SendQueue held;
    std::multimap<Time, Bytes> wire;  // by arrival
    std::size_t wire_bytes = 0;
    Time last_arrival{0};  // frames do not overtake each other, except late ones
  };

  bool IsReplica(PeerId id) const { return id >= 0 && id < replicas_; }
  bool HasRoom(PeerId to, const Link& link) const;
  void Transmit(PeerId to, Link& link, const Bytes& bytes, Time now);
  Duration DelayOf(PeerId to, std::size_t bytes);
  bool IsLost(PeerId to);
  Duration LateBy(PeerId to);
  // With the probability that the kind's amount says, per mille.
  bool Draws(faults::FaultKind kind);

  const PeerId replicas_;
  const std::size_t held_bytes_max_;
  RandomStream random_;
  const Arrive arrive_;
  InjectedFaults faults_;
  bool faulty_ = false;                     // a fault of the network is on
  Time looked_{0};                          // the latest Advance
  std::unordered_map<PeerId, Link> links_;  // that are not empty
};

}  // namespace depfast::real
