// Hidden tests: the rules in all runs of small clusters. The exploration is in the test's process;
// it asks a replica what the rules say.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "asked_rules.h"
#include "copilot_model.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

constexpr int kPilot = 0;
constexpr int kCopilot = 1;
constexpr int kFollower = 2;
constexpr EntryName kP1{kPilot, 1};
constexpr EntryName kQ1{kCopilot, 1};

// The most states of a scope that a test explores: the nearest ones.
constexpr std::size_t kStatesMax = 150'000;

void ExpectSafe(const Scope& scope, std::size_t states_max = kStatesMax) {
  AskedRules rules;
  const Explored explored = Explore(scope, rules.All(), states_max);
  std::string steps;
  for (const std::string& step : explored.steps) steps += "\n  " + step;
  EXPECT_EQ(explored.violated, "") << "after:" << steps;
  EXPECT_GT(explored.coverage.states, 100U);
}

GRADED_TEST(CopilotExploration, TwoEntriesAreOrdered, "5b", 3,
            "In all runs of three and five replicas two entries are decided in one order.") {
  ExpectSafe({3, {kP1, kQ1}, {}});
  ExpectSafe({5, {kP1, kQ1}, {}});
}

GRADED_TEST(CopilotExploration, ATakeoverAgreesWithThePilot, "5d", 1,
            "Whoever takes an entry of three replicas over, at any moment, decides what its pilot "
            "may have decided.") {
  ExpectSafe({3, {kP1, kQ1}, {{kCopilot, kP1}}});
  ExpectSafe({3, {kP1, kQ1}, {{kFollower, kP1}}});
}

GRADED_TEST(
    CopilotExploration, ATakeoverAfterADeath, "5d", 1,
    "With five replicas and a dead pilot a taker decides what the pilot may have decided.") {
  ExpectSafe({5, {kP1, kQ1}, {{kFollower, kP1}}, Crash::kPilot});
  ExpectSafe({5, {kP1, kQ1}, {{kCopilot, kP1}}, Crash::kPilot});
}

GRADED_TEST(CopilotExploration, BothPilotsAreDead, "5d", 1,
            "Two takers after the death of both pilots agree, and do not wait for each other.") {
  const std::vector<TakeoverPlan> both = {{kFollower, kP1}, {kFollower + 1, kQ1}};
  ExpectSafe({5, {kP1, kQ1}, both, Crash::kBothPilots});
  const std::vector<std::string> proposed_after = {
      "replica 0 proposes P.1 with dependency 0",
      "replica 1 fast-accepts P.1 dependency 0",
      "replica 2 fast-accepts P.1 dependency 0",
      "replica 0 commits P.1 with dependency 0 on the fast path",
      "replica 1 proposes Q.1 with dependency 1",
      "replica 3 fast-accepts Q.1 dependency 1"};
  ExpectSafe({5, {kP1, kQ1}, both, Crash::kBothPilots, proposed_after});
}

GRADED_TEST(CopilotExploration, APilotStartsAgain, "5d", 1,
            "A pilot that starts again, and has forgotten what it decided, is taken for a silent "
            "one.") {
  ExpectSafe({3, {kP1, kQ1}, {{kFollower, kP1}}, Crash::kNobody, {}, /*pilot_restarts=*/true});
}

}  // namespace
}  // namespace depfast::copilot
