// Hidden test: a small world under every schedule with one deviation.
#include <gtest/gtest.h>

#include <cstdint>

#include "raft_scope.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

// About twice the reference's runs: a submission that sends more messages needs more.
constexpr std::int64_t kRunsMax = 400;

// A part of the deviations of `kit explore`, so that the test takes a second.
GRADED_TEST(RaftExploration, NoSingleCrashOrLateMessageBreaksIt, "2c", 1,
            "While leaders change, no crash and no late message, at any moment, breaks a rule.") {
  const testkit::Deviations deviations = {
      .delays = {kElected}, .stalls = {kElected}, .downtimes = {kUnnoticed}, .cuts = {}};
  testkit::ExploreScope({.bound = {.deviations = 1, .losses = 0}, .runs_max = kRunsMax},
                        [&](testkit::ScopedRun& run) { RunRaftScope(run, deviations); });
}

}  // namespace
}  // namespace depfast::raft
