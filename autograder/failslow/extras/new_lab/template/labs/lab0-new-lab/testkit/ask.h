// A question of a client to one replica.
#pragma once

#include <cstdint>
#include <optional>

#include "testkit/cluster.h"

namespace depfast::lab0 {

// The replica's count; nothing if it has not answered within `patience`.
std::optional<std::int64_t> AskForCount(testkit::Cluster& cluster, PeerId replica,
                                        Duration patience);

}  // namespace depfast::lab0
