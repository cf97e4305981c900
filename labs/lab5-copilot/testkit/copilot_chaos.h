// Chaos for Copilot: all faults at once, then progress is required.
#pragma once

#include <cstddef>
#include <cstdint>

#include "copilot_checker.h"
#include "testkit/chaos.h"

namespace depfast::copilot {

// Clients submit `commands` commands of `bytes` bytes every 25 ms. Large ones make replicas cut
// their logs.
struct ChaosLoad {
  int commands = 5;
  std::size_t bytes = 100;
};

// Worlds `first` and those after it, `worlds` in all, with 3, 5 and 7 replicas each. Ends with the
// first that fails. Returns what all of them have met. Uses the assertions of GoogleTest.
CopilotChecker::Coverage SurviveChaos(std::uint64_t first, std::uint64_t worlds,
                                      const ChaosLoad& load);

}  // namespace depfast::copilot
