// The first public tests of each part of the Raft lab: students see, run and replay them.
#include <gtest/gtest.h>

#include "raft_world.h"
#include "still_leads.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

using Persistence = RaftWorld::Persistence;

GRADED_TEST(Raft, ElectsOneLeaderAndKeepsIt, "2a", 2,
            "Without faults a leader is elected within 2 s and keeps its term.") {
  RaftWorld world({.replicas = 3, .seed = 101}, Persistence::kNotYet);
  const PeerId leader = world.WaitForElection(2s);
  ASSERT_NE(leader, kNobody) << "no replica became leader within 2 s";
  const std::uint64_t term = world.checker.claims(leader).term;
  world.cluster.RunFor(3s);
  EXPECT_TRUE(StillLeads(world, leader, term)) << "leadership moved without a fault";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(Raft, ALeaderThatDiesIsReplaced, "2a", 1,
            "When the leader dies, another replica leads a later term within 2 s.") {
  RaftWorld world({.replicas = 3, .seed = 105}, Persistence::kNotYet);
  const PeerId first = world.WaitForElection();
  ASSERT_NE(first, kNobody);
  const std::uint64_t term = world.checker.claims(first).term;
  world.cluster.Crash(first);
  const PeerId second = world.WaitForElection(2s);
  ASSERT_NE(second, kNobody) << "two of three replicas elect no leader";
  EXPECT_GT(world.checker.claims(second).term, term);
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(Raft, CommitsCommandsOnEveryReplica, "2b", 2,
            "Commands are committed, acknowledged, and applied by every replica in one order.") {
  RaftWorld world({.replicas = 5, .seed = 102}, Persistence::kNotYet);
  ASSERT_NE(world.WaitForLeader(), kNobody);
  ASSERT_TRUE(world.Commit(100, 2s)) << world.acknowledged() << " of 100 commands were committed";
  ASSERT_TRUE(world.WaitForAllApplied()) << "a replica did not apply all committed commands";
  EXPECT_EQ(world.checker.commands_applied(), 100u);
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(Raft, ElectsAnotherLeaderAfterACrash, "2b", 3,
            "When the leader dies, another replica leads within 3 s and commits commands.") {
  RaftWorld world({.replicas = 3, .seed = 103}, Persistence::kNotYet);
  const PeerId first = world.WaitForLeader();
  ASSERT_NE(first, kNobody);
  ASSERT_TRUE(world.Commit(10));
  world.cluster.Crash(first);
  const PeerId second = world.WaitForLeader(3s);
  ASSERT_NE(second, kNobody) << "no other replica leads within 3 s";
  EXPECT_NE(second, first);
  EXPECT_TRUE(world.Commit(10)) << "the new leader commits nothing";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(Raft, ARestartedReplicaCatchesUp, "2c", 2,
            "A replica that was down receives the entries it missed, and applies them.") {
  RaftWorld world({.replicas = 3, .seed = 104});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const PeerId victim = (leader + 1) % 3;
  world.cluster.Crash(victim);
  ASSERT_TRUE(world.Commit(200)) << "two of three replicas must make progress";
  world.cluster.Restart(victim);
  ASSERT_TRUE(world.WaitForAllApplied()) << "the restarted replica stays behind";
  EXPECT_EQ(world.checker.claims(victim).applied_index, world.checker.MaxCommitIndex());
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(
    Raft, AReplicaThatWasAwayGetsASnapshot, "2d", 2,
    "A replica that missed 8 MB of commands receives a snapshot and the entries after it.") {
  RaftWorld world({.replicas = 3, .seed = 106});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const PeerId away = (leader + 1) % 3;
  world.cluster.Crash(away);
  ASSERT_TRUE(world.CommitBytes(std::size_t{8} << 20)) << "two of three replicas make no progress";
  world.cluster.Restart(away);
  ASSERT_TRUE(world.WaitForAllApplied()) << "the replica that was away stays behind";
  EXPECT_GE(world.checker.claims(away).restored, 1u) << "it received all entries and no snapshot";
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::raft
