// Hidden tests: takeovers in a cluster.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "copilot_world.h"
#include "frame_counter.h"
#include "safety.h"
#include "stage.h"
#include "testkit/client.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

GRADED_TEST(CopilotTakeover, WhoeverIsSlowDelaysNobody, "5d", 1,
            "One slow replica of three or five, a pilot or not, slightly or very slow, delays no "
            "command by more than a takeover.") {
  for (const int replicas : {3, 5}) {
    for (PeerId slow = 0; slow < 3; ++slow) {
      for (const Duration delay : {1ms, 10ms, 40ms, 400ms}) {
        SCOPED_TRACE(std::to_string(replicas) + " replicas, slow: " + std::to_string(slow) +
                     " by " + std::to_string(delay / 1ms) + " ms");
        CopilotWorld world({.replicas = replicas, .seed = 551});
        ASSERT_TRUE(world.WaitForPilots());
        ASSERT_TRUE(world.Commit(20)) << "nothing is committed without a fault";
        world.cluster.Begin(faults::NetSlow({slow}, delay));
        EXPECT_LT(world.SlowestOf(50), 50ms);
        world.cluster.Heal();
        EXPECT_TRUE(world.WaitForAllApplied());
        EXPECT_TRUE(world.AllInvariantsHold());
      }
    }
  }
}

// Another replica asks the taker for a promise while it waits for the follower's.
void ATakerThatHasPromisedMoreGivesUp() {
  Stage stage(560);
  SentRequests<Prepare> prepares(stage.cluster);
  SentRequests<Accept> accepts(stage.cluster);
  for (const PeerId id : {PeerId{1}, kFollower}) {
    EXPECT_TRUE(stage.Ask(ProposalOfP(1, 0), id).recorded);
  }
  stage.ConnectWithoutThePilot();
  stage.cluster.Begin(faults::LinkSlow({kFollower}, {1}, 20ms));
  SubmitTo(stage.client(), 1, 1);
  ASSERT_TRUE(stage.cluster.RunUntil([&] { return !prepares.all().empty(); }, 1s))
      << "replica 1 does not begin to take P.1 over";
  const Ballot ballot = prepares.all().front().request.ballot;
  EXPECT_TRUE(stage.Ask(Prepare{Lane::kPilot, ballot + 1000, 1, false, 0}, 1).promised);
  stage.cluster.RunFor(500ms);
  EXPECT_FALSE(accepts.all().empty()) << "P.1 is not taken over";
  for (const auto& [from, to, when, accept] : accepts.all()) {
    EXPECT_TRUE(accept.lane != Lane::kPilot || accept.ballot > ballot + 1000)
        << Unsafe(Safety::kOneValue) << "it has promised not to accept at ballot " << accept.ballot;
  }
}

struct Takeover {
  Duration took;  // from the first Prepare to the first Accept
  bool is_no_op;
};

// A takeover of the pilot's lane; nothing if there is none within 2 s.
std::optional<Takeover> AwaitTakeoverOfP(Stage& stage, const SentRequests<Prepare>& prepares,
                                         const SentRequests<Accept>& accepts) {
  const auto of_p = [](const auto& sent) { return sent.request.lane == Lane::kPilot; };
  stage.cluster.RunUntil([&] { return std::ranges::any_of(accepts.all(), of_p); }, 2s);
  const auto prepare = std::ranges::find_if(prepares.all(), of_p);
  const auto accept = std::ranges::find_if(accepts.all(), of_p);
  if (prepare == prepares.all().end() || accept == accepts.all().end()) return std::nullopt;
  return Takeover{accept->when - prepare->when, accept->request.no_op};
}

// The follower promises at once, and the taker's disk is slow.
void AnOwnPromiseIsDurable() {
  Stage stage(564);
  SentRequests<Prepare> prepares(stage.cluster);
  SentRequests<Accept> accepts(stage.cluster);
  for (const PeerId id : {PeerId{1}, kFollower}) {
    EXPECT_TRUE(stage.Ask(ProposalOfP(1, 0), id).recorded);
  }
  stage.ConnectWithoutThePilot();
  stage.cluster.Begin(faults::FsDelay({1}, 100ms));
  SubmitTo(stage.client(), 1, 1);
  const auto takeover = AwaitTakeoverOfP(stage, prepares, accepts);
  ASSERT_TRUE(takeover) << "P.1 is not taken over";
  EXPECT_GE(takeover->took, 100ms)
      << Unsafe(Safety::kDurablePromise) << "its own promise is not on its disk yet";
}

// All followers suggest Q.1 for P.1, and promise at once. The taker alone has accepted that, and
// its disk is slow: without its own answer no fast quorum is possible.
void AnOwnAnswerIsDurable() {
  constexpr Duration kOwnDisk = 100ms;
  Stage stage(571, 5);
  const SentRequests<Prepare> prepares(stage.cluster);
  const SentRequests<Accept> accepts(stage.cluster);
  const SentRequests<Commit> commits(stage.cluster);
  stage.ConnectWithoutThePilot();
  SubmitTo(stage.client(), 1, 1);
  ASSERT_TRUE(stage.cluster.RunUntil([&] { return !commits.all().empty(); }, 1s))
      << "Q.1 is not decided";
  for (const PeerId id : {2, 3, 4}) EXPECT_EQ(stage.Ask(ProposalOfP(1, 0), id).dependency, 1U);
  EXPECT_TRUE(stage.Ask(AcceptOfP(1, 1, FirstBallot(kPilots)), 1).accepted);
  stage.cluster.Begin(faults::FsDelay({1}, kOwnDisk));
  SubmitTo(stage.client(), 1, 2);
  const auto takeover = AwaitTakeoverOfP(stage, prepares, accepts);
  ASSERT_TRUE(takeover) << "P.1 is not taken over";
  EXPECT_TRUE(takeover->is_no_op || takeover->took >= kOwnDisk)
      << Unsafe(Safety::kDurablePromise)
      << "its own answer counts, and its promise is not on its disk yet";
}

// The follower has run many large entries, and has thrown away P.1. The copilot has not heard that
// P.1 is decided.
void WhatIsGoneIsLearned() {
  constexpr EntryIndex kLast = 24;
  constexpr std::size_t kBytes = std::size_t{512} << 10;
  Stage stage(567);
  const auto large = [](EntryIndex index) {
    FastAccept proposal = ProposalOfP(index, 0);
    proposal.commands.front().text.resize(kBytes);
    return proposal;
  };
  for (EntryIndex index = 1; index <= kLast; ++index) {
    EXPECT_TRUE(stage.Ask(large(index)).recorded);
    EXPECT_TRUE(stage.Ask(Commit{Lane::kPilot, index, false, 0, kPilots}).known);
  }
  EXPECT_TRUE(stage.Ask(large(1), 1).recorded);
  const auto told = stage.Ask(Prepare{Lane::kPilot, FirstBallot(kPilots) + 4, 1, true, 0});
  ASSERT_TRUE(told.is_gone) << "it has thrown P.1 away";
  const SentRequests<Learn> questions(stage.cluster);
  stage.ConnectWithoutThePilot();
  SubmitTo(stage.client(), 1, 1);
  EXPECT_TRUE(stage.cluster.RunUntil([&] { return !questions.all().empty(); }, 500ms))
      << "a taker hears that P.1 is decided, and does not ask for the decision";
}

// The pilot's Accept meets a follower that has promised much meanwhile. The copilot is cut off.
void ARefusedAcceptMakesTheNextBallotHigh() {
  constexpr Ballot kHigh = FirstBallot(kPilots) + 3000;
  Stage stage(569);
  const SentRequests<Accept> accepts(stage.cluster);
  const SentRequests<Prepare> prepares(stage.cluster);
  EXPECT_TRUE(stage.Ask(ProposalOfQ(1, 0)).recorded);
  stage.cluster.Heal();
  stage.cluster.Partition({1});
  stage.cluster.Begin(faults::LinkSlow({0}, {kFollower}, 30ms));
  SubmitTo(stage.client(), 0, 1);
  ASSERT_TRUE(stage.cluster.RunUntil([&] { return !accepts.all().empty(); }, 500ms))
      << "the follower suggests Q.1, and there is no slow path";
  EXPECT_TRUE(stage.Ask(Prepare{Lane::kPilot, kHigh, 1, true, 0}).promised);
  const auto of_pilot = [&] {
    return std::ranges::find_if(prepares.all(), [](const auto& each) {
      return each.from == 0 && each.request.lane == Lane::kPilot;
    });
  };
  ASSERT_TRUE(stage.cluster.RunUntil([&] { return of_pilot() != prepares.all().end(); }, 3s))
      << "the pilot does not take over its entry, which was refused";
  EXPECT_GT(of_pilot()->request.ballot, kHigh)
      << "the refusal of its Accept names the ballot that it must exceed";
}

// Nobody else waits for the pilot's entry: the copilot gets no command.
void AMajorityThatReturnsDecides() {
  CopilotWorld world({.replicas = 3, .seed = 560});
  ASSERT_TRUE(world.WaitForPilots());
  ASSERT_TRUE(world.Commit(20)) << "nothing is committed without a fault";
  world.cluster.RunFor(200ms);
  const std::uint64_t before = world.log().CommittedUpTo();
  world.cluster.Crash(1);
  world.cluster.Crash(2);
  testkit::Client client(world.cluster.simulator());
  SubmitTo(client, 0, 1);
  world.cluster.RunFor(1300ms);  // its round ends after a second
  world.cluster.Restart(1);
  world.cluster.Restart(2);
  EXPECT_TRUE(world.cluster.RunUntil([&] { return world.log().CommittedUpTo() > before; }, 8s))
      << "the pilot does not take over its entry, which found no majority";
}

GRADED_TEST(CopilotTakeover, AnEntryIsTakenOverOnce, "5d", 1,
            "The entries of a dead pilot, and an own one that found no majority, are taken over in "
            "a few attempts each. A taker's own promise counts once it is on its disk, and ends "
            "its takeovers at lower ballots.") {
  ASSERT_NO_FATAL_FAILURE(AnOwnPromiseIsDurable());
  ASSERT_NO_FATAL_FAILURE(AnOwnAnswerIsDurable());
  ASSERT_NO_FATAL_FAILURE(WhatIsGoneIsLearned());
  ASSERT_NO_FATAL_FAILURE(ATakerThatHasPromisedMoreGivesUp());
  ASSERT_NO_FATAL_FAILURE(ARefusedAcceptMakesTheNextBallotHigh());
  ASSERT_NO_FATAL_FAILURE(AMajorityThatReturnsDecides());
  CopilotWorld world({.replicas = 3, .seed = 553});
  FrameCounter counter(world.cluster);
  ASSERT_TRUE(world.WaitForPilots());
  ASSERT_TRUE(world.Commit(100)) << "nothing is committed without a fault";
  const std::uint64_t before = counter.requests<Prepare>();
  world.cluster.Crash(0);
  ASSERT_TRUE(world.Commit(20));
  world.cluster.RunFor(4s);
  ASSERT_TRUE(world.Commit(20));
  EXPECT_LT(counter.requests<Prepare>() - before, 200U);
  EXPECT_TRUE(world.AllInvariantsHold());
}

// P.1 and P.2 are undecided, and Q.1 depends on P.2. The stage is as in each test of the copilot's
// patience.
class Patience {
 public:
  explicit Patience(std::uint64_t seed)
      : stage_(seed), proposals_(stage_.cluster), prepares_(stage_.cluster) {}

  // The copilot hears of P.1 up to P.`last`, and has a command.
  void Begin(EntryIndex last = 2) {
    stage_.ConnectWithoutThePilot();
    for (EntryIndex index = 1; index <= last; ++index) {
      stage_.client().Call(1, ProposalOfP(index, 0), 1s, [](const auto&) {});
    }
    SubmitTo(stage_.client(), 1, 1);
    ASSERT_TRUE(stage_.cluster.RunUntil([&] { return !proposals_.all().empty(); }, 1s))
        << "replica 1 does not propose the command";
    began_ = stage_.cluster.now();
  }

  void Decide(EntryIndex index) {
    stage_.client().Call(1, Commit{Lane::kPilot, index, false, 0, kPilots}, 1s, [](const auto&) {});
  }

  // Runs until `after` from the beginning.
  void RunUntil(Duration after) { stage_.cluster.RunFor(began_ + after - stage_.cluster.now()); }

  // The time from the beginning to the entry's takeover; kForever if there is none.
  Duration TakenOver(EntryIndex index) const {
    for (const auto& [from, to, when, request] : prepares_.all()) {
      if (request.lane == Lane::kPilot && request.index == index) return when - began_;
    }
    return kForever;
  }

 private:
  Stage stage_;
  SentRequests<FastAccept> proposals_;
  SentRequests<Prepare> prepares_;
  Time began_{0};
};

// The entry before the one that is waited for is missing: the dependency itself is decided.
void AnEarlierEntryIsTakenOver() {
  Patience patience(558);
  ASSERT_NO_FATAL_FAILURE(patience.Begin());
  patience.Decide(2);
  patience.RunUntil(500ms);
  EXPECT_LT(patience.TakenOver(1), kForever) << "P.1 comes before P.2, and Q.1 waits for both";
  EXPECT_EQ(patience.TakenOver(2), kForever) << "P.2 is decided";
}

// P.1 is decided shortly before its patience is over. That of P.2 begins then.
void EachEntryHasItsPatience() {
  constexpr std::uint64_t kWorld = 559;
  Patience first(kWorld);
  ASSERT_NO_FATAL_FAILURE(first.Begin());
  first.RunUntil(500ms);
  const Duration patience = first.TakenOver(1);
  ASSERT_LT(patience, kForever) << "P.1 is not taken over";
  Patience again(kWorld);
  ASSERT_NO_FATAL_FAILURE(again.Begin());
  again.RunUntil(patience * 3 / 4);
  again.Decide(1);
  again.RunUntil(500ms);
  EXPECT_GE(again.TakenOver(2), patience * 5 / 4) << "the wait for P.1 counts for P.2";
  EXPECT_LT(again.TakenOver(2), kForever);
}

// Later entries are decided meanwhile, one by one. Each wakes the copilot up.
void AWakeUpIsNoNewPatience() {
  constexpr EntryIndex kLast = 9;
  Patience alone(565);
  ASSERT_NO_FATAL_FAILURE(alone.Begin(kLast));
  alone.RunUntil(500ms);
  const Duration patience = alone.TakenOver(1);
  ASSERT_LT(patience, kForever) << "P.1 is not taken over";
  Patience woken(565);
  ASSERT_NO_FATAL_FAILURE(woken.Begin(kLast));
  for (EntryIndex index = 2; index <= kLast; ++index) {
    woken.RunUntil(patience * static_cast<int>(index) / 4);
    woken.Decide(index);
  }
  woken.RunUntil(500ms);
  EXPECT_LT(woken.TakenOver(1), patience * 3 / 2) << "it begins anew with each decision";
}

// The follower alone has heard of P.1, and suggests it.
void AnUnknownDependencyIsTakenOver() {
  Stage stage(577);
  const SentRequests<Prepare> prepares(stage.cluster);
  EXPECT_TRUE(stage.Ask(ProposalOfP(1, 0)).recorded);
  stage.ConnectWithoutThePilot();
  SubmitTo(stage.client(), 1, 1);
  stage.cluster.RunFor(500ms);
  EXPECT_FALSE(prepares.all().empty()) << "Q.1 depends on P.1, of which the copilot has not heard";
}

GRADED_TEST(CopilotTakeover, AllThatIsLateIsTakenOver, "5d", 1,
            "The entries behind the one that a pilot waits for are late, too: they are taken over "
            "with it, and those before it, also a dependency of which it has not heard. Each has "
            "one whole patience, whatever happens then.") {
  ASSERT_NO_FATAL_FAILURE(AnUnknownDependencyIsTakenOver());
  ASSERT_NO_FATAL_FAILURE(AWakeUpIsNoNewPatience());
  ASSERT_NO_FATAL_FAILURE(AnEarlierEntryIsTakenOver());
  ASSERT_NO_FATAL_FAILURE(EachEntryHasItsPatience());
  Stage stage(557);
  SentRequests<FastAccept> proposals(stage.cluster);
  SentRequests<Prepare> prepares(stage.cluster);
  EXPECT_TRUE(stage.Ask(ProposalOfP(1, 0), 1).recorded);
  stage.ConnectWithoutThePilot();
  SubmitTo(stage.client(), 1, 1);
  ASSERT_TRUE(stage.cluster.RunUntil([&] { return !proposals.all().empty(); }, 1s))
      << "replica 1 does not propose the command";
  for (const EntryIndex index : {EntryIndex{2}, EntryIndex{3}, EntryIndex{4}}) {
    stage.client().Call(1, ProposalOfP(index, 1), 1s, [](const auto&) {});
  }
  stage.cluster.RunFor(500ms);
  std::map<EntryIndex, Time> first;
  for (const auto& [from, to, when, request] : prepares.all()) first.emplace(request.index, when);
  ASSERT_TRUE(first.contains(1)) << "P.1 is not taken over";
  EXPECT_TRUE(first.contains(4) && first[4] < first[1] + 100ms)
      << "Q.1 waits for P.1. P.4 is not taken over with it.";
}

// The network is near, then distant, then near again. In a near one a slow pilot delays commands by
// a takeover alone: so a patience is short. In a distant one nobody is late: so it is long.
GRADED_TEST(CopilotTakeover, ThePatienceFollowsTheNetwork, "5d", 1,
            "The patience before a takeover is short while the replicas are near, and long while "
            "they are distant, also if that changes.") {
  // A stall of a disk delays a command, too.
  CopilotWorld world({.replicas = 3, .seed = 562, .profile = sim::Profile::TeachingLowJitter()});
  FrameCounter counter(world.cluster);
  ASSERT_TRUE(world.WaitForPilots());
  ASSERT_TRUE(world.Commit(20)) << "nothing is committed without a fault";
  const auto near_by = [&] {
    world.SubmitEvery(5ms, 100);
    world.cluster.Begin(faults::NetSlow({0}, 400ms));
    EXPECT_LT(world.SlowestOf(500), 25ms) << "replica 0 is slow, and the others are near";
    world.cluster.Heal();
    world.cluster.RunFor(2s);
  };
  near_by();
  world.cluster.Begin(faults::NetSlow({0, 1, 2}, 25ms));
  const std::uint64_t before = counter.requests<Prepare>();
  world.SubmitEvery(20ms, 100);
  world.SubmitEvery(20ms, 200);
  EXPECT_LT(counter.requests<Prepare>() - before, 5U)
      << "Prepares for 300 commands, while all are distant and none is slow";
  world.cluster.Heal();
  world.cluster.RunFor(2s);
  near_by();
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The time from the copilot's decision of an entry to its takeover of the pilot's entry before
// that. The pilot is slow to hear, and all else is as `always` says for a while before.
Duration PatienceUnder(int replicas, const faults::FaultPlan& always) {
  CopilotWorld world(
      {.replicas = replicas, .seed = 563, .profile = sim::Profile::TeachingLowJitter()});
  EXPECT_TRUE(world.WaitForPilots());
  for (const faults::Fault& fault : always) world.cluster.Begin(fault);
  world.SubmitEvery(100ms, 60);
  world.cluster.RunFor(500ms);
  const SentRequests<Commit> commits(world.cluster);
  const SentRequests<Prepare> prepares(world.cluster);
  const auto first = [](const auto& sent, Lane lane) {
    const auto found = std::ranges::find_if(
        sent.all(), [&](const auto& each) { return each.from == 1 && each.request.lane == lane; });
    return found == sent.all().end() ? kForever : found->when;
  };
  testkit::Client client(world.cluster.simulator());
  std::vector<PeerId> others;
  for (PeerId id = 1; id < replicas; ++id) others.push_back(id);
  world.cluster.Begin(faults::CutFault(others, {0}));
  SubmitTo(client, 0, 1);
  world.cluster.RunFor(100ms);
  SubmitTo(client, 1, 2);
  world.cluster.RunFor(1s);
  EXPECT_LT(first(commits, Lane::kCopilot), kForever) << "a majority hears the copilot";
  EXPECT_LT(first(prepares, Lane::kPilot), kForever) << "the pilot's entry is not taken over";
  return first(prepares, Lane::kPilot) - first(commits, Lane::kCopilot);
}

// The copilot and three others of seven are a majority, and a fast quorum is late. So each of its
// entries takes the slow path, which begins after the answers of the majority.
void TheSlowPathIsNoPartOfARound() {
  const auto dead = faults::CrashFault({6});
  const auto slow = faults::LinkSlow({0, 5}, {1}, 60ms);
  EXPECT_LT(PatienceUnder(7, {dead, slow}), 9ms) << "a majority is near";
  const Duration distant = PatienceUnder(7, {dead, slow, faults::NetSlow({1, 2, 3, 4}, 20ms)});
  EXPECT_GT(distant, 70ms) << "a majority takes 40 ms";
  EXPECT_LT(distant, 100ms) << "a majority takes 40 ms";
}

GRADED_TEST(CopilotTakeover, ThePatienceIsThatOfAMajority, "5d", 1,
            "The patience before a takeover is twice the time of a majority's answers, their disks "
            "included. It is that of no replica alone, and of no slow path.") {
  ASSERT_NO_FATAL_FAILURE(TheSlowPathIsNoPartOfARound());
  EXPECT_LT(PatienceUnder(5, {}), 30ms) << "all are near";
  EXPECT_LT(PatienceUnder(5, {faults::NetSlow({2}, 40ms)}), 30ms) << "a majority is near";
  EXPECT_LT(PatienceUnder(5, {faults::FsDelay({1}, 40ms)}), 30ms) << "the others' disks are fast";
  const Duration distant = PatienceUnder(5, {faults::NetSlow({0, 1, 2, 3, 4}, 20ms)});
  EXPECT_GT(distant, 70ms) << "all are distant, and a majority takes 40 ms";
  EXPECT_LT(distant, 100ms) << "all are distant, and a majority takes 40 ms";
  EXPECT_GT(PatienceUnder(5, {faults::FsDelay({0, 1, 2, 3, 4}, 40ms)}), 150ms)
      << "all disks are slow, and write the pilot's entry before the copilot's";
}

GRADED_TEST(
    CopilotTakeover, APilotKnowsWhatItDecided, "5d", 1,
    "A proposer tells a taker that it knows its decision, also after it has lost the lane, and "
    "not after it has started again.") {
  CopilotWorld world({.replicas = 3, .seed = 556});
  ASSERT_TRUE(world.WaitForPilots());
  testkit::Client client(world.cluster.simulator());
  for (PeerId id = 0; id < 3; ++id) world.cluster.Partition({id});
  SubmitTo(client, 0, 1);
  world.cluster.RunFor(30ms);
  const auto ask = [&](Ballot ballot) {
    return AskOne(world.cluster, client, 0, Prepare{Lane::kPilot, ballot, 1, true, 0});
  };
  EXPECT_TRUE(ask(FirstBallot(kPilots) + 300'000).decides);
  const auto later = ask(FirstBallot(kPilots + 4) + 3);
  EXPECT_TRUE(later.promised && later.decides) << "it had the lane in that view";
  world.cluster.Crash(0);
  world.cluster.Restart(0);
  world.cluster.RunFor(100ms);
  const auto again = ask(FirstBallot(kPilots + 4) + 600'000);
  EXPECT_TRUE(again.promised);
  EXPECT_FALSE(again.decides) << Unsafe(Safety::kOneValue) << "it may have forgotten a decision";
  const Prepare of_the_next{Lane::kPilot, FirstBallot(kPilots + 4) + 600'000, 2, true, 0};
  const Record forgotten = AskOne(world.cluster, client, 0, of_the_next).record;
  EXPECT_TRUE(IsTakeover(forgotten.promised))
      << Unsafe(Safety::kOneValue)
      << "it may have proposed P.2 and forgotten it: it says that it never voted for P.2";
}

}  // namespace
}  // namespace depfast::copilot
