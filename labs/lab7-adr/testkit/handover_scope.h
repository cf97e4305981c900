// The small scope of lab 7: three replicas and a hand-over, under every schedule with a few
// deviations.
#pragma once

#include "depfast/time.h"
#include "handover_messages.h"
#include "raft_messages.h"
#include "testkit/small_scope.h"

namespace depfast::adr {

// The length of deviations: shorter than every timeout, or longer than a hand-over and an election.
inline constexpr Duration kUnnoticed = 5ms;
inline constexpr Duration kTooLate = raft::kTakeOverMax + raft::kElectionTimeoutMax;

// One run of the scope. A leader commits two commands, finds itself slow and one peer well, and
// gets two more commands while it hands over. When the last fault is over, a command commits and
// every replica applies it. Uses the assertions of GoogleTest.
void RunHandoverScope(testkit::ScopedRun& run, const testkit::Deviations& deviations);

}  // namespace depfast::adr
