// Public tests: the state that must survive a crash.
#include <gtest/gtest.h>

#include "raft_world.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

GRADED_TEST(RaftDurability, CommittedCommandsSurviveACrashOfAll, "2c", 2,
            "When every replica loses power at once, no acknowledged command is lost.") {
  RaftWorld world({.replicas = 3, .seed = 410});
  for (int round = 0; round < 5; ++round) {
    ASSERT_NE(world.WaitForLeader(), kNobody) << "round " << round << ": no leader";
    ASSERT_TRUE(world.Commit(40)) << "round " << round;
    for (int i = 0; i < 20; ++i) world.SubmitOne();
    world.cluster.RunFor(1ms);  // in the middle of things
    for (PeerId id = 0; id < 3; ++id) world.cluster.Crash(id);
    world.cluster.RunFor(50ms);
    for (PeerId id = 0; id < 3; ++id) world.cluster.Restart(id);
  }
  ASSERT_NE(world.WaitForLeader(), kNobody);
  ASSERT_TRUE(world.Commit(10));
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftDurability, VotesAndTermsSurviveRestarts, "2c", 1,
            "A replica that restarts in the middle of elections votes once per term.") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    RaftWorld world({.replicas = 5, .seed = 420 + seed});
    RandomStream random(world.cluster.simulator().options().seed, 420);
    ASSERT_NE(world.WaitForLeader(), kNobody);
    for (int i = 0; i < 40; ++i) {
      const PeerId leader = world.checker.Leader();
      if (leader != kNobody && i % 4 == 0) world.cluster.Crash(leader);
      const auto victim = static_cast<PeerId>(random.Below(5));
      world.cluster.Crash(victim);
      world.cluster.RunFor(Duration(static_cast<std::int64_t>(random.Below(120'000'000))));
      for (PeerId id = 0; id < 5; ++id) world.cluster.Restart(id);
      world.cluster.RunFor(Duration(static_cast<std::int64_t>(random.Below(400'000'000))));
    }
    ASSERT_NE(world.WaitForLeader(4s), kNobody) << "no leader after the storm";
    ASSERT_TRUE(world.Commit(10));
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

GRADED_TEST(RaftDurability, NothingIsPromisedBeforeItIsOnDisk, "2c", 2,
            "Votes, terms and entries are on disk before a message about them is sent.") {
  // A slow disk widens the window between the start and the end of a write.
  RaftWorld world({.replicas = 3, .seed = 430});
  world.cluster.Begin(faults::DiskSlow({0, 1, 2}, 512 * 1024));
  ASSERT_NE(world.WaitForLeader(4s), kNobody);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(world.Commit(50, 4s));
    const PeerId leader = world.checker.Leader();
    world.cluster.Crash(leader);
    ASSERT_NE(world.WaitForLeader(4s), kNobody);
    world.cluster.Restart(leader);
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

// A crash leaves the first bytes of the interrupted write: mostly an incomplete record.
GRADED_TEST(RaftDurability, ATornRecordIsCutOff, "2c", 1,
            "After a crash in the middle of a write, the half-written record is cut off.") {
  RaftWorld world({.replicas = 3, .seed = 440});
  const auto& simulator = world.cluster.simulator();
  ASSERT_NE(world.WaitForLeader(), kNobody);
  for (int round = 0; round < 9; ++round) {
    const auto victim = static_cast<PeerId>(round % 3);
    for (int i = 0; i < 4; ++i) world.SubmitOneLarge();
    ASSERT_TRUE(world.cluster.RunUntil(
        [&] { return simulator.disk(victim).queued_bytes() >= kLargeCommandBytes; }, 1s))
        << "a command was submitted, and the replica does not write it";
    world.cluster.RunFor(100us);  // the disk is writing
    world.cluster.Crash(victim);
    world.cluster.RunFor(10ms);
    world.cluster.Restart(victim);
    ASSERT_TRUE(world.Commit(10, 6s)) << "round " << round;
    ASSERT_TRUE(world.WaitForAllApplied()) << "round " << round << ": a replica stays behind";
    ASSERT_TRUE(world.AllInvariantsHold()) << "round " << round;
  }
}

}  // namespace
}  // namespace depfast::raft
