// The claims that a replica makes of its health, for `kit cluster status` and replays. Given, not
// submitted. No test reads them.
#pragma once

#include <cstdint>

#include "depfast/runtime.h"

namespace depfast::adr {

// Beyond those of raft_observations.h.
enum HealthClaim : std::uint32_t {
  kProcessorClaim = 5,  // Level; the latest value and its threshold, in us
  kDiskClaim = 6,
  kNetworkClaim = 7,    // of the slowest link
  kSuspicionClaim = 8,  // Suspicion::Who, but 4 and more for peer 0 and more
  kHandoverClaim = 9,   // the successor; the time, in ns
};

// Observes a claim in a process of its own. In simulation it does nothing, as an observation costs
// time there. Replays read the claims from the words of a wait.
void Claim(Runtime& runtime, const Observation& claim);

}  // namespace depfast::adr
