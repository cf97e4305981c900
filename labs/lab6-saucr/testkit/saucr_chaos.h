// Chaos for SAUCR: all faults at once, then progress is required where SAUCR promises it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "saucr_checker.h"

namespace depfast::saucr {

// A client submits `commands` commands of `bytes` bytes every 25 ms. Large ones make replicas cut
// their logs.
struct ChaosLoad {
  int commands = 3;
  std::size_t bytes = 100;
};

// The situations of worlds of chaos.
struct ChaosMet {
  SaucrChecker::Coverage coverage;
  int served = 0;  // worlds in which enough replicas had their data: progress was required
};

// Worlds `first` and those after it, `worlds` in all, with 3, 5 and 7 replicas each. Ends with the
// first that fails. Uses the assertions of GoogleTest.
ChaosMet SurviveChaos(std::uint64_t first, std::uint64_t worlds, const ChaosLoad& load);

// The same with partitions alone, of five replicas. At the end two are behind one, and either side
// crashes in one instant.
ChaosMet SurvivePartitions(std::uint64_t first, std::uint64_t worlds);

}  // namespace depfast::saucr
