// The program of `kit explore`. Its test has no points.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "raft_scope.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

GRADED_TEST(RaftScope, EverySchedule, "2c", 0,
            "Raft is correct under every schedule with a few deviations.") {
  const testkit::Deviations deviations = {.delays = {kUnnoticed, kElected},
                                          .stalls = {kElected},
                                          .downtimes = {kUnnoticed, kElected},
                                          .cuts = {kElected}};
  testkit::ExploreScope({.bound = testkit::TheEnvironment().bound,
                         .runs_max = std::numeric_limits<std::int64_t>::max()},
                        [&](testkit::ScopedRun& run) { RunRaftScope(run, deviations); });
}

}  // namespace
}  // namespace depfast::raft
