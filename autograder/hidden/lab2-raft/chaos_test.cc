// Hidden tests: all faults at once, then progress is required.
//
// Liveness is tested as in TigerBeetle's simulator: chaos, then a random majority heals, then
// progress within a bound of virtual time. A system that survives by doing nothing does not pass.
#include "testkit/chaos.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "faults/random_plan.h"
#include "raft_situations.h"
#include "raft_world.h"
#include "testkit/environment.h"
#include "testkit/situations.h"

namespace depfast::raft {
namespace {

constexpr Duration kChaos = 4s;

enum class Commands { kSmall, kLarge };  // large ones make logs that must be compacted

// Large writes need a slow disk that is faster: see ChaosOptions.
constexpr std::int64_t DiskBytesPerSecond(Commands commands) {
  return commands == Commands::kSmall ? faults::PresetStrength("disk-slow").amount
                                      : 4 * 1024 * 1024;
}

// Chaos for snapshots: disks also fail or have no room to compact, and links are slow, so that
// transfers are under way when other faults come.
std::vector<faults::Strength> MixOf(Commands commands) {
  auto mix = faults::UsualMix();
  // Rules of elections need partitions, cuts in one direction, and crashes more than slowness.
  mix.push_back(faults::PresetStrength("partition"));
  mix.push_back(faults::PresetStrength("partition"));
  mix.push_back(faults::PresetStrength("crash"));
  mix.push_back({faults::FaultKind::kCut, 0});
  if (commands == Commands::kSmall) return mix;
  mix.push_back({faults::FaultKind::kDiskError, 50});
  mix.push_back({faults::FaultKind::kDiskFull, 3 << 20});
  mix.push_back({faults::FaultKind::kLinkSlow, 200'000'000});
  mix.push_back({faults::FaultKind::kLinkSlow, 200'000'000});
  mix.push_back(faults::PresetStrength("crash"));
  return mix;
}

// Counts snapshots that reach a disk.
class SnapshotCounter : private sim::Observer {
 public:
  explicit SnapshotCounter(RaftWorld& world) { world.cluster.simulator().AddObserver(this); }

  int count() const { return count_; }

 private:
  void OnDisk(PeerId replica, Time, const sim::SimDisk& disk) override {
    const auto file = disk.files().find(kSnapshotFile);
    if (file == disk.files().end()) return;
    if (std::exchange(seen_[replica], file->second.generation) != file->second.generation) {
      ++count_;
    }
  }

  std::map<PeerId, std::uint64_t> seen_;  // the generation of the replica's snapshot
  int count_ = 0;
};

PeerId RandomReplica(RandomStream& random, int replicas) {
  return static_cast<PeerId>(random.Below(static_cast<std::uint64_t>(replicas)));
}

// The situations that the worlds of a test have had.
struct Reached {
  int snapshots = 0;  // on disks
  testkit::SituationCounts situations;
};

void Survive(testkit::Chaos& chaos, std::uint64_t seed, RandomStream random, Commands commands,
             Reached& reached) {
  const int replicas = chaos.replicas();
  RaftWorld world({.replicas = replicas, .seed = seed});
  world.cluster.Schedule(chaos.plan());
  const SnapshotCounter snapshots(world);
  const RaftSituations situations(world.cluster.simulator(), world.checker);
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
  reached.snapshots += snapshots.count();
  reached.situations.Add(situations.Seen());
  if (commands == Commands::kLarge) reached.situations.Add(situations.SeenOfSnapshots());
}

void Swarm(int replicas, std::uint64_t seed, Commands commands, Reached& reached) {
  RandomStream random(testkit::SeedOf(seed), seed, 500);
  const faults::FaultPlan plan =
      faults::RandomPlan(random, {.replicas = replicas,
                                  .length = kChaos,
                                  .disk_bytes_per_second = DiskBytesPerSecond(commands),
                                  .mix = MixOf(commands)});
  testkit::RunChaos({.replicas = replicas, .plan = plan}, [&](testkit::Chaos& chaos) {
    Survive(chaos, seed, random, commands, reached);
  });
}

GRADED_TEST(RaftChaos, ThreeReplicasSurviveAnything, "2c", 1,
            "Three replicas stay correct under random faults, and make progress afterwards.") {
  Reached reached;
  for (std::uint64_t seed = 1; seed <= 8 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    Swarm(3, 500 + seed, Commands::kSmall, reached);
  }
}

GRADED_TEST(RaftChaos, FiveReplicasSurviveAnything, "2c", 1,
            "Five replicas stay correct under random faults, and make progress afterwards.") {
  Reached reached;
  for (std::uint64_t seed = 1; seed <= 6 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    Swarm(5, 550 + seed, Commands::kSmall, reached);
  }
}

GRADED_TEST(RaftChaos, SnapshotsSurviveAnything, "2d", 1,
            "Replicas that take snapshots of 20 MB of commands meanwhile stay correct, too.") {
  Reached reached;
  for (std::uint64_t seed = 1; seed <= 3 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    Swarm(3, 580 + seed, Commands::kLarge, reached);
  }
  EXPECT_GE(reached.snapshots, 15) << "too few snapshots for a test of them";
}

}  // namespace
}  // namespace depfast::raft
