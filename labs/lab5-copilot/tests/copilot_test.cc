// The public tests of Copilot: students see, run and replay them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "copilot_world.h"
#include "stage.h"
#include "testkit/client.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

GRADED_TEST(Copilot, DecidesOnTheFastPath, "5a", 2,
            "Without faults both pilots decide their entries on the fast path.") {
  CopilotWorld world({.replicas = 3, .seed = 501});
  ASSERT_TRUE(world.WaitForPilots());
  world.SubmitEvery(20ms, 20);
  const auto& coverage = world.checker.coverage();
  EXPECT_GE(coverage.fast, 36U) << "entries of both lanes, for 20 commands";
  EXPECT_LE(coverage.accepted, 2U) << "entries took the slow path";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(Copilot, AMajorityDecidesOnTheSlowPath, "5b", 1,
            "Where a majority lives and no fast quorum, entries are decided on the slow path.") {
  CopilotWorld world({.replicas = 7, .seed = 502});
  ASSERT_TRUE(world.WaitForPilots());
  for (const PeerId dead : {4, 5, 6}) world.cluster.Crash(dead);
  world.SubmitEvery(20ms, 20);
  const auto& coverage = world.checker.coverage();
  EXPECT_EQ(coverage.fast, 0U) << "four of seven replicas are no fast quorum";
  EXPECT_GE(coverage.accepted - coverage.by_takers, 20U)
      << "too few entries are decided on the slow path by their own pilots";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(Copilot, CommitsCommandsOnEveryReplica, "5c", 2,
            "Commands are committed, acknowledged, and applied by every replica in one order.") {
  CopilotWorld world({.replicas = 5, .seed = 503});
  ASSERT_TRUE(world.WaitForPilots());
  ASSERT_TRUE(world.Commit(100, 2s)) << world.acknowledged() << " of 100 commands were committed";
  ASSERT_TRUE(world.WaitForAllApplied()) << "a replica did not apply all committed commands";
  EXPECT_EQ(world.log().CommittedUpTo(), 100U) << "each command is given to both pilots";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(Copilot, ASlowPilotDelaysNobody, "5d", 1,
            "While one pilot is slow, commands wait no longer than a takeover takes.") {
  for (const PeerId slow : {0, 1}) {
    for (const Duration delay : {40ms, 400ms}) {
      SCOPED_TRACE("replica " + std::to_string(slow) + " is slow by " +
                   std::to_string(delay / 1ms) + " ms");
      CopilotWorld world({.replicas = 3, .seed = 504});
      ASSERT_TRUE(world.WaitForPilots());
      ASSERT_TRUE(world.Commit(20)) << "nothing is committed without a fault";
      world.cluster.Begin(faults::NetSlow({slow}, delay));
      // Besides the commands of all clients it gets some that the other pilot does not.
      testkit::Client client(world.cluster.simulator());
      Duration slowest{0};
      for (std::uint64_t number = 1; number <= 30; ++number) {
        SubmitTo(client, slow, number);
        slowest = std::max(slowest, world.SlowestOf(3));
      }
      EXPECT_LT(slowest, 50ms);
      world.cluster.Heal();
      EXPECT_TRUE(world.WaitForAllApplied());
      EXPECT_TRUE(world.AllInvariantsHold());
    }
  }
}

GRADED_TEST(Copilot, ADeadPilotIsReplaced, "5d", 1,
            "When a pilot dies, commands are committed at once, and another replica becomes pilot. "
            "One that does not hear a pilot deposes nobody.") {
  CopilotWorld world({.replicas = 3, .seed = 505});
  ASSERT_TRUE(world.WaitForPilots());
  ASSERT_TRUE(world.Commit(20)) << "nothing is committed without a fault";
  world.SubmitEvery(1ms, 20);  // the other pilot must take over what the dead one leaves
  world.cluster.Crash(0);
  EXPECT_LT(world.SlowestOf(20), 100ms) << "after the death of a pilot";
  world.cluster.RunFor(4s);
  EXPECT_EQ(world.log().Proposers().size(), 2U) << "no other replica has become pilot";
  EXPECT_LT(world.SlowestOf(20), 50ms) << "with a new pilot";
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied());
  const std::uint64_t views = world.checker.coverage().views;
  for (const auto& unheard : {faults::PartitionFault({0}), faults::CutFault({2}, {0})}) {
    world.cluster.Begin(unheard);
    world.cluster.RunFor(4s);
    world.cluster.End(unheard);
    world.cluster.RunFor(4s);
    EXPECT_EQ(world.checker.coverage().views, views) << "a pilot that lives has lost its lane";
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::copilot
