// The public tests of replicas that have lost entries in a crash: students see, run and replay
// them.
#include <gtest/gtest.h>

#include "saucr_world.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

GRADED_TEST(
    SaucrRecovery, OneReplicaReturns, "6c", 2,
    "A follower that crashed in fast mode recovers its LLE and the data, and counts again.") {
  SaucrWorld world({.replicas = 5, .seed = 621});
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  ASSERT_TRUE(world.Commit(20));
  const auto followers = world.Followers();
  world.cluster.Crash(followers[0]);
  ASSERT_TRUE(world.Commit(20));
  world.cluster.Restart(followers[0]);
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_EQ(world.checker.claims(followers[0]).recovery, Recovery::kRecovered);
  world.cluster.Crash(followers[1]);
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  const std::uint64_t fast = world.checker.coverage().fast;
  ASSERT_TRUE(world.Commit(20));
  EXPECT_GE(world.checker.coverage().fast, fast + 20) << "four of five are up";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(SaucrRecovery, AMajorityReturns, "6c", 2,
            "Three of five crash at once; after their return nothing is lost.") {
  SaucrWorld world({.replicas = 5, .seed = 622});
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  ASSERT_TRUE(world.Commit(20));
  for (PeerId id = 0; id < 3; ++id) world.cluster.Crash(id);
  world.cluster.RunFor(100ms);
  for (PeerId id = 0; id < 3; ++id) world.cluster.Restart(id);
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  ASSERT_TRUE(world.Commit(20));
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::saucr
