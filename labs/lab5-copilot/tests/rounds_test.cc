// Public tests: rounds, the order of execution, and takeovers in a cluster.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_memory.h"
#include "copilot_world.h"
#include "frame_counter.h"
#include "submit.h"
#include "testkit/client.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

GRADED_TEST(CopilotRounds, AFastQuorumDecides, "5a", 1,
            "With five of seven replicas alive entries are decided on the fast path.") {
  CopilotWorld world({.replicas = 7, .seed = 531});
  ASSERT_TRUE(world.WaitForPilots());
  world.cluster.Crash(5);
  world.cluster.Crash(6);
  world.SubmitEvery(20ms, 20);
  const auto& coverage = world.checker.coverage();
  EXPECT_GE(coverage.fast, 20U);
  // The pilots' proposals may meet, by chance: then the slow path decides.
  EXPECT_LE(2 * coverage.accepted, coverage.fast) << "five of seven replicas are a fast quorum";
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The pilots do not hear each other: each proposes with a dependency that the other conflicts with.
GRADED_TEST(CopilotRounds, ConflictingEntriesAreOrdered, "5b", 1,
            "Where the pilots' proposals conflict, the slow path puts them in order.") {
  for (const int replicas : {3, 5}) {
    SCOPED_TRACE(std::to_string(replicas) + " replicas");
    CopilotWorld world({.replicas = replicas, .seed = 533});
    ASSERT_TRUE(world.WaitForPilots());
    world.cluster.Begin(faults::CutFault({0}, {1}));
    world.cluster.Begin(faults::CutFault({1}, {0}));
    world.SubmitEvery(20ms, 20);
    const auto& coverage = world.checker.coverage();
    EXPECT_GE(coverage.accepted, 10U) << "too few entries took the slow path";
    EXPECT_TRUE(world.AllInvariantsHold());
  }
}

// One answer of each replica to the same command.
std::vector<SubmitReply> AskBothPilots(testkit::Cluster& cluster, testkit::Client& client,
                                       const std::string& command, std::uint64_t name) {
  const auto replies = std::make_shared<std::vector<SubmitReply>>();
  for (const PeerId pilot : {0, 1}) {
    client.Call(
        pilot, Submit{command}, 2s,
        [replies](const std::optional<SubmitReply>& reply) {
          if (reply) replies->push_back(*reply);
        },
        Dependency::Client(name));
  }
  cluster.RunUntil([&] { return replies->size() == 2; }, 2s);
  return *replies;
}

GRADED_TEST(CopilotOrder, BothPilotsAnswer, "5c", 2,
            "A command that both pilots get is answered by both, with the same number and result, "
            "and runs once. It is answered so again when it comes again.") {
  CopilotWorld world({.replicas = 3, .seed = 541});
  ASSERT_TRUE(world.WaitForPilots());
  testkit::Client client(world.cluster.simulator());
  for (std::uint64_t name = 1; name <= 10; ++name) {
    // Once, and again when it has run.
    for (int time = 0; time < 2; ++time) {
      const auto replies = AskBothPilots(world.cluster, client, "command " + std::to_string(name),
                                         std::uint64_t{77} << kRequestBits | name);
      ASSERT_EQ(replies.size(), 2U) << "a pilot does not answer";
      for (const SubmitReply& reply : replies) {
        EXPECT_EQ(reply.status, SubmitStatus::kCommitted);
        EXPECT_EQ(reply.index, name);
        EXPECT_EQ(reply.result, std::to_string(name)) << "the tally counts commands that have run";
      }
      world.cluster.RunFor(50ms);
    }
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(CopilotTakeover, ADecidedEntryIsNotTakenOver, "5d", 1,
            "Without a fault hardly any entry is taken over. A slow pilot's entries are.") {
  // A stall of a pilot's disk is a fault: its entries are taken over, and it yields.
  CopilotWorld world({.replicas = 3, .seed = 552, .profile = sim::Profile::TeachingLowJitter()});
  FrameCounter counter(world.cluster);
  ASSERT_TRUE(world.WaitForPilots());
  ASSERT_TRUE(world.Commit(20)) << "nothing is committed without a fault";
  world.SubmitEvery(5ms, 200);
  EXPECT_LT(counter.requests<Prepare>(), 40U) << "of about 400 entries";
  // A pilot whose entries are taken over yields: then the other lane alone has entries.
  EXPECT_GE(world.checker.coverage().fast, 360U) << "of about 400 entries";
  world.cluster.Begin(faults::NetSlow({0}, 400ms));
  EXPECT_LT(world.SlowestOf(400), 50ms) << "with a slow pilot";
  EXPECT_GT(counter.requests<Prepare>(), 0U) << "of a slow pilot's entries";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(CopilotTakeover, BothPilotsAreReplaced, "5d", 1,
            "When both pilots of five die, others become pilots, and nothing is lost.") {
  CopilotWorld world({.replicas = 5, .seed = 554});
  ASSERT_TRUE(world.WaitForPilots());
  ASSERT_TRUE(world.Commit(20)) << "nothing is committed without a fault";
  for (int i = 0; i < 10; ++i) world.SubmitOne();
  world.cluster.RunFor(1ms);  // some are under way
  world.cluster.Crash(0);
  world.cluster.Crash(1);
  ASSERT_TRUE(world.Commit(20, 10s));
  world.cluster.RunFor(3s);
  EXPECT_EQ(world.log().Proposers().size(), 2U);
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::copilot
