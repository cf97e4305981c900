// Public tests: the rules among more replicas, and with more than one record.
#include "rule_cases.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "asked_rules.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

using Kind = Record::Kind;

GRADED_TEST(CopilotOrdering, TheLatestConflictIsSuggested, "5a", 1,
            "Of several conflicting entries the latest is suggested.") {
  AskedRules rules;
  const std::vector<Record> recorded = {
      Of(Kind::kFastAccepted, 0, 0), Of(Kind::kFastAccepted, 1, 1), Of(Kind::kFastAccepted, 2, 2)};
  EXPECT_EQ(rules.Suggestion(2, 0, {0, recorded, 0}), 2U);
  EXPECT_EQ(rules.Suggestion(3, 1, {0, recorded, 0}), 3U);
  EXPECT_EQ(rules.Suggestion(3, 3, {0, recorded, 0}), std::nullopt);
  EXPECT_EQ(rules.Suggestion(1, 0, {0, recorded, 0}), 1U);
  Record again = Of(Kind::kFastAccepted, 1, 1);
  again.least = 0;
  const std::vector<Record> proposed_again = {again};
  EXPECT_EQ(rules.Suggestion(1, 0, {0, proposed_again, 0}), 1U)
      << "Q.1 was proposed to depend on nothing in an earlier view";
}

GRADED_TEST(CopilotOrdering, TheSlowPathOfManyReplicas, "5b", 1,
            "With five and seven replicas the slow path takes the third and the fourth smallest "
            "dependency.") {
  AskedRules rules;
  EXPECT_EQ(rules.SlowDependency({5, 1, 4}, kFive), 5U);
  EXPECT_EQ(rules.SlowDependency({2, 1, 5, 4, 3}, kFive), 3U);
  EXPECT_EQ(rules.SlowDependency({9, 1, 5, 4}, kSeven), 9U);
  EXPECT_EQ(rules.SlowDependency({7, 6, 5, 4, 3, 2, 1}, kSeven), 4U);
}

GRADED_TEST(
    CopilotChoice, ALaterBallotWins, "5d", 1,
    "Of the values that are accepted, the one at the highest ballot is kept, a no-op, too.") {
  AskedRules rules;
  const auto accepted = [](int replica, Ballot ballot, bool no_op, EntryIndex dependency) {
    return Prepared{
        replica, {Kind::kAccepted, no_op, ballot, ballot, 0, dependency, 1, 0}, {}, false};
  };
  EXPECT_EQ(Choose(rules, {accepted(1, 9, false, 2), accepted(2, 4, false, 3)}, kThree),
            Choice(Value{false, 2}));
  EXPECT_EQ(Choose(rules, {accepted(1, 4, false, 2), accepted(2, 9, true, 0)}, kThree), kNoOp);
  EXPECT_EQ(Choose(rules, {accepted(1, 4, true, 0), accepted(2, 9, false, 3), Fast(0)}, kThree),
            Choice(Value{false, 3}));
  Prepared committed = accepted(2, 2, false, 1);
  committed.record.kind = Kind::kCommitted;
  EXPECT_EQ(Choose(rules, {accepted(1, 9, true, 0), committed}, kThree), Choice(Value{false, 1}))
      << "a commit counts more than any ballot";
}

GRADED_TEST(CopilotChoice, ASilentPilotHasAcceptedItself, "5d", 1,
            "If the proposer is silent, its own fast-accept is certain: f others are enough. If it "
            "has answered, a majority is needed.") {
  AskedRules rules;
  EXPECT_EQ(Choose(rules, {Knows(1), Fast(2)}, kThree), kKept);
  EXPECT_EQ(Choose(rules, {Knows(1), Knows(2)}, kThree), kNoOp);
  Prepared pilot = Fast(0);
  pilot.decides = true;
  EXPECT_EQ(Choose(rules, {pilot, Fast(2)}, kThree), kKept);
  EXPECT_EQ(Choose(rules, {pilot, Knows(2)}, kThree), kNoOp)
      << "the pilot knows that it has not committed the entry, and never will";
  EXPECT_EQ(Choose(rules, {Fast(1), Fast(2), Knows(3)}, kFive), kKept);
  EXPECT_EQ(Choose(rules, {pilot, Fast(2), Knows(3)}, kFive), kNoOp);
  EXPECT_EQ(Choose(rules, {pilot, Fast(2), Fast(3)}, kFive), kKept);
  EXPECT_EQ(Choose(rules, {pilot, Suggests(1, 1), Suggests(2, 1)}, kFive), kNoOp)
      << "a suggestion is no fast-accept";
}

}  // namespace
}  // namespace depfast::copilot
