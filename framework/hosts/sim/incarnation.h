// Incarnation: a replica between two crashes. Events of an older epoch are void.
#pragma once

#include <cstddef>
#include <cstdint>

namespace depfast::sim {

struct Incarnation {
  std::size_t replica = 0;
  std::uint64_t epoch = 0;
};

}  // namespace depfast::sim
