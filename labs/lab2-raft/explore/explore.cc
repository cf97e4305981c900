// The program of `kit explore`. Its test has no points.
#include <gtest/gtest.h>

#include <limits>

#include "raft_scope.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

GRADED_TEST(RaftScope, EverySchedule, "2c", 0,
            "Raft is correct under every schedule with a few deviations.") {
  testkit::ExploreScope({.bound = testkit::TheEnvironment().bound,
                         .runs_max = std::numeric_limits<std::int64_t>::max()},
                        RunRaftScope);
}

}  // namespace
}  // namespace depfast::raft
