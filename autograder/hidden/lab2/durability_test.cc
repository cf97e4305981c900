// Hidden tests: what a crash must not take away.
#include <gtest/gtest.h>

#include "raft_world.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

GRADED_TEST(RaftDurability, CommittedCommandsSurviveACrashOfAll, "raft", 5,
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
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(RaftDurability, VotesAndTermsSurviveRestarts, "raft", 4,
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
    ASSERT_TRUE(world.IsSound());
  }
}

GRADED_TEST(RaftDurability, NothingIsPromisedBeforeItIsOnDisk, "raft", 4,
            "Votes, terms and entries are on disk before a message speaks of them.") {
  // A slow disk opens the window between writing and having written.
  RaftWorld world({.replicas = 3, .seed = 430});
  world.cluster.Begin(sim::DiskSlow({0, 1, 2}, 512 * 1024));
  ASSERT_NE(world.WaitForLeader(4s), kNobody);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(world.Commit(50, 4s));
    const PeerId leader = world.checker.Leader();
    world.cluster.Crash(leader);
    ASSERT_NE(world.WaitForLeader(4s), kNobody);
    world.cluster.Restart(leader);
  }
  EXPECT_TRUE(world.IsSound());
}

}  // namespace
}  // namespace depfast::raft
