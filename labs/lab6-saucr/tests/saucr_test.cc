// The public tests of SAUCR's replicas without crashes that lose anything: students see, run and
// replay them.
#include <gtest/gtest.h>

#include "saucr_world.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

constexpr Duration kDiskTime = 5ms;  // of a sync, in Profile::SlowDisk

GRADED_TEST(Saucr, CommitsInBothModes, "6a", 2,
            "Five replicas commit 20 commands with all up, and 20 with three up.") {
  SaucrWorld world({.replicas = 5, .seed = 601}, SaucrWorld::Markers::kNotYet);
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  ASSERT_TRUE(world.Commit(20));
  EXPECT_GE(world.checker.coverage().fast, 20U) << "entries committed in fast mode";
  const auto followers = world.Followers();
  world.cluster.Crash(followers[0]);
  world.cluster.Crash(followers[1]);
  ASSERT_TRUE(world.WaitForMode(Mode::kSlow));
  const std::uint64_t slow = world.checker.coverage().slow;
  ASSERT_TRUE(world.Commit(20));
  EXPECT_GE(world.checker.coverage().slow, slow + 20) << "entries committed in slow mode";
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::saucr
