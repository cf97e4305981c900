// Hidden tests: the state that must survive a crash.
#include <gtest/gtest.h>

#include "raft_world.h"
#include "still_leads.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

GRADED_TEST(RaftDurability, AStormOfRestartsLosesNothing, "2c", 1,
            "Replicas that lose power repeatedly, even during recovery, lose nothing.") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    RaftWorld world({.replicas = 3, .seed = 450 + seed});
    RandomStream random(world.cluster.simulator().options().seed, 450);
    for (int round = 0; round < 8; ++round) {
      ASSERT_TRUE(world.Commit(20, 6s)) << "round " << round;
      for (int i = 0; i < 40; ++i) {
        world.SubmitOne();
        world.cluster.Crash(static_cast<PeerId>(random.Below(3)));
        world.cluster.RunFor(Duration(static_cast<std::int64_t>(random.Below(4'000'000))));
        for (PeerId id = 0; id < 3; ++id) world.cluster.Restart(id);
        world.cluster.RunFor(Duration(static_cast<std::int64_t>(random.Below(2'000'000))));
      }
    }
    ASSERT_TRUE(world.Commit(10, 6s)) << "no progress after the storm";
    ASSERT_TRUE(world.WaitForAllApplied());
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

// Commands come all the time, so every answer that waits for the whole disk is late.
GRADED_TEST(RaftDurability, SlowDisksOfTheFollowersDeposeNobody, "2c", 1,
            "A leader keeps its term while each operation of its followers' disks takes 600 ms.") {
  for (const int replicas : {3, 5}) {
    RaftWorld world({.replicas = replicas, .seed = 460});
    const PeerId leader = world.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    const std::uint64_t term = world.checker.claims(leader).term;
    const auto slow = faults::FsDelay(world.Others(leader), 600ms);
    world.cluster.Begin(slow);
    for (int i = 0; i < 200; ++i) {
      world.SubmitOne();
      world.cluster.RunFor(20ms);
    }
    EXPECT_TRUE(StillLeads(world, leader, term)) << "of " << replicas << " replicas";
    world.cluster.End(slow);
    ASSERT_TRUE(world.Commit(10, 6s)) << "no progress after the faults";
    ASSERT_TRUE(world.WaitForAllApplied());
    EXPECT_TRUE(world.AllInvariantsHold());
  }
}

}  // namespace
}  // namespace depfast::raft
