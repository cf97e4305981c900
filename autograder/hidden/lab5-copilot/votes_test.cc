// Hidden tests: one replica's answers, message by message. The test knows the one right answer to
// each.
#include <gtest/gtest.h>

#include <algorithm>

#include "frame_counter.h"
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

GRADED_TEST(CopilotVotes, ALaterViewEndsNoRefusal, "5b", 1,
            "An entry that is proposed again in a later view conflicts as before.") {
  Stage stage(524);
  EXPECT_TRUE(stage.Ask(ProposalOfQ(1, 0)).recorded);
  EXPECT_TRUE(stage.Ask(ProposalOfQ(1, 1, kCopilots + 3)).recorded) << "a later view";
  EXPECT_EQ(stage.Ask(ProposalOfP(1, 0)).dependency, 1U)
      << Unsafe(Safety::kEqualStates) << "Q.1 was proposed to depend on nothing before";
  ASSERT_TRUE(
      stage.Ask(Prepare{Lane::kCopilot, FirstBallot(kCopilots + 3) + 3, 2, true, 0}).promised);
  EXPECT_TRUE(stage.Ask(ProposalOfQ(2, 2, kCopilots + 6)).recorded) << "a view after the promise";
  EXPECT_EQ(stage.Ask(ProposalOfP(2, 1)).dependency, 2U)
      << Unsafe(Safety::kEqualStates) << "Q.2 was promised before";
}

GRADED_TEST(CopilotVotes, AProposalOfAnOldViewIsRefused, "5a", 1,
            "A replica refuses proposals of a view that is over.") {
  Stage stage(513);
  EXPECT_TRUE(stage.Ask(ProposalOfP(1, 0)).recorded);
  const View later = kPilots + 3;
  EXPECT_TRUE(stage.Ask(ProposalOfP(2, 0, later)).recorded) << "a new view of the same pilot";
  const auto refused = stage.Ask(ProposalOfP(3, 0));
  EXPECT_FALSE(refused.recorded) << Unsafe(Safety::kOneValue)
                                 << "a proposal of the first view, which is over";
  EXPECT_EQ(refused.view, later);
}

GRADED_TEST(
    CopilotVotes, ASettledEntryIsNotProposedAgain, "5b", 1,
    "A replica refuses a proposal of an entry that it has accepted or knows to be decided. A taker "
    "may have the decided value accepted, and no other.") {
  Stage stage(515);
  ASSERT_TRUE(stage.Ask(AcceptOfP(1, 0, FirstBallot(kPilots))).accepted);
  EXPECT_FALSE(stage.Ask(ProposalOfP(1, 0)).recorded)
      << Unsafe(Safety::kOneValue) << "P.1 is accepted";
  EXPECT_TRUE(stage.Ask(ProposalOfP(2, 0)).recorded);
  ASSERT_TRUE(stage.Ask(Commit{Lane::kPilot, 2, false, 0, kPilots}).known);
  EXPECT_FALSE(stage.Ask(ProposalOfP(2, 0)).recorded)
      << Unsafe(Safety::kOneValue) << "P.2 is decided";
  const Ballot taker = Taker(3);
  EXPECT_TRUE(stage.Ask(AcceptOfP(2, 0, taker)).accepted) << "the decided value";
  EXPECT_FALSE(stage.Ask(AcceptOfP(2, 1, taker)).accepted)
      << Unsafe(Safety::kOneValue) << "another dependency";
  EXPECT_FALSE(stage.Ask(Accept{Lane::kPilot, taker, 2, true, 0, 0, 0, {}}).accepted)
      << Unsafe(Safety::kOneValue) << "a no-op";
  Accept of_another_view = AcceptOfP(2, 0, taker);
  of_another_view.origin = kPilots + 3;
  EXPECT_FALSE(stage.Ask(of_another_view).accepted)
      << Unsafe(Safety::kOneValue) << "other commands";
  ASSERT_TRUE(stage.Ask(Commit{Lane::kPilot, 3, true, 0, 0}).known);
  EXPECT_TRUE(stage.Ask(Accept{Lane::kPilot, taker, 3, true, 0, 0, 0, {}}).accepted)
      << "the decided no-op";
  EXPECT_FALSE(stage.Ask(AcceptOfP(3, 0, taker)).accepted)
      << Unsafe(Safety::kOneValue) << "commands instead of the no-op";
}

GRADED_TEST(
    CopilotVotes, AHigherPromiseIsKept, "5b", 1,
    "A replica that has promised an entry refuses takers with the same or a lower ballot.") {
  Stage stage(520);
  ASSERT_TRUE(stage.Ask(PrepareOfP(1, Taker(5))).promised);
  const auto low = stage.Ask(PrepareOfP(1, Taker(4)));
  EXPECT_FALSE(low.promised) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(low.ballot, Taker(5)) << "a refusal names the higher promise";
  EXPECT_FALSE(stage.Ask(PrepareOfP(1, Taker(5))).promised)
      << Unsafe(Safety::kOneValue) << "the same ballot, once more";
  EXPECT_TRUE(stage.Ask(PrepareOfP(1, Taker(6))).promised);
  EXPECT_TRUE(stage.Ask(PrepareOfP(2, Taker(4))).promised) << "another entry";
}

GRADED_TEST(CopilotVotes, AProposalIsNotForgotten, "5a", 1,
            "A replica that starts again knows the proposals that it has answered.") {
  Stage stage(521);
  EXPECT_TRUE(stage.Ask(ProposalOfQ(1, 0)).recorded);
  stage.RestartFollower();
  EXPECT_EQ(stage.Ask(ProposalOfP(1, 0)).dependency, 1U)
      << Unsafe(Safety::kDurablePromise) << "Q.1 is forgotten";
}

GRADED_TEST(CopilotVotes, APromiseIsNotForgotten, "5b", 1,
            "A replica that starts again keeps its promises.") {
  Stage stage(523);
  ASSERT_TRUE(stage.Ask(PrepareOfP(1, Taker(5))).promised);
  stage.RestartFollower();
  EXPECT_FALSE(stage.Ask(PrepareOfP(1, Taker(4))).promised) << Unsafe(Safety::kDurablePromise);
  EXPECT_FALSE(stage.Ask(AcceptOfP(1, 0, Taker(2))).accepted) << Unsafe(Safety::kDurablePromise);
}

GRADED_TEST(CopilotVotes, ARepeatedProposalChangesNothing, "5a", 1,
            "A proposal that comes again is answered as before, whatever came between.") {
  Stage stage(525);
  EXPECT_EQ(stage.Ask(ProposalOfP(1, 0)).dependency, 0U);
  EXPECT_EQ(stage.Ask(ProposalOfQ(1, 0)).dependency, 1U) << "P.1 comes before Q.1";
  EXPECT_EQ(stage.Ask(ProposalOfP(1, 0)).dependency, 0U)
      << Unsafe(Safety::kOneValue) << "it was fast-accepted";
  EXPECT_EQ(stage.Ask(PrepareOfP(1, Taker(3))).record.kind, Kind::kFastAccepted)
      << Unsafe(Safety::kOneValue);
}

GRADED_TEST(CopilotVotes, AnOldViewDecidesNothing, "5b", 1,
            "A replica refuses to accept or to promise in a view that is over.") {
  Stage stage(526);
  const View later = kPilots + 3;
  EXPECT_TRUE(stage.Ask(ProposalOfP(1, 0, later)).recorded);
  EXPECT_FALSE(stage.Ask(AcceptOfP(2, 0, FirstBallot(kPilots))).accepted)
      << Unsafe(Safety::kOneValue);
  const auto old = stage.Ask(PrepareOfP(2, Taker(3)));
  EXPECT_FALSE(old.promised) << Unsafe(Safety::kOneValue);
  EXPECT_GE(old.ballot, FirstBallot(later)) << "a refusal names a ballot of the later view";
}

GRADED_TEST(CopilotVotes, AProposalOfANewViewReplaces, "5b", 1,
            "A proposal of a later view replaces the one that is recorded, with its commands.") {
  Stage stage(527);
  EXPECT_TRUE(stage.Ask(ProposalOfP(1, 0)).recorded);
  FastAccept again = ProposalOfP(1, 1, kPilots + 3);
  again.commands = CommandNumber(7);
  EXPECT_EQ(stage.Ask(again).dependency, 1U);
  const auto told = stage.Ask(Prepare{Lane::kPilot, FirstBallot(kPilots + 3) + 3, 1, true, 0});
  EXPECT_EQ(told.record.ballot, FirstBallot(kPilots + 3)) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.record.initial, 1U) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.commands, CommandNumber(7)) << Unsafe(Safety::kOneValue);
}

GRADED_TEST(CopilotVotes, APromiseKeepsTheRecord, "5b", 1,
            "A promise changes nothing but the promised ballot; a no-op is told as one.") {
  Stage stage(528);
  EXPECT_TRUE(stage.Ask(ProposalOfP(1, 0)).recorded);
  ASSERT_TRUE(stage.Ask(PrepareOfP(1, Taker(3))).promised);
  const auto second = stage.Ask(PrepareOfP(1, Taker(6)));
  EXPECT_EQ(second.record.ballot, FirstBallot(kPilots))
      << Unsafe(Safety::kOneValue) << "that of the proposal";
  EXPECT_EQ(second.record.promised, Taker(3));
  EXPECT_EQ(second.record.witness, 1) << Unsafe(Safety::kOneValue) << "as proposed";
  EXPECT_TRUE(stage.Ask(Accept{Lane::kPilot, Taker(6), 1, true, 0, 0, 0, {}}).accepted);
  const auto third = stage.Ask(PrepareOfP(1, Taker(9)));
  EXPECT_TRUE(third.record.no_op) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(third.record.promised, Taker(6));
  EXPECT_EQ(third.record.witness, 1) << Unsafe(Safety::kOneValue);
}

GRADED_TEST(CopilotVotes, AnAcceptPromises, "5b", 1,
            "A replica that has accepted a value refuses lower ballots, for promises as well.") {
  Stage stage(529);
  EXPECT_TRUE(stage.Ask(AcceptOfP(1, 0, Taker(6))).accepted);
  EXPECT_FALSE(stage.Ask(PrepareOfP(1, Taker(4))).promised) << Unsafe(Safety::kOneValue);
  EXPECT_FALSE(stage.Ask(AcceptOfP(1, 2, Taker(4))).accepted) << Unsafe(Safety::kOneValue);
}

GRADED_TEST(CopilotVotes, AnAcceptReplacesTheCommands, "5b", 1,
            "A replica that accepts a value has the commands of that value.") {
  Stage stage(530);
  EXPECT_TRUE(stage.Ask(ProposalOfP(1, 0)).recorded);
  Accept other = AcceptOfP(1, 0, Taker(6));
  other.commands = CommandNumber(7);
  EXPECT_TRUE(stage.Ask(other).accepted);
  EXPECT_EQ(stage.Ask(PrepareOfP(1, Taker(9))).commands, CommandNumber(7))
      << Unsafe(Safety::kOneValue);
}

// Its heartbeats are lost, and its proposals come.
void AProposalIsASignOfLife() {
  Stage stage(532);
  SentRequests<TakeLane> takes(stage.cluster);
  for (EntryIndex index = 1; index <= 40; ++index) {
    EXPECT_TRUE(stage.Ask(ProposalOfP(index, 0)).recorded);
    stage.cluster.RunFor(100ms);
  }
  EXPECT_FALSE(std::ranges::any_of(takes.all(), [](const auto& sent) {
    return sent.from == kFollower && sent.request.lane == Lane::kPilot;
  })) << "the follower asks for the lane of a pilot that has just proposed";
}

GRADED_TEST(CopilotVotes, AnAcceptIsNoSignOfLife, "5b", 1,
            "A taker's Accepts do not make a dead pilot look alive: it is replaced. One that "
            "proposes is not.") {
  AProposalIsASignOfLife();
  Stage stage(531);
  SentRequests<TakeLane> takes(stage.cluster);
  stage.ConnectWithoutThePilot();
  for (Ballot number = 3; number < 60; number += 3) {
    stage.Ask(AcceptOfP(1, 0, Taker(number)));
    stage.cluster.RunFor(200ms);
  }
  EXPECT_TRUE(std::ranges::any_of(takes.all(), [](const auto& sent) {
    return sent.request.lane == Lane::kPilot && !sent.request.pre_vote;
  })) << "nobody has asked for the lane in 4 s";
}

}  // namespace
}  // namespace depfast::copilot
