// PeerId: the address of a replica or a client.
#pragma once

#include <cstdint>

namespace depfast {

// Replicas are 0 .. n-1; clients start at kFirstClient.
using PeerId = std::int32_t;
inline constexpr PeerId kFirstClient = 1000;
inline constexpr PeerId kNobody = -1;  // no replica, or an unknown one

}  // namespace depfast
