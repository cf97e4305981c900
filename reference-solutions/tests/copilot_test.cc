// The reference of lab 5 in the simulator, with a log on disks.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "copilot_world.h"
#include "faults/random_plan.h"
#include "testkit/chaos.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

TEST(Copilot, CommitsOnTheFastPath) {
  CopilotWorld world({.replicas = 3, .seed = 1});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  const Duration slowest = world.SlowestOf(20);
  EXPECT_LT(slowest, 50ms);
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_EQ(world.log().CommittedUpTo(), 20U);
  EXPECT_GT(world.checker.coverage().fast, 20U);
  EXPECT_TRUE(world.AllInvariantsHold());
}

// Ping-pong batching keeps the dependencies compatible.
TEST(Copilot, TheFastPathIsUsual) {
  for (const bool slow : {false, true}) {
    CopilotWorld world({.replicas = 3, .seed = 2, .profile = sim::Profile::TeachingLowJitter()});
    ASSERT_TRUE(world.Commit(20));
    if (slow) world.cluster.Begin(faults::NetSlow({2}, 40ms));
    for (int i = 0; i < 2000; ++i) {
      world.SubmitOne();
      world.cluster.RunFor(700us);
    }
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

TEST(Copilot, FiveReplicasReplaceBothPilots) {
  CopilotWorld world({.replicas = 5, .seed = 4});
  ASSERT_TRUE(world.Commit(20));
  world.cluster.Crash(0);
  world.cluster.Crash(1);
  ASSERT_TRUE(world.Commit(20, 10s));
  world.cluster.RunFor(3s);
  EXPECT_EQ(world.log().Proposers().size(), 2U);
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
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

constexpr Duration kChaos = 4s;

// Clients submit so many commands of so many bytes every 25 ms. Large ones make logs that are cut.
struct Load {
  int commands = 5;
  std::size_t bytes = 100;
};

CopilotChecker::Coverage Survive(int replicas, std::uint64_t seed, const Load& load) {
  RandomStream random(testkit::SeedOf(seed), seed, 500);
  auto mix = faults::UsualMix();
  mix.push_back(faults::PresetStrength("partition"));
  mix.push_back(faults::PresetStrength("crash"));
  mix.push_back({faults::FaultKind::kCut, 0});
  const faults::FaultPlan plan = faults::RandomPlan(
      random,
      {.replicas = replicas, .length = kChaos, .disk_bytes_per_second = 4 << 20, .mix = mix});
  CopilotWorld world({.replicas = replicas, .seed = seed});
  world.cluster.Schedule(plan);
  while (world.cluster.now() < 700ms + kChaos) {
    for (int i = 0; i < load.commands; ++i) world.SubmitOne(load.bytes);
    world.cluster.RunFor(25ms);
  }
  world.cluster.Heal();
  for (int i = 0; i < (replicas - 1) / 2; ++i) {
    world.cluster.Crash(static_cast<PeerId>(random.Below(static_cast<std::uint64_t>(replicas))));
  }
  EXPECT_TRUE(world.Commit(10, 8s)) << "a healed majority makes no progress within 8 s";
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied(6s)) << "a replica does not catch up after the last fault";
  EXPECT_TRUE(world.AllInvariantsHold());
  return world.checker.coverage();
}

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Worlds COPILOT_FIRST and those after it, COPILOT_SEEDS in all, or `worlds`.
CopilotChecker::Coverage SurviveMany(std::uint64_t worlds, const Load& load) {
  const std::uint64_t first = FromEnvironment("COPILOT_FIRST", 1);
  const std::uint64_t end = first + FromEnvironment("COPILOT_SEEDS", worlds);
  CopilotChecker::Coverage met;
  for (const int replicas : {3, 5, 7}) {
    for (std::uint64_t seed = first; seed < end && !testing::Test::HasFailure(); ++seed) {
      SCOPED_TRACE(std::to_string(replicas) + " replicas, world " + std::to_string(seed));
      met += Survive(replicas, seed, load);
    }
  }
  return met;
}

TEST(CopilotChaos, SurvivesAnything) {
  const CopilotChecker::Coverage met = SurviveMany(10, Load());
  EXPECT_GT(met.fast, 0U);
  EXPECT_GT(met.accepted, 0U);
  EXPECT_GT(met.by_takers, 0U);
  EXPECT_GT(met.no_ops, 0U);
  EXPECT_GT(met.nulls, 0U);
  EXPECT_GT(met.views, 0U);
}

TEST(CopilotChaos, SnapshotsSurviveAnything) {
  const CopilotChecker::Coverage met = SurviveMany(4, {.commands = 2, .bytes = 32 << 10});
  EXPECT_GT(met.restored, 0U);
}

}  // namespace
}  // namespace depfast::copilot
