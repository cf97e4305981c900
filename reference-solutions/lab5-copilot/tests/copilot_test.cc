// The reference of lab 5 in the simulator, with a log on disks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "copilot_chaos.h"
#include "copilot_world.h"
#include "frame_counter.h"
#include "stage.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

constexpr Ballot kPromised = 1000;  // to a taker

constexpr Prepare kTaken{Lane::kPilot, kPromised, 1, false, 0};

// Ping-pong batching keeps the dependencies compatible.
TEST(Copilot, TheFastPathIsUsual) {
  for (const bool slow : {false, true}) {
    CopilotWorld world({.replicas = 3, .seed = 2, .profile = sim::Profile::TeachingLowJitter()});
    ASSERT_TRUE(world.Commit(20));
    if (slow) world.cluster.Begin(faults::NetSlow({2}, 40ms));
    world.SubmitEvery(700us, 2000);
    const auto& coverage = world.checker.coverage();
    EXPECT_GT(coverage.fast, 20 * coverage.accepted) << coverage.fast << " " << coverage.accepted;
    world.cluster.Heal();
    EXPECT_TRUE(world.WaitForAllApplied());
    EXPECT_TRUE(world.AllInvariantsHold());
  }
}

// One replica is slow, whichever it is: commands wait for it no longer than for a takeover.
TEST(Copilot, WhoeverIsSlowDelaysNobody) {
  for (const int replicas : {3, 5}) {
    for (PeerId slow = 0; slow < 3; ++slow) {
      for (const Duration delay : {1ms, 40ms, 400ms}) {
        SCOPED_TRACE(std::to_string(replicas) + " replicas, slow: " + std::to_string(slow) +
                     " by " + std::to_string(delay / 1ms) + " ms");
        CopilotWorld world({.replicas = replicas, .seed = 2});
        ASSERT_TRUE(world.Commit(20));
        world.cluster.Begin(faults::NetSlow({slow}, delay));
        EXPECT_LT(world.SlowestOf(50), 25ms);
        world.cluster.Heal();
        EXPECT_TRUE(world.WaitForAllApplied());
        EXPECT_TRUE(world.AllInvariantsHold());
      }
    }
  }
}

// The follower has promised more to another taker, and the pilot never answers. A majority of
// promises is possible, but waits for a silent replica.
TEST(Copilot, ARefusedTakerAsksAgainAtOnce) {
  Stage stage(7);
  SentRequests<Prepare> prepares(stage.cluster);
  for (const PeerId id : {PeerId{1}, kFollower}) {
    ASSERT_TRUE(stage.Ask(ProposalOfP(1, 0), id).recorded);
  }
  ASSERT_TRUE(stage.Ask(kTaken).promised);
  stage.ConnectWithoutThePilot();
  SubmitTo(stage.client(), 1, 1);
  const auto asks_above = [&](Ballot ballot) {
    return std::ranges::any_of(prepares.all(), [ballot](const auto& sent) {
      return sent.from == 1 && sent.request.ballot > ballot;
    });
  };
  ASSERT_TRUE(stage.cluster.RunUntil([&] { return asks_above(0); }, 1s));
  EXPECT_FALSE(asks_above(kPromised));
  EXPECT_TRUE(stage.cluster.RunUntil([&] { return asks_above(kPromised); }, 10ms));
}

// All have answered its proposal. But a taker, which may be the slow replica, has its promise. So
// it waits for the taker with the patience for an entry of the other lane, and not for 50 ms.
TEST(Copilot, APilotThatHasPromisedItsEntryTakesItOver) {
  Stage stage(7);
  stage.cluster.Heal();
  stage.cluster.RunFor(50ms);
  SentRequests<FastAccept> proposals(stage.cluster);
  SentRequests<Prepare> prepares(stage.cluster);
  SubmitTo(stage.client(), 0, 1);
  ASSERT_TRUE(stage.cluster.RunUntil([&] { return !proposals.all().empty(); }, 1s));
  ASSERT_TRUE(stage.Ask(kTaken, 0).promised);
  const auto is_taken_over = [&] {
    return std::ranges::any_of(prepares.all(), [](const auto& sent) {
      return sent.from == 0 && sent.request.ballot > kPromised;
    });
  };
  EXPECT_FALSE(is_taken_over()) << "at once";
  EXPECT_TRUE(stage.cluster.RunUntil(is_taken_over, 40ms));
}

// The pilot's first round: the others have its proposal, and its Accept has not left.
struct FirstRound {
  explicit FirstRound(Stage& stage)
      : proposals(stage.cluster), accepts(stage.cluster), prepares(stage.cluster) {
    stage.cluster.Begin(faults::FsDelay({0, 1, 2}, 5ms));
    SubmitTo(stage.client(), 0, 1);
    EXPECT_TRUE(stage.cluster.RunUntil([&] { return !proposals.all().empty(); }, 1s));
    stage.cluster.RunFor(3ms);
    EXPECT_TRUE(accepts.all().empty());
  }

  SentRequests<FastAccept> proposals;
  SentRequests<Accept> accepts;
  SentRequests<Prepare> prepares;
};

// The taker is heard of by refusals alone: it has asked the others between the pilot's proposal and
// its Accept.
TEST(Copilot, APilotThatIsRefusedItsEntryTakesItOver) {
  Stage stage(7);
  for (const PeerId id : {PeerId{1}, kFollower}) {  // so the slow path decides
    ASSERT_TRUE(stage.Ask(ProposalOfQ(1, 0), id).recorded);
  }
  stage.cluster.Heal();
  const FirstRound round(stage);
  for (const PeerId id : {PeerId{1}, kFollower}) {
    stage.client().Call(id, kTaken, 1s,
                        [](const auto& reply) { EXPECT_TRUE(reply && reply->promised); });
  }
  ASSERT_TRUE(stage.cluster.RunUntil([&] { return !round.accepts.all().empty(); }, 1s));
  ASSERT_TRUE(stage.cluster.RunUntil([&] { return !round.prepares.all().empty(); }, 40ms));
  EXPECT_EQ(round.prepares.all().front().from, 0);
  EXPECT_EQ(round.prepares.all().front().request.lane, Lane::kPilot);
  EXPECT_GT(round.prepares.all().front().request.ballot, kPromised);
}

// The follower refuses, and the copilot's answer would be needed. It may be the slow replica.
TEST(Copilot, ARefusedPilotWaitsForTheRestNoLongerThanForATaker) {
  Stage stage(7);
  ASSERT_TRUE(stage.Ask(ProposalOfQ(1, 0)).recorded);  // so the slow path decides
  stage.cluster.Heal();
  stage.cluster.Partition({1});
  const FirstRound round(stage);
  ASSERT_TRUE(stage.Ask(kTaken).promised);
  ASSERT_TRUE(stage.cluster.RunUntil([&] { return !round.accepts.all().empty(); }, 1s));
  ASSERT_TRUE(stage.cluster.RunUntil([&] { return !round.prepares.all().empty(); }, 45ms));
  EXPECT_GT(round.prepares.all().front().request.ballot, kPromised);
}

// Proposals of a slow pilot hold up the others. So its rounds do not end before its takeovers.
TEST(Copilot, ARoundThatIsTakenOverKeepsItsPlace) {
  constexpr EntryIndex kRoundsMax = 4;
  Stage stage(7);
  SentRequests<FastAccept> proposals(stage.cluster);
  const auto is_proposed = [&](EntryIndex index) {
    return std::ranges::any_of(proposals.all(), [index](const auto& sent) {
      return sent.from == 0 && sent.request.index == index;
    });
  };
  for (EntryIndex index = 1; index <= kRoundsMax; ++index) {
    SubmitTo(stage.client(), 0, index);
    ASSERT_TRUE(stage.cluster.RunUntil([&] { return is_proposed(index); }, 1s));
    ASSERT_TRUE(stage.Ask(Prepare{Lane::kPilot, kPromised, index, false, 0}, 0).promised);
  }
  SubmitTo(stage.client(), 0, kRoundsMax + 1);
  stage.cluster.RunFor(500ms);
  EXPECT_FALSE(is_proposed(kRoundsMax + 1)) << "no takeover can have ended";
  stage.cluster.Heal();
  EXPECT_TRUE(stage.cluster.RunUntil([&] { return is_proposed(kRoundsMax + 1); }, 1s));
}

// The syncs of one pilot take 2 ms longer. That is less than the time of two rounds: most of its
// entries are decided while the other pilot waits.
TEST(Copilot, APilotThatIsALittleLateIsRarelyTakenOver) {
  std::size_t prepares = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CopilotWorld world({.replicas = 5, .seed = seed, .profile = sim::Profile::TeachingLowJitter()});
    ASSERT_TRUE(world.WaitForPilots());
    world.SubmitEvery(700us, 200);
    world.cluster.Begin(faults::FsDelay({1}, 2ms));
    SentRequests<Prepare> sent(world.cluster);
    world.SubmitEvery(700us, 600);
    prepares += sent.all().size();
    EXPECT_TRUE(world.AllInvariantsHold());
  }
  EXPECT_LT(prepares, 130U);
}

TEST(Copilot, ADeadPilotDelaysNobody) {
  for (const int replicas : {3, 5}) {
    for (const PeerId dead : {0, 1}) {
      SCOPED_TRACE(std::to_string(replicas) + " replicas, dead: " + std::to_string(dead));
      CopilotWorld world({.replicas = replicas, .seed = 3});
      ASSERT_TRUE(world.Commit(20));
      world.cluster.Crash(dead);
      EXPECT_LT(world.SlowestOf(50), 50ms);
      world.cluster.RunFor(4s);  // another replica becomes a pilot
      EXPECT_EQ(world.log().Proposers().size(), 2U);
      EXPECT_LT(world.SlowestOf(50), 25ms);
      world.cluster.Heal();
      EXPECT_TRUE(world.WaitForAllApplied());
      EXPECT_TRUE(world.AllInvariantsHold());
    }
  }
}

// A replica that wakes from a pause deposes no healthy pilot.
TEST(Copilot, AReplicaThatWakesDeposesNobody) {
  CopilotWorld world({.replicas = 3, .seed = 5});
  ASSERT_TRUE(world.Commit(20));
  world.cluster.Partition({2});
  world.cluster.RunFor(5s);
  world.cluster.Heal();
  ASSERT_TRUE(world.Commit(20));
  world.cluster.RunFor(3s);
  EXPECT_EQ(world.checker.coverage().views, 0U);
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

// Its log was cut while it was down, and the others' logs are bounded, on disks as well.
TEST(Copilot, AReplicaThatHasMissedMuchGetsASnapshot) {
  constexpr std::size_t kLarge = std::size_t{64} << 10;
  for (const PeerId dead : {0, 2}) {
    CopilotWorld world({.replicas = 3, .seed = 7});
    ASSERT_TRUE(world.Commit(20));
    world.cluster.Crash(dead);
    world.cluster.RunFor(3s);  // a pilot's entries are decided by its successor
    ASSERT_TRUE(world.CommitLarge(160, kLarge));
    EXPECT_TRUE(world.log().HasSnapshot(1));
    EXPECT_LT(world.log().LogBytes(1), 140 * kLarge);
    world.cluster.Restart(dead);
    ASSERT_TRUE(world.WaitForAllApplied());
    EXPECT_GT(world.log().Restored(dead), 0U);
    world.cluster.Crash(1);  // it starts from its snapshot
    world.cluster.Restart(1);
    ASSERT_TRUE(world.Commit(20));
    ASSERT_TRUE(world.WaitForAllApplied());
    EXPECT_GT(world.log().Restored(1), 0U);
    EXPECT_TRUE(world.AllInvariantsHold());
  }
}

// ---- chaos ----

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Worlds COPILOT_FIRST and those after it, COPILOT_SEEDS in all, or `worlds`.
CopilotChecker::Coverage SurviveMany(std::uint64_t worlds, const ChaosLoad& load) {
  return SurviveChaos(FromEnvironment("COPILOT_FIRST", 1), FromEnvironment("COPILOT_SEEDS", worlds),
                      load);
}

TEST(CopilotChaos, SurvivesAnything) {
  const CopilotChecker::Coverage met = SurviveMany(10, {});
  EXPECT_GT(met.fast, 0U);
  EXPECT_GT(met.accepted, 0U);
  EXPECT_GT(met.by_takers, 0U);
  EXPECT_GT(met.no_ops, 0U);
  EXPECT_GT(met.views, 0U);
}

TEST(CopilotChaos, SnapshotsSurviveAnything) {
  const CopilotChecker::Coverage met = SurviveMany(4, {.commands = 2, .bytes = 32 << 10});
  EXPECT_GT(met.restored, 0U);
}

// A replica serves other replicas once it has read its journal.
TEST(Copilot, ARecordingNamesTheMethodsThatAreServedLate) {
  const std::string path = testing::TempDir() + "copilot-record";
  testkit::TheEnvironment().record = path;
  EXPECT_TRUE(CopilotWorld({.replicas = 3, .seed = 2}).Commit(1));
  testkit::TheEnvironment().record.clear();
  std::ostringstream lines;
  lines << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  for (const char* name : {FastAccept::kName, Accept::kName, Prepare::kName}) {
    EXPECT_NE(lines.str().find("\"name\":\"" + std::string(name) + "\""), std::string::npos)
        << name;
  }
}

}  // namespace
}  // namespace depfast::copilot
