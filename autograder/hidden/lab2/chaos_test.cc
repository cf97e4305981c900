// Hidden tests: all faults at once, then progress is required.
//
// Liveness is tested as in TigerBeetle's simulator: chaos, then a random majority heals, then
// progress within a bound of virtual time. A system that survives by doing nothing does not pass.
#include "testkit/chaos.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "faults/random_plan.h"
#include "raft_world.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

constexpr Duration kChaos = 4s;

enum class Commands { kSmall, kLarge };  // large ones make logs that must be compacted

// Large writes need a slow disk that is faster: see ChaosOptions.
constexpr std::int64_t DiskBytesPerSecond(Commands commands) {
  return commands == Commands::kSmall ? faults::PresetStrength("disk-slow").amount
                                      : 4 * 1024 * 1024;
}

PeerId RandomReplica(RandomStream& random, int replicas) {
  return static_cast<PeerId>(random.Below(static_cast<std::uint64_t>(replicas)));
}

void Survive(testkit::Chaos& chaos, std::uint64_t seed, RandomStream random, Commands commands) {
  const int replicas = chaos.replicas();
  RaftWorld world({.replicas = replicas, .seed = seed});
  world.cluster.Schedule(chaos.plan());
  while (world.cluster.now() < 700ms + kChaos) {
    for (int i = 0; i < 5 && chaos.MayStartCommand(); ++i) {
      commands == Commands::kSmall ? world.SubmitOne() : world.SubmitOneLarge();
    }
    world.cluster.RunFor(25ms);
  }
  // A random minority stays dead; the rest must do without.
  world.cluster.Heal();
  for (int i = 0; i < (replicas - 1) / 2; ++i) {
    world.cluster.Crash(RandomReplica(random, replicas));
  }
  ASSERT_TRUE(world.Commit(10, 6s)) << "a healed majority makes no progress within 6 s";
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied(4s)) << "a replica does not catch up after the last fault";
  ASSERT_TRUE(world.AllInvariantsHold());
}

void Swarm(int replicas, std::uint64_t seed, Commands commands) {
  RandomStream random(testkit::SeedOf(seed), seed, 500);
  const faults::FaultPlan plan =
      faults::RandomPlan(random, {.replicas = replicas,
                                  .length = kChaos,
                                  .disk_bytes_per_second = DiskBytesPerSecond(commands)});
  testkit::RunChaos({.replicas = replicas, .plan = plan},
                    [&](testkit::Chaos& chaos) { Survive(chaos, seed, random, commands); });
}

GRADED_TEST(RaftChaos, ThreeReplicasSurviveAnything, "2c", 2,
            "Three replicas stay correct under random faults, and make progress afterwards.") {
  for (std::uint64_t seed = 1; seed <= 8 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    Swarm(3, 500 + seed, Commands::kSmall);
  }
}

GRADED_TEST(RaftChaos, FiveReplicasSurviveAnything, "2c", 1,
            "Five replicas stay correct under random faults, and make progress afterwards.") {
  for (std::uint64_t seed = 1; seed <= 6 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    Swarm(5, 550 + seed, Commands::kSmall);
  }
}

GRADED_TEST(RaftChaos, SnapshotsSurviveAnything, "2d", 1,
            "Replicas that take snapshots of 20 MB of commands meanwhile stay correct, too.") {
  for (std::uint64_t seed = 1; seed <= 3 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    Swarm(3, 580 + seed, Commands::kLarge);
  }
}

}  // namespace
}  // namespace depfast::raft
