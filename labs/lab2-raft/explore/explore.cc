// The program of `kit explore`: no graded test.
#include <gtest/gtest.h>

#include <limits>

#include "raft_scope.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

TEST(RaftScope, EverySchedule) {
  testkit::ExploreScope({.bound = testkit::TheEnvironment().bound,
                         .runs_max = std::numeric_limits<std::int64_t>::max()},
                        RunRaftScope);
}

}  // namespace
}  // namespace depfast::raft
