// Units of the sizes in the tests.
#pragma once

#include <cstddef>

namespace depfast::raft {

inline constexpr std::size_t kMiB = std::size_t{1} << 20;

}  // namespace depfast::raft
