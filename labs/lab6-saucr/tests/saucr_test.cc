// The public tests of SAUCR's replicas: modes, markers and maps. Students see, run and replay them.
#include <gtest/gtest.h>

#include <algorithm>

#include "safety.h"
#include "saucr_world.h"
#include "testkit/environment.h"
#include "testkit/some.h"

namespace depfast::saucr {
namespace {

constexpr Duration kSync = 5ms;
constexpr Duration kMemoryTime = 2ms;  // more than a command takes without a disk

// Disks that are slow beside the network, and nothing that is late by chance.
sim::Profile SlowDisks() {
  sim::Profile profile = sim::Profile::SteadyLab();
  profile.disk.sync = kSync;
  profile.disk.sync_jitter = {};
  return profile;
}

int CountReplicas(const std::function<bool(PeerId)>& holds) {
  int count = 0;
  for (PeerId id = 0; id < 5; ++id) count += holds(id) ? 1 : 0;
  return count;
}

// ---- 6A ----

GRADED_TEST(Saucr, CommitsInBothModes, "6a", 2,
            "Five replicas commit 20 commands with all up, and 20 with three up.") {
  SaucrWorld world({.replicas = 5, .seed = 601}, SaucrWorld::Parts::k6A);
  ASSERT_TRUE(world.BeginFast(20));
  EXPECT_GE(world.checker.coverage().fast, 20U) << "entries committed in fast mode";
  ASSERT_TRUE(world.LeaveABareMajority());
  const std::uint64_t slow = world.checker.coverage().slow;
  ASSERT_TRUE(world.Commit(20));
  EXPECT_GE(world.checker.coverage().slow, slow + 20) << "entries committed in slow mode";
  EXPECT_TRUE(world.WaitForAllApplied());
}

GRADED_TEST(Saucr, FastAnswersWaitForNoDisk, "6a", 1,
            "With disks that take 5 ms, commands of fast mode take under 2 ms.") {
  SaucrWorld world({.replicas = 5, .seed = 602, .profile = SlowDisks()}, SaucrWorld::Parts::k6A);
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  ASSERT_TRUE(world.Commit(1)) << "the first command of fast mode";
  EXPECT_LT(world.SlowestOf(100), kMemoryTime)
      << "a command of fast mode has waited for a disk: a follower answers from memory (R1, R11), "
         "and no background flush writes a marker (R10)";
}

GRADED_TEST(Saucr, SlowAnswersWaitForTheDisk, "6a", 1,
            "With three of five up, every answer leaves when its entry is on the disk.") {
  SaucrWorld world({.replicas = 5, .seed = 603, .profile = SlowDisks()}, SaucrWorld::Parts::k6A);
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  ASSERT_TRUE(world.LeaveABareMajority());
  for (int i = 0; i < 20; ++i) {
    EXPECT_GE(world.SlowestOf(1), kSync)
        << Unsafe(Safety::kDurablePromise) << "an answer of slow mode waits for the disk (R2)";
    const EntryId last = world.LastCommitted();
    EXPECT_EQ(CountReplicas([&](PeerId id) { return world.HasOnDisk(id, last); }), 3)
        << Unsafe(Safety::kDurablePromise) << "disks have command " << i
        << ", which was acknowledged in slow mode (R2)";
  }
}

GRADED_TEST(Saucr, ASilentLeaderMakesFollowersFlush, "6a", 1,
            "60 ms after the leader's death all entries are on the followers' disks. The next "
            "leader is in slow mode first (R8).") {
  SaucrWorld world({.replicas = 5, .seed = 604}, SaucrWorld::Parts::k6A);
  ASSERT_TRUE(world.BeginInMemory());
  ASSERT_TRUE(world.Commit(20));
  world.cluster.RunFor(2ms);  // the latest entries reach the last follower
  const EntryId last = world.LastCommitted();
  const auto followers = world.Followers();
  world.cluster.Crash(world.Leader());
  world.cluster.RunFor(60ms);
  for (const PeerId id : testkit::Some(followers)) {
    EXPECT_TRUE(world.HasOnDisk(id, last)) << "replica " << id << " has not flushed (R9)";
  }
  ASSERT_TRUE(world.WaitForMode(Mode::kSlow));
  EXPECT_TRUE(world.WaitForMode(Mode::kFast)) << "four of five are up (R7)";
}

// ---- 6B ----

GRADED_TEST(Saucr, MarksBeforeItAcknowledges, "6b", 2,
            "A fast answer leaves when the fast-switch-entry is on the disk.") {
  SaucrWorld world({.replicas = 5, .seed = 611, .profile = SlowDisks()});
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  EXPECT_GE(world.SlowestOf(1), kSync)
      << Unsafe(Safety::kDurablePromise) << "the first command of fast mode waits for F (R11)";
  EXPECT_GE(CountReplicas([&](PeerId id) { return !world.SaysAllIsThere(id); }), 4)
      << Unsafe(Safety::kDurablePromise)
      << "disks say that a crash loses something, and a command was acknowledged (R11)";
  EXPECT_LT(world.SlowestOf(100), kMemoryTime) << "one marker is enough (R10, R13)";
}

GRADED_TEST(Saucr, MarksAgainAfterAFlush, "6b", 2,
            "After a flush the next buffered entry has a new marker.") {
  SaucrWorld world({.replicas = 5, .seed = 612});
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  for (const PeerId follower : testkit::Some(world.Followers())) {
    ASSERT_TRUE(world.Commit(5));
    ASSERT_TRUE(world.WaitForAllApplied());
    world.cluster.Partition({follower});
    EXPECT_TRUE(world.cluster.RunUntil([&] { return world.SaysAllIsThere(follower); }, 100ms))
        << "replica " << follower << " hears no leader, and does not flush (R9, R12)";
    world.cluster.Heal();
    ASSERT_TRUE(world.Commit(5));
    ASSERT_TRUE(world.WaitForAllApplied());
    EXPECT_TRUE(world.cluster.RunUntil([&] { return !world.SaysAllIsThere(follower); }, 50ms))
        << Unsafe(Safety::kAcknowledgedIsKept) << "replica " << follower
        << " buffers entries, and its disk says that all are there (R13)";
  }
}

GRADED_TEST(Saucr, SlowModeKeepsTheMap, "6b", 2,
            "A slow answer leaves when latest-on-disk-entry and map are on the disk, behind the "
            "entries.") {
  SaucrWorld world({.replicas = 5, .seed = 613, .profile = SlowDisks()});
  ASSERT_TRUE(world.BeginFast(5));
  ASSERT_TRUE(world.LeaveABareMajority());
  std::vector<PeerId> up = world.Followers();
  up.push_back(world.Leader());
  ASSERT_GE(up.size(), 3U);
  for (int i = 0; i < 20; ++i) {
    ASSERT_NE(world.SlowestOf(1), kForever) << "no command is committed in slow mode (R2, R3 (b))";
    const EntryId last = world.LastCommitted();
    for (const PeerId id : up) {
      const WalState& wal = world.checker.disk(id).wal();
      ASSERT_GE(wal.markers.latest_on_disk, last) << "of replica " << id;
      ASSERT_EQ(wal.map.size(), 5U) << "of replica " << id;
      for (const PeerId of : up) {
        ASSERT_GE(wal.map[static_cast<std::size_t>(of)], last)
            << "of replica " << of << ", on the disk of " << id;
      }
    }
  }
}

// ---- 6D ----

GRADED_TEST(Saucr, APartitionLosesNothing, "6d", 3,
            "Two of five behind a partition flush; the others go on in slow mode.") {
  SaucrWorld world({.replicas = 5, .seed = 614});
  ASSERT_TRUE(world.BeginFast(20));
  const auto followers = world.Followers();
  const std::vector<PeerId> cut_off{followers[0], followers[1]};
  world.cluster.Partition(cut_off);
  EXPECT_TRUE(world.cluster.RunUntil(
      [&] {
        return std::ranges::all_of(cut_off, [&](PeerId id) { return world.SaysAllIsThere(id); });
      },
      100ms))
      << "two replicas hear no leader, and do not flush (R9, R32)";
  ASSERT_TRUE(world.WaitForMode(Mode::kSlow));
  ASSERT_TRUE(world.Commit(20));
  for (PeerId id = 0; id < 5; ++id) world.cluster.Crash(id);
  world.cluster.Heal();
  ASSERT_TRUE(world.BeginFast(20));
  EXPECT_TRUE(world.WaitForAllApplied());
}

}  // namespace
}  // namespace depfast::saucr
