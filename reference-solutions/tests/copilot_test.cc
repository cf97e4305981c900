// The reference of lab 5 in the simulator, with a log on disks.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "copilot.h"
#include "copilot_world.h"
#include "faults/random_plan.h"
#include "testkit/chaos.h"
#include "testkit/environment.h"

namespace depfast {

std::unique_ptr<ReplicatedLog> MakeReplicatedLog(Runtime& runtime, StateMachine& machine) {
  return std::make_unique<copilot::Copilot>(runtime, machine, copilot::Durability::kOnDisk);
}

}  // namespace depfast

namespace depfast::copilot {
namespace {

TEST(Copilot, CommitsOnTheFastPath) {
  CopilotWorld world({.replicas = 3, .seed = 1});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  const Duration slowest = world.SlowestOf(20);
  EXPECT_LT(slowest, 50ms);
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_EQ(world.log().CommittedUpTo(), 20U);
  EXPECT_GT(world.checker.coverage().fast, 20U);
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::copilot
