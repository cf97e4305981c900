// The small scope of lab 2: three replicas, four commands, a change of the leader, and every
// schedule with a few deviations.
#pragma once

#include "testkit/small_scope.h"

namespace depfast::raft {

// One run of the scope. A leader is elected and commits a command. It is cut off with two more that
// no other replica has, until another replica leads. When the last fault is over, a command commits
// and every replica applies it. Uses the assertions of GoogleTest.
void RunRaftScope(testkit::ScopedRun& run);

}  // namespace depfast::raft
