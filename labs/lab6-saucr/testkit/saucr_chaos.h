// Chaos for SAUCR: all faults at once, then progress is required where recovery is possible.
#pragma once

#include <cstddef>
#include <cstdint>

#include "saucr_checker.h"
#include "testkit/chaos.h"

namespace depfast::saucr {

// Clients submit `commands` commands of `bytes` bytes every 25 ms. Large ones make replicas take
// snapshots.
struct ChaosLoad {
  int commands = 5;
  std::size_t bytes = 100;
};

struct ChaosMet {
  SaucrChecker::Coverage coverage;
  int unavailable = 0;  // worlds that left fewer than a minority recovered
};

// Worlds `first` and those after it, `worlds` in all, with 3, 5 and 7 replicas each. Ends with the
// first that fails. Returns what all of them have met. Uses the assertions of GoogleTest.
ChaosMet SurviveChaos(std::uint64_t first, std::uint64_t worlds, const ChaosLoad& load);

}  // namespace depfast::saucr
