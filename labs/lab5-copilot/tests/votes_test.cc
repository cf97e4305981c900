// Public tests: one replica's answers, message by message. The test knows the one right answer to
// each.
#include <gtest/gtest.h>

#include "safety.h"
#include "stage.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

using Kind = Record::Kind;

// A taker's ballot of the pilot's first view.
constexpr Ballot Taker(Ballot number) { return FirstBallot(kPilots) + number; }

Prepare PrepareOfP(EntryIndex index, Ballot ballot) {
  return {Lane::kPilot, ballot, index, true, 0};
}

GRADED_TEST(
    CopilotVotes, ACompatibleProposalIsFastAccepted, "5a", 1,
    "A replica fast-accepts a proposal whose dependency is compatible, and answers the same "
    "when the proposal comes again.") {
  Stage stage(511);
  const auto first = stage.Ask(ProposalOfP(1, 0));
  EXPECT_TRUE(first.recorded);
  EXPECT_EQ(first.dependency, 0U);
  const auto second = stage.Ask(ProposalOfQ(1, 1));
  EXPECT_TRUE(second.recorded);
  EXPECT_EQ(second.dependency, 1U) << "Q.1 depends on P.1, which is compatible";
  const auto again = stage.Ask(ProposalOfP(1, 0));
  EXPECT_TRUE(again.recorded) << "the same proposal, once more";
  EXPECT_EQ(again.dependency, 0U) << Unsafe(Safety::kOneValue);
}

GRADED_TEST(
    CopilotVotes, AConflictingProposalGetsASuggestion, "5a", 1,
    "A replica that has recorded a conflicting entry suggests that entry as the dependency, "
    "and keeps to its suggestion.") {
  Stage stage(512);
  EXPECT_TRUE(stage.Ask(ProposalOfQ(1, 0)).recorded);
  const auto reply = stage.Ask(ProposalOfP(1, 0));
  EXPECT_TRUE(reply.recorded) << "a suggestion is a vote of the slow path";
  EXPECT_EQ(reply.dependency, 1U) << Unsafe(Safety::kEqualStates)
                                  << "Q.1 is recorded with dependency 0, so P.1 comes after it";
  EXPECT_EQ(stage.Ask(ProposalOfP(1, 0)).dependency, 1U)
      << Unsafe(Safety::kEqualStates) << "the same proposal, once more";
  const auto next = stage.Ask(ProposalOfP(2, 1));
  EXPECT_EQ(next.dependency, 1U) << "P.2 is proposed after Q.1";
}

GRADED_TEST(CopilotVotes, AProposalAfterAPromiseIsRefused, "5b", 1,
            "A replica refuses a proposal that it has promised to a taker.") {
  Stage stage(514);
  EXPECT_TRUE(stage.Ask(ProposalOfP(1, 0)).recorded);
  ASSERT_TRUE(stage.Ask(PrepareOfP(2, Taker(3))).promised);
  EXPECT_FALSE(stage.Ask(ProposalOfP(2, 0)).recorded)
      << Unsafe(Safety::kOneValue) << "P.2 is promised at a higher ballot";
  EXPECT_TRUE(stage.Ask(ProposalOfP(3, 0)).recorded) << "P.3 is not promised";
}

GRADED_TEST(
    CopilotVotes, AnAcceptIsRecorded, "5b", 1,
    "A replica that accepts a value, a no-op too, tells a taker of that value, its ballot, its "
    "dependency and its commands.") {
  Stage stage(516);
  EXPECT_TRUE(stage.Ask(ProposalOfP(1, 0)).recorded);
  ASSERT_TRUE(stage.Ask(AcceptOfP(1, 4, FirstBallot(kPilots))).accepted);
  const auto told = stage.Ask(PrepareOfP(1, Taker(3)));
  ASSERT_TRUE(told.promised);
  EXPECT_EQ(told.record.kind, Kind::kAccepted) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.record.ballot, FirstBallot(kPilots)) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.record.dependency, 4U) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.record.initial, 0U)
      << Unsafe(Safety::kOneValue) << "it was proposed with dependency 0";
  EXPECT_FALSE(told.record.no_op) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.commands, CommandNumber(101)) << Unsafe(Safety::kOneValue);
  ASSERT_TRUE(stage.Ask(Accept{Lane::kPilot, Taker(2), 2, true, 0, 0, 0, {}}).accepted);
  EXPECT_TRUE(stage.Ask(PrepareOfP(2, Taker(3))).record.no_op)
      << Unsafe(Safety::kOneValue) << "P.2 was accepted as a no-op";
}

GRADED_TEST(CopilotVotes, AnAcceptBelowAPromiseIsRefused, "5b", 1,
            "A replica refuses a value at a lower ballot than it has promised, and names its "
            "promise.") {
  Stage stage(517);
  ASSERT_TRUE(stage.Ask(PrepareOfP(1, Taker(4))).promised);
  const auto low = stage.Ask(AcceptOfP(1, 0, Taker(2)));
  EXPECT_FALSE(low.accepted) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(low.promised, Taker(4));
  EXPECT_TRUE(stage.Ask(AcceptOfP(1, 0, Taker(4))).accepted) << "at the promised ballot";
  EXPECT_FALSE(stage.Ask(AcceptOfP(1, 1, Taker(2))).accepted)
      << Unsafe(Safety::kOneValue) << "below an accepted ballot";
}

GRADED_TEST(CopilotVotes, ADecidedEntryAcceptsNothing, "5b", 1,
            "A replica that knows what is decided for an entry accepts no other value.") {
  Stage stage(518);
  EXPECT_TRUE(stage.Ask(ProposalOfP(1, 0)).recorded);
  ASSERT_TRUE(stage.Ask(Commit{Lane::kPilot, 1, false, 0, kPilots}).known);
  EXPECT_FALSE(stage.Ask(AcceptOfP(1, 3, Taker(7))).accepted) << Unsafe(Safety::kOneValue);
  const auto told = stage.Ask(PrepareOfP(1, Taker(9)));
  EXPECT_EQ(told.record.kind, Kind::kCommitted) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.record.dependency, 0U) << Unsafe(Safety::kOneValue);
}

GRADED_TEST(CopilotVotes, AnAcceptedValueIsNotForgotten, "5b", 1,
            "A replica that starts again knows the values that it has accepted.") {
  Stage stage(522);
  ASSERT_TRUE(stage.Ask(AcceptOfP(1, 4, Taker(2))).accepted);
  stage.RestartFollower();
  const auto told = stage.Ask(PrepareOfP(1, Taker(3)));
  EXPECT_EQ(told.record.kind, Kind::kAccepted) << Unsafe(Safety::kDurablePromise);
  EXPECT_EQ(told.record.ballot, Taker(2)) << Unsafe(Safety::kDurablePromise);
  EXPECT_EQ(told.record.dependency, 4U) << Unsafe(Safety::kDurablePromise);
  EXPECT_EQ(told.commands, CommandNumber(101)) << Unsafe(Safety::kDurablePromise);
}

GRADED_TEST(CopilotVotes, APromiseTellsWhatIsRecorded, "5d", 1,
            "A replica that promises an entry tells what it has recorded of it, and its rivals.") {
  Stage stage(519);
  EXPECT_TRUE(stage.Ask(ProposalOfQ(1, 0)).recorded);
  EXPECT_TRUE(stage.Ask(ProposalOfP(1, 0)).recorded);
  const auto told = stage.Ask(PrepareOfP(1, Taker(3)));
  ASSERT_TRUE(told.promised);
  EXPECT_EQ(told.ballot, Taker(3));
  EXPECT_EQ(told.record.kind, Kind::kSuggested) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.record.initial, 0U) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.record.dependency, 1U) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.record.promised, FirstBallot(kPilots)) << "the record is that before the promise";
  EXPECT_EQ(told.commands, CommandNumber(101)) << Unsafe(Safety::kOneValue);
  EXPECT_FALSE(told.decides) << Unsafe(Safety::kOneValue)
                             << "this replica did not propose the entry";
  const std::vector<Rival> rivals = {{1, kCopilots, Rival::Stage::kProposed}};
  EXPECT_EQ(told.rivals, rivals) << Unsafe(Safety::kOneValue)
                                 << "Q.1 was proposed to depend on nothing";
}

}  // namespace
}  // namespace depfast::copilot
