// The exploration of lab 2's small scope reaches the situations that it is for.
#include "raft_scope.h"

#include <gtest/gtest.h>

namespace depfast::raft {
namespace {

TEST(RaftScope, EverySituationComesUp) {
  const testkit::Deviations deviations = {
      .delays = {kElected}, .stalls = {kElected}, .downtimes = {kUnnoticed}, .cuts = {kElected}};
  const auto result =
      testkit::ExploreScope({.bound = {.deviations = 1}, .runs_max = 1000},
                            [&](testkit::ScopedRun& run) { RunRaftScope(run, deviations); });
  EXPECT_TRUE(result.exploration.complete);
  EXPECT_FALSE(result.situations.empty());
  for (const auto& [situation, runs] : result.situations) EXPECT_GT(runs, 0) << situation;
}

}  // namespace
}  // namespace depfast::raft
