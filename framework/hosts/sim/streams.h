// The random streams of a simulation: each component draws from its own, so that a draw more in one
// changes nothing in another.
#pragma once

#include <cstdint>

namespace depfast::sim {

// The third argument of RandomStream.
enum StreamOf : std::uint64_t {
  kDiskStream = 1,  // how long syncs take
  kReplicaStream,   // seeds of the replicas' own streams
  kLinkStream,      // how long frames take
  kReorderStream,   // how late reordered frames are
  kTornStream,      // how much of a batch a crash leaves
  kJitterStream,    // how late the frames of a jittery interface are
  kPacketStream,    // which packets are lost
};

}  // namespace depfast::sim
