// The figures of a wait spike. Given, not submitted: tests rely on them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace depfast::spikes {

// The waits of a peer in a window are evidence if there are so many of them. A few waits are
// chance.
inline constexpr std::uint64_t kLeastWaits = 5;

// In a spike the wait for a peer is more than so many times as long as usual. The tests plant 5
// times and more. What is no spike stays below 2 times.
inline constexpr std::int64_t kFactor = 3;

// "Usual" is the median over the latest windows that are evidence and no spike: over so many.
inline constexpr std::size_t kRemembered = 20;
// Of a peer with fewer such windows nothing is known.
inline constexpr std::size_t kWarmUp = 5;

}  // namespace depfast::spikes
