// Hidden tests: the rules in all runs of small clusters. The exploration is in the test's process;
// it asks a replica what the rules say.
#include <gtest/gtest.h>

#include <cstddef>

#include "asked_rules.h"
#include "copilot_model.h"
#include "copilot_scopes.h"
#include "safety.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

// The most states of a scope that a test explores: the nearest ones.
constexpr std::size_t kStatesMax = 150'000;

void ExpectSafe(const Scope& scope) {
  AskedRules rules;
  const Explored explored = Explore(scope, rules.All(), kStatesMax);
  EXPECT_EQ(explored.violated, "") << Unsafe(Safety::kOneValue) << explored.InWords();
  EXPECT_GT(explored.coverage.states, 100U);
}

GRADED_TEST(CopilotExploration, TwoEntriesAreOrdered, "5b", 1,
            "In all runs of three and five replicas two entries are decided in one order.") {
  ExpectSafe(kThreeReplicas);
  ExpectSafe(kFiveReplicas);
}

GRADED_TEST(CopilotExploration, ATakeoverAgreesWithThePilot, "5d", 1,
            "Whoever takes an entry of three replicas over, at any moment, decides what its pilot "
            "may have decided. So does a taker of five, beside entries that were proposed in two "
            "views.") {
  ExpectSafe(kTakeoverByCopilot);
  ExpectSafe(kTakeoverByFollower);
  ExpectSafe(kTakerBehindALaterProposer);
  ExpectSafe(kPromisesOfAnOlderProposal);
}

GRADED_TEST(
    CopilotExploration, ATakeoverAfterADeath, "5d", 1,
    "With five replicas and a dead pilot a taker decides what the pilot may have decided.") {
  ExpectSafe(kTakeoverAfterADeath);
  ExpectSafe(kTakeoverOfFive);
}

GRADED_TEST(CopilotExploration, BothPilotsAreDead, "5d", 1,
            "Two takers after the death of both pilots agree, and do not wait for each other.") {
  ExpectSafe(kTwoTakersAfterBothDeaths);
  ExpectSafe(kTwoTakersAfterAHiddenVote);
}

GRADED_TEST(CopilotExploration, APilotStartsAgain, "5d", 1,
            "A pilot that starts again, and has forgotten what it decided, is taken for a silent "
            "one.") {
  ExpectSafe(kTakeoverAfterARestart);
}

}  // namespace
}  // namespace depfast::copilot
