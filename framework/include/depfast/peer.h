// PeerId: the number by which a replica names another replica or a client.
#pragma once

#include <cstdint>

namespace depfast {

// The replicas of one's own group are 0 .. n-1. Those of other groups start at kOtherGroups: see
// Runtime::PeerOf. Clients start at kFirstClient.
using PeerId = std::int32_t;
inline constexpr PeerId kOtherGroups = 500;
inline constexpr PeerId kFirstClient = 1000;
inline constexpr PeerId kNobody = -1;  // no replica, or an unknown one

}  // namespace depfast
