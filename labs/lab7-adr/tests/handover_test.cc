// The public tests of hand-overs: students see, run and replay them.
#include <gtest/gtest.h>

#include <cstddef>

#include "handover_world.h"
#include "testkit/environment.h"

namespace depfast::adr {
namespace {

using kv::Reply;

GRADED_TEST(HandOver, ToAWellPeer, "7d", 2,
            "A leader that finds itself slow hands over to a peer that is well: it leads within "
            "1.5 s, and nothing is lost.") {
  HandoverWorld world({.replicas = 3, .seed = 701});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_EQ(world.Do("INCR n"), Reply::Integer(1));
  PeerReport slow = HandoverWorld::Well(world.Others(leader)[0]);
  slow.levels.disk = Level::kFatal;
  const PeerId well = world.Others(leader)[1];
  world.cluster.Begin(faults::CpuSlow({leader}, 50));
  world.FindsItselfSlow(leader, {slow, HandoverWorld::Well(well)});
  EXPECT_EQ(world.WaitForSuccessor(leader, 1500ms), well) << "the leader after the slow one";
  EXPECT_EQ(world.Do("INCR n"), Reply::Integer(2));
  EXPECT_EQ(world.checker.sent().size(), 1u) << "messages";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(HandOver, NeedsABetterPeer, "7d", 1,
            "A leader that finds itself slow stays, and serves, while no peer is well.") {
  HandoverWorld world({.replicas = 3, .seed = 702});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  PeerReport warned = HandoverWorld::Well(world.Others(leader)[0]);
  warned.levels.processor = Level::kSlow;
  PeerReport old = HandoverWorld::Well(world.Others(leader)[1]);
  old.age_ns = (2 * kReportAgeMax).count();
  world.FindsItselfSlow(leader, {warned, old});
  for (int i = 1; i <= 100; ++i) {
    ASSERT_EQ(world.Do("INCR n"), Reply::Integer(i));
    world.cluster.RunFor(30ms);
  }
  EXPECT_EQ(world.checker.sent().size(), 0u) << "messages";
  EXPECT_EQ(world.checker.Leader(), leader);
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(HandOver, EndsWithoutASuccessor, "7d", 1,
            "When the message of a hand-over is lost, the leader serves again within 600 ms.") {
  HandoverWorld world({.replicas = 3, .seed = 703});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_EQ(world.Do("INCR n"), Reply::Integer(1));
  ASSERT_TRUE(world.WaitForAllApplied());
  const PeerId heir = world.Others(leader)[0];
  world.cluster.Begin(faults::CutFault({leader}, {heir}));
  world.FindsItselfSlow(leader, {HandoverWorld::Well(heir)});
  ASSERT_TRUE(world.WaitForMessage(0, 500ms)) << "no message leaves";
  const Time sent = world.cluster.now();
  ASSERT_EQ(world.IncrementAt(leader), Reply::Integer(2));
  EXPECT_LE(world.cluster.now() - sent, raft::kTakeOverMax + 200ms);
  EXPECT_EQ(world.checker.Leader(), leader);
  world.cluster.Heal();
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(HandOver, RestsBeforeTheNext, "7d", 1,
            "Each new leader finds itself slow. Three replicas hand over five times in a minute at "
            "most, and serve in between.") {
  HandoverWorld world({.replicas = 3, .seed = 704});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  const auto slow_leader = [&] {
    const PeerId leader = world.WaitForProposer();
    if (leader != kNobody) world.FindsItselfSlow(leader);
    return leader;
  };
  for (int i = 1; i <= 120; ++i) {
    ASSERT_NE(slow_leader(), kNobody);
    ASSERT_EQ(world.Do("INCR n"), Reply::Integer(i));
    world.cluster.RunFor(500ms);
  }
  EXPECT_GE(world.checker.sent().size(), 3u) << "messages";
  EXPECT_LE(world.checker.sent().size(), 5u) << "messages";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(HandOver, MeasuresEachSync, "7d", 1,
            "A replica gives each synced append to its log to MeasureSync, with the bytes of its "
            "record: as a leader, a follower, a candidate and a voter.") {
  HandoverWorld world({.replicas = 3, .seed = 705});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_EQ(world.Do("INCR n"), Reply::Integer(1));
  world.cluster.Crash(leader);
  ASSERT_NE(world.WaitForProposer(), kNobody);
  world.cluster.Restart(leader);
  ASSERT_EQ(world.Do("INCR n"), Reply::Integer(2));
  ASSERT_TRUE(world.WaitForAllApplied());
  for (PeerId replica = 0; replica < 3; ++replica) {
    EXPECT_EQ(world.Measured(replica), world.written(replica))
        << "replica " << replica << ": appends and bytes, measured and written";
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::adr
