// Hidden tests: disks that are full, or give back other bytes than were written.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "raft_world.h"
#include "safety.h"
#include "sizes.h"
#include "testkit/environment.h"
#include "testkit/judged.h"

namespace depfast::raft {
namespace {

// A replica loses power, and a bit of the file flips at `permille` of its length. The replica must
// not start; the others go on.
void RestartWithDamage(RaftWorld& world, PeerId victim, const std::string& file,
                       std::size_t permille) {
  auto& simulator = world.cluster.simulator();
  world.cluster.Crash(victim);
  simulator.FlipBit(victim, file,
                    simulator.disk(victim).files().at(file).durable_bytes * permille / 1000);
  const Time restarted = world.cluster.now();
  world.cluster.Restart(victim);
  world.cluster.RunFor(1s);
  if (simulator.IsUp(victim)) testkit::RecordJudged({"damage is refused", victim, restarted});
  EXPECT_FALSE(simulator.IsUp(victim))
      << Unsafe(Safety::kAcknowledgedIsKept) << "it starts from a damaged " << file;
  ASSERT_TRUE(world.Commit(10, 6s)) << "two of three replicas make no progress";
  ASSERT_TRUE(world.AllInvariantsHold());
}

// The last record is spared: damage there looks like a torn write.
GRADED_TEST(RaftDurability, ADamagedLogIsRefused, "2c", 1,
            "A replica whose log is damaged before its last record does not start.") {
  for (const std::size_t permille : {0U, 300U, 600U}) {
    SCOPED_TRACE("damage at " + std::to_string(permille / 10) + " % of the file");
    RaftWorld world({.replicas = 3, .seed = 470 + permille});
    ASSERT_NE(world.WaitForLeader(), kNobody);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(world.Commit(2));
    ASSERT_TRUE(world.WaitForAllApplied());
    RestartWithDamage(world, static_cast<PeerId>(permille / 300), kWalFile, permille);
  }
}

GRADED_TEST(RaftSnapshots, ADamagedSnapshotIsRefused, "2d", 1,
            "A replica whose snapshot is damaged does not start: its log begins later.") {
  for (const std::size_t permille : {0U, 500U}) {
    SCOPED_TRACE("damage at " + std::to_string(permille / 10) + " % of the file");
    RaftWorld world({.replicas = 3, .seed = 830 + permille});
    const PeerId leader = world.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    ASSERT_TRUE(world.CommitBytes(5 * kMiB));
    ASSERT_TRUE(world.WaitForAllApplied());
    world.cluster.RunFor(1s);  // all has reached the disk
    const PeerId victim = world.Others(leader)[0];
    ASSERT_TRUE(world.checker.HasSnapshot(victim)) << "5 MB were committed";
    RestartWithDamage(world, victim, kSnapshotFile, permille);
  }
}

// The disk has room for a log that must be compacted, and not for the files that replace it.
GRADED_TEST(RaftSnapshots, ADiskWithoutRoomToCompactLosesNothing, "2d", 1,
            "A replica whose disk is full before it has compacted keeps what it acknowledged.") {
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    RaftWorld world({.replicas = 3, .seed = 840 + seed});
    const auto& simulator = world.cluster.simulator();
    const PeerId leader = world.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    const PeerId victim = seed == 1 ? leader : world.Others(leader)[seed - 2];
    for (const std::size_t capacity : {2 * kMiB, 3 * kMiB, 4 * kMiB}) {
      const auto full = faults::DiskFull({victim}, static_cast<std::int64_t>(capacity));
      world.cluster.Begin(full);
      for (int i = 0; i < 160; ++i) world.SubmitOneLarge();  // 5 MB
      world.cluster.RunUntil([&] { return simulator.disk(victim).has_failed(); }, 3s);
      failures += simulator.disk(victim).has_failed() || !simulator.IsUp(victim) ? 1 : 0;
      world.cluster.RunFor(500ms);
      world.cluster.End(full);  // there is room again, and the replica is restarted
      ASSERT_TRUE(world.Commit(10, 6s)) << "no progress with room on all disks";
      ASSERT_TRUE(world.WaitForAllApplied(4s)) << "the replica stays behind";
      ASSERT_TRUE(world.AllInvariantsHold());
    }
  }
  // 2 MiB do not hold kRetainedBytes of entries twice, and a snapshot. More is enough for a replica
  // that compacts early.
  EXPECT_GE(failures, 3) << "of 9 disks too few were full";
}

}  // namespace
}  // namespace depfast::raft
