// The figures of a wait spike. Given, not submitted: tests rely on them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace depfast::spikes {

// A peer's waits in a window are evidence if there are at least this many. A few waits are chance.
inline constexpr std::uint64_t kLeastWaits = 5;

// In a spike the wait for a peer is longer than usual by more than this factor. The tests plant
// factors of 5 and more, and stay below 2 where there is no spike.
inline constexpr std::int64_t kFactor = 3;

// "Usual" is the median over this many of the latest windows that are evidence and no spike.
inline constexpr std::size_t kRemembered = 20;
// A peer with fewer such windows has no known usual wait.
inline constexpr std::size_t kWarmUp = 5;

}  // namespace depfast::spikes
