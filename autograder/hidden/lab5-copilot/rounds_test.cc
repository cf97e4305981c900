// Hidden tests: a pilot's rounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "copilot_world.h"
#include "frame_counter.h"
#include "safety.h"
#include "stage.h"
#include "testkit/client.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

GRADED_TEST(CopilotRounds, TheFastPathIsUsual, "5a", 1,
            "Under load, with and without a slow follower, nearly all entries are decided on the "
            "fast path.") {
  for (const bool slow : {false, true}) {
    CopilotWorld world({.replicas = 3, .seed = 532, .profile = sim::Profile::TeachingLowJitter()});
    ASSERT_TRUE(world.WaitForPilots());
    if (slow) world.cluster.Begin(faults::NetSlow({2}, 40ms));
    world.SubmitEvery(700us, 1000);
    const auto& coverage = world.checker.coverage();
    EXPECT_GT(coverage.fast, 100U);
    EXPECT_GT(coverage.fast, 10 * coverage.accepted) << (slow ? "a follower is slow" : "no fault");
    EXPECT_TRUE(world.AllInvariantsHold());
  }
}

GRADED_TEST(
    CopilotRounds, TheSlowPathBeginsEarly, "5b", 1,
    "A pilot leaves the fast path once a fast quorum is impossible or late, and not after a "
    "long wait: a dead replica does not delay the slow path.") {
  CopilotWorld world({.replicas = 7, .seed = 534});
  ASSERT_TRUE(world.WaitForPilots());
  ASSERT_TRUE(world.Commit(20)) << "nothing is committed without a fault";
  for (const PeerId dead : {4, 5, 6}) world.cluster.Crash(dead);
  EXPECT_LT(world.SlowestOf(50), 50ms);
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(CopilotRounds, NothingIsLostWhenAllCrash, "5b", 1,
            "After a crash of all replicas every acknowledged command is there.") {
  CopilotWorld world({.replicas = 3, .seed = 535});
  ASSERT_TRUE(world.WaitForPilots());
  ASSERT_TRUE(world.Commit(50)) << "nothing is committed without a fault";
  for (PeerId id = 0; id < 3; ++id) world.cluster.Crash(id);
  for (PeerId id = 0; id < 3; ++id) world.cluster.Restart(id);
  ASSERT_TRUE(world.Commit(20, 10s)) << "nothing is committed after the restart";
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_GE(world.log().CommittedUpTo(), 70U) << Unsafe(Safety::kAcknowledgedIsKept);
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(CopilotRounds, ASlowFollowerGetsNoBacklog, "5b", 1,
            "What a slow follower does not take is released: no pilot holds much for it.") {
  CopilotWorld world({.replicas = 3, .seed = 536});
  ASSERT_TRUE(world.WaitForPilots());
  ASSERT_TRUE(world.Commit(20)) << "nothing is committed without a fault";
  world.cluster.Begin(faults::CpuSlow({2}, 5));
  EXPECT_TRUE(world.CommitLarge(200, 16 << 10));
  for (const PeerId pilot : {0, 1}) {
    EXPECT_LT(world.cluster.simulator().PeakHeldBytes(pilot), std::size_t{512} << 10)
        << "in the memory of replica " << pilot;
  }
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The pilots' proposals cross, and the third replica is dead: the pilot's entry takes the slow
// path, which needs its own acceptance.
GRADED_TEST(CopilotRounds, AnOwnAcceptIsDurable, "5b", 1,
            "A proposer's own acceptance on the slow path counts once it is on its disk.") {
  CopilotWorld world({.replicas = 3, .seed = 542});
  ASSERT_TRUE(world.WaitForPilots());
  ASSERT_TRUE(world.Commit(20)) << "nothing is committed without a fault";
  world.cluster.RunFor(200ms);
  world.cluster.Crash(2);
  SentRequests<Accept> accepts(world.cluster);
  SentRequests<Commit> commits(world.cluster);
  world.cluster.Begin(faults::LinkSlow({0}, {1}, 20ms));
  world.cluster.Begin(faults::LinkSlow({1}, {0}, 20ms));
  world.cluster.Begin(faults::FsDelay({0}, 100ms));
  testkit::Client client(world.cluster.simulator());
  SubmitTo(client, 0, 1);
  SubmitTo(client, 1, 2);
  const auto of_pilot = [](const auto& sent) {
    return sent.from == 0 && sent.request.lane == Lane::kPilot;
  };
  world.cluster.RunUntil([&] { return std::ranges::any_of(commits.all(), of_pilot); }, 2s);
  const auto accept = std::ranges::find_if(accepts.all(), of_pilot);
  const auto commit = std::ranges::find_if(commits.all(), of_pilot);
  ASSERT_TRUE(accept != accepts.all().end() && commit != commits.all().end())
      << "the entry is not decided on the slow path";
  EXPECT_GE(commit->when - accept->when, 100ms)
      << Unsafe(Safety::kDurablePromise) << "its acceptance is not on its disk yet";
}

// The follower has promised the entry to a taker, and refuses. Its answer comes first. The copilot
// suggests a dependency.
GRADED_TEST(CopilotRounds, ARefusalSuggestsNothing, "5b", 1,
            "The reply of a replica that refuses a proposal is no suggestion, and no vote for the "
            "slow path.") {
  Stage stage(543);
  SentRequests<Accept> accepts(stage.cluster);
  EXPECT_TRUE(stage.Ask(ProposalOfQ(1, 0), 1).recorded);
  EXPECT_TRUE(
      stage.Ask(Prepare{Lane::kPilot, FirstBallot(kPilots) + 4, 1, true, 0}, kFollower).promised);
  stage.cluster.Heal();
  stage.cluster.Begin(faults::FsDelay({1}, 5ms));
  SubmitTo(stage.client(), 0, 1);
  stage.cluster.RunUntil([&] { return !accepts.all().empty(); }, 500ms);
  ASSERT_FALSE(accepts.all().empty()) << "no slow path";
  const Accept& first = accepts.all().front().request;
  EXPECT_EQ(first.index, 1U);
  EXPECT_EQ(first.dependency, 1U) << Unsafe(Safety::kEqualStates)
                                  << "0 is the dependency of a refusal, not a suggestion";
}

// The follower knows that P.1 is decided as a no-op, and refuses. The copilot hears nobody.
GRADED_TEST(CopilotRounds, ARefusalIsNoFastAccept, "5a", 1,
            "The reply of a replica that refuses a proposal is no fast-accept, whatever dependency "
            "it names.") {
  Stage stage(544);
  const SentRequests<FastAccept> proposals(stage.cluster);
  const SentRequests<Commit> commits(stage.cluster);
  EXPECT_TRUE(stage.Ask(Commit{Lane::kPilot, 1, true, 0, 0}).known);
  stage.cluster.Heal();
  stage.cluster.Partition({1});
  SubmitTo(stage.client(), 0, 1);
  stage.cluster.RunFor(3s);
  EXPECT_FALSE(proposals.all().empty()) << "the pilot does not propose the command";
  EXPECT_FALSE(std::ranges::any_of(commits.all(),
                                   [](const auto& sent) {
                                     return sent.from == 0 && sent.request.index == 1 &&
                                            !sent.request.no_op;
                                   }))
      << Unsafe(Safety::kOneValue)
      << "P.1 has its proposer's own fast-accept alone, and is a no-op";
}

// The others suggest Q.1 and Q.2 for P.2. The proposer's own record says 0, and is not on its disk
// yet.
void AnOwnDependencyIsDurable() {
  Stage stage(545);
  const SentRequests<Commit> commits(stage.cluster);
  const SentRequests<Accept> accepts(stage.cluster);
  stage.cluster.Heal();
  SubmitTo(stage.client(), 0, 1);
  ASSERT_TRUE(stage.cluster.RunUntil([&] { return !commits.all().empty(); }, 500ms))
      << "P.1 is not decided";
  EXPECT_TRUE(stage.Ask(ProposalOfQ(1, 0), 1).recorded);
  for (const EntryIndex index : {EntryIndex{1}, EntryIndex{2}}) {
    EXPECT_TRUE(stage.Ask(ProposalOfQ(index, 0), kFollower).recorded);
  }
  stage.cluster.Begin(faults::FsDelay({0}, 200ms));
  SubmitTo(stage.client(), 0, 2);
  stage.cluster.RunUntil([&] { return !accepts.all().empty(); }, 150ms);
  ASSERT_FALSE(accepts.all().empty()) << "two of three replicas order the entry";
  EXPECT_EQ(accepts.all().front().request.dependency, 2U)
      << Unsafe(Safety::kDurablePromise)
      << "the second smallest of 1 and 2: the dependency on the own disk is none yet";
}

GRADED_TEST(CopilotRounds, AnOwnVoteIsDurable, "5b", 1,
            "A proposer's own vote for its proposal, and its dependency, count once they are on "
            "its disk.") {
  ASSERT_NO_FATAL_FAILURE(AnOwnDependencyIsDurable());
  CopilotWorld world({.replicas = 3, .seed = 537});
  ASSERT_TRUE(world.WaitForPilots());
  ASSERT_TRUE(world.Commit(20)) << "nothing is committed without a fault";
  world.cluster.RunFor(200ms);
  world.cluster.Crash(2);
  world.cluster.Begin(faults::FsDelay({0}, 200ms));
  testkit::Client client(world.cluster.simulator());
  const auto decided = [&] {
    return world.checker.coverage().fast + world.checker.coverage().accepted;
  };
  const std::uint64_t before = decided();
  SubmitTo(client, 0, 1);
  world.cluster.RunFor(50ms);
  EXPECT_EQ(decided(), before) << Unsafe(Safety::kDurablePromise)
                               << "the pilot's disk is slow, and two of three must have the entry";
}

// Another replica becomes copilot while the votes are on their way. Its vote is not the witness's.
void TheWitnessIsThatOfTheProposal() {
  constexpr Duration kOwnDisk = 100ms;
  CopilotWorld world({.replicas = 5, .seed = 549, .profile = sim::Profile::TeachingLowJitter()});
  ASSERT_TRUE(world.WaitForPilots());
  testkit::Client client(world.cluster.simulator());
  const SentRequests<FastAccept> proposals(world.cluster);
  const SentRequests<Commit> commits(world.cluster);
  world.cluster.Crash(1);
  world.cluster.Begin(faults::LinkSlow({2, 3, 4}, {0}, 15ms));
  world.cluster.Begin(faults::FsDelay({0}, kOwnDisk));
  SubmitTo(client, 0, 1);
  ASSERT_TRUE(world.cluster.RunUntil([&] { return !proposals.all().empty(); }, 1s))
      << "the pilot does not propose the command";
  const Time proposed = world.cluster.now();
  const View of_another = kCopilots + 1;
  client.Call(0, Heartbeat{Lane::kCopilot, of_another, {}, {}}, 1s, [](const auto&) {});
  ASSERT_TRUE(world.cluster.RunUntil([&] { return !commits.all().empty(); }, 1s))
      << "three of five replicas fast-accept P.1";
  EXPECT_GE(commits.all().front().when - proposed, kOwnDisk)
      << Unsafe(Safety::kDurablePromise)
      << "the witness of the proposal is dead, and P.1 is not on the proposer's disk";
}

GRADED_TEST(
    CopilotRounds, AFastDecisionWithoutTheWitnessIsDurable, "5a", 1,
    "A fast decision without the other pilot's vote is on the proposer's disk before anybody "
    "hears of it. The other pilot is that of the proposal.") {
  ASSERT_NO_FATAL_FAILURE(TheWitnessIsThatOfTheProposal());
  for (const bool suggests : {false, true}) {
    SCOPED_TRACE(suggests ? "the other pilot suggests another dependency" : "it is dead");
    const int replicas = suggests ? 5 : 3;
    // A disk that stalls for longer than the pilot's patience leaves no fast path.
    CopilotWorld world(
        {.replicas = replicas, .seed = 538, .profile = sim::Profile::TeachingLowJitter()});
    ASSERT_TRUE(world.WaitForPilots());
    testkit::Client client(world.cluster.simulator());
    if (suggests) {
      ASSERT_TRUE(AskOne(world.cluster, client, 1, ProposalOfQ(1, 0)).recorded);
      world.cluster.Begin(faults::LinkSlow({2, 3, 4}, {0}, 1ms));  // the suggestion comes first
    } else {
      world.cluster.Crash(1);
    }
    world.cluster.RunFor(20ms);
    world.cluster.Begin(faults::FsDelay({0}, 20ms));
    SubmitTo(client, 0, 1);
    ASSERT_TRUE(world.cluster.RunUntil([&] { return world.checker.coverage().fast > 0; }, 1s))
        << "no entry commits on the fast path";
    world.cluster.Crash(0);
    world.cluster.Heal();
    for (PeerId id = 0; id < replicas; ++id) world.cluster.Partition({id});
    world.cluster.RunFor(100ms);
    const auto told = AskOne(world.cluster, client, 0,
                             Prepare{Lane::kPilot, FirstBallot(kPilots) + 999, 1, true, 0});
    EXPECT_GE(told.record.kind, Record::Kind::kAccepted)
        << Unsafe(Safety::kDurablePromise) << "a replica has told it, and forgotten it";
  }
}

// The pilot has the first command of `client`, and proposes it when its turn comes.
void LetThePilotPropose(testkit::Cluster& cluster, testkit::Client& client,
                        const SentRequests<FastAccept>& proposals) {
  SubmitTo(client, 0, 1);
  ASSERT_TRUE(cluster.RunUntil([&] { return !proposals.all().empty(); }, 1s))
      << "the pilot does not propose the command";
}

// The follower refuses P.1, and names a later view. Then the copilot fast-accepts P.1.
void ARefusalTellsOfALaterView() {
  Stage stage(547);
  const SentRequests<FastAccept> proposals(stage.cluster);
  const SentRequests<Commit> commits(stage.cluster);
  const Ballot later = FirstBallot(kPilots + 4) + 1;
  EXPECT_TRUE(stage.Ask(Prepare{Lane::kPilot, later, 9, true, 0}).promised);
  stage.cluster.Heal();
  stage.cluster.Begin(faults::LinkSlow({1}, {0}, 10ms));
  ASSERT_NO_FATAL_FAILURE(LetThePilotPropose(stage.cluster, stage.client(), proposals));
  stage.cluster.RunFor(50ms);
  EXPECT_FALSE(std::ranges::any_of(commits.all(), [](const auto& sent) { return sent.from == 0; }))
      << Unsafe(Safety::kOneValue) << "P.1 is decided by a proposer that was told of a later view";
}

GRADED_TEST(CopilotRounds, APilotThatHasLostItsLaneDecidesNothing, "5a", 1,
            "A proposer decides nothing once a later view of its lane has begun, and a message or "
            "a refusal has told it so.") {
  ASSERT_NO_FATAL_FAILURE(ARefusalTellsOfALaterView());
  CopilotWorld world({.replicas = 3, .seed = 541});
  ASSERT_TRUE(world.WaitForPilots());
  testkit::Client client(world.cluster.simulator());
  world.cluster.Begin(faults::NetSlow({0}, 15ms));
  const SentRequests<FastAccept> proposals(world.cluster);
  ASSERT_NO_FATAL_FAILURE(LetThePilotPropose(world.cluster, client, proposals));
  EXPECT_EQ(AskOne(world.cluster, client, 0, Heartbeat{Lane::kPilot, 4, {}, {}}).view, 4U);
  world.cluster.RunFor(200ms);
  EXPECT_EQ(world.checker.coverage().fast + world.checker.coverage().accepted, 0U)
      << Unsafe(Safety::kOneValue) << "P.1 is decided in a view that is over";
}

// A taker has given P.1 up, and the pilot's client still waits for the command.
void CommandsOfANoOpAreProposedAgain() {
  Stage stage(540);
  const SentRequests<FastAccept> proposals(stage.cluster);
  ASSERT_NO_FATAL_FAILURE(LetThePilotPropose(stage.cluster, stage.client(), proposals));
  EXPECT_TRUE(stage.Ask(Commit{Lane::kPilot, 1, true, 0, kPilots}, 0).known);
  stage.cluster.RunFor(200ms);
  const auto proposes_again = [](const auto& sent) {
    const auto is_ours = [](const Command& each) { return each.name == OwnCommand(1).name; };
    return sent.request.index > 1 && std::ranges::any_of(sent.request.commands, is_ours);
  };
  EXPECT_TRUE(std::ranges::any_of(proposals.all(), proposes_again))
      << "P.1 is a no-op: its command runs nowhere";
}

GRADED_TEST(CopilotRounds, APromiseEndsAProposal, "5d", 1,
            "A proposer that has promised its entry to a taker decides nothing at its own ballot. "
            "If the taker gives the entry up, its commands are proposed again.") {
  ASSERT_NO_FATAL_FAILURE(CommandsOfANoOpAreProposedAgain());
  CopilotWorld world({.replicas = 3, .seed = 539});
  ASSERT_TRUE(world.WaitForPilots());
  testkit::Client client(world.cluster.simulator());
  world.cluster.Begin(faults::NetSlow({0}, 15ms));
  const SentRequests<FastAccept> proposals(world.cluster);
  ASSERT_NO_FATAL_FAILURE(LetThePilotPropose(world.cluster, client, proposals));
  const auto told =
      AskOne(world.cluster, client, 0, Prepare{Lane::kPilot, FirstBallot(kPilots) + 4, 1, true, 0});
  EXPECT_TRUE(told.promised);
  EXPECT_EQ(told.record.kind, Record::Kind::kFastAccepted);
  world.cluster.RunFor(1s);
  EXPECT_EQ(world.checker.coverage().fast, 0U)
      << Unsafe(Safety::kOneValue) << "P.1 is decided on the fast path";
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::copilot
