// The small scope of lab 2: three replicas, five commands, a change of the leader, and every
// schedule with a few deviations.
#pragma once

#include "depfast/time.h"
#include "raft_messages.h"
#include "testkit/small_scope.h"

namespace depfast::raft {

// The length of deviations: shorter than every timeout, or until the others have a leader.
inline constexpr Duration kUnnoticed = 5ms;
inline constexpr Duration kElected = kElectionTimeoutMax + 400ms;

// One run of the scope. A leader is elected and commits two commands. It is cut off with two more
// that no other replica has, until another replica leads. When the last fault is over, a command
// commits and every replica applies it. Uses the assertions of GoogleTest.
void RunRaftScope(testkit::ScopedRun& run, const testkit::Deviations& deviations);

}  // namespace depfast::raft
