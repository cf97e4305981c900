// Hidden tests: the state that must survive a crash.
#include <gtest/gtest.h>

#include "raft_world.h"
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

}  // namespace
}  // namespace depfast::raft
