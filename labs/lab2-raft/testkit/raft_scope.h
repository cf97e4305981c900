// The small scope of lab 2: three replicas, two commands, and every schedule with a few deviations.
#pragma once

#include "testkit/small_scope.h"

namespace depfast::raft {

// One run of the scope: a leader is elected and receives two commands. When the last fault is over,
// another command commits and every replica applies it. Uses the assertions of GoogleTest.
void RunRaftScope(testkit::ScopedRun& run);

}  // namespace depfast::raft
