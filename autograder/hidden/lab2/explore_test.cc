// Hidden test: a small world under every schedule with one deviation.
#include <gtest/gtest.h>

#include "raft_scope.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

// Crashes and late messages alone, so that the test takes a second: `kit explore` has the others.
constexpr testkit::Bound kBound = {.deviations = 1, .losses = 0, .cuts = 0};

// About twice as many as the reference has: a submission that sends more messages has more.
constexpr std::int64_t kRunsMax = 600;

GRADED_TEST(RaftExploration, NoSingleCrashOrLateMessageBreaksIt, "2c", 1,
            "While a leader is deposed, no crash and no late message at any moment breaks Raft.") {
  testkit::ExploreScope({.bound = kBound, .runs_max = kRunsMax}, RunRaftScope);
}

}  // namespace
}  // namespace depfast::raft
