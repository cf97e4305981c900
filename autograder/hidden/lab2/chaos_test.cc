// Hidden tests: all faults at once, then progress is required.
//
// Liveness is tested as in TigerBeetle's simulator: chaos, then a random majority heals, then
// progress within a bound of virtual time. A system that survives by doing nothing does not pass.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "raft_world.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

constexpr Duration kChaos = 4s;

enum class Commands { kSmall, kLarge };  // large ones make logs that must be compacted

// A write that has begun on a slow disk ends on it, healed or not: large ones must not take longer
// than the bound on progress.
constexpr std::int64_t SlowDisk(Commands commands) {
  return commands == Commands::kSmall ? 128 * 1024 : 4 * 1024 * 1024;
}

PeerId RandomReplica(RandomStream& random, int replicas) {
  return static_cast<PeerId>(random.Below(static_cast<std::uint64_t>(replicas)));
}

Duration RandomDuration(RandomStream& random, Duration below) {
  return Duration(
      static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(below.count()))));
}

sim::Fault RandomFault(RandomStream& random, int replicas, Commands commands) {
  const PeerId victim = RandomReplica(random, replicas);
  switch (random.Below(8)) {
    case 0:
      return sim::CpuSlow({victim}, 5);
    case 1:
      return sim::DiskSlow({victim}, SlowDisk(commands));
    case 2:
      return sim::NetSlow({victim}, 40ms);
    case 3:
      return sim::PartitionFault({victim, (victim + 1) % replicas});
    case 4:
      return sim::DropFault({victim}, 200);
    case 5:
      return sim::DuplicateFault({victim}, 200);
    case 6:
      return sim::ReorderFault({victim}, 200);
    default:
      return sim::CrashFault({victim});
  }
}

sim::FaultPlan RandomPlan(RandomStream& random, int replicas, Commands commands) {
  constexpr int kFaults = 14;
  sim::FaultPlan plan;
  for (int i = 0; i < kFaults; ++i) {
    const sim::Fault fault = RandomFault(random, replicas, commands);
    const Time start = 700ms + RandomDuration(random, kChaos - 1s);
    plan.push_back(fault.From(start).For(100ms + RandomDuration(random, 1s)));
  }
  return plan;
}

void Swarm(int replicas, std::uint64_t seed, Commands commands) {
  RaftWorld world({.replicas = replicas, .seed = seed});
  RandomStream random(world.cluster.simulator().options().seed, seed, 500);
  world.cluster.Schedule(RandomPlan(random, replicas, commands));
  while (world.cluster.now() < 700ms + kChaos) {
    for (int i = 0; i < 5; ++i) {
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
  ASSERT_TRUE(world.IsSound());
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
