// The public tests of the Raft lab: what a student sees, runs and replays.
#include <gtest/gtest.h>

#include "raft_world.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

GRADED_TEST(Raft, ElectsOneLeaderAndKeepsIt, "raft", 5,
            "Without faults a leader is elected within 2 s, and its term does not end.") {
  RaftWorld world({.replicas = 3, .seed = 101});
  const PeerId leader = world.WaitForLeader(2s);
  ASSERT_NE(leader, kNobody) << "no replica became leader and opened its term within 2 s";
  const std::uint64_t term = world.checker.claims(leader).term;
  world.cluster.RunFor(3s);
  EXPECT_EQ(world.checker.Leader(), leader) << "leadership moved although nothing went wrong";
  EXPECT_EQ(world.checker.claims(leader).term, term) << "a new term began without a reason";
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(Raft, CommitsCommandsOnEveryReplica, "raft", 5,
            "Commands are committed, acknowledged, and applied by every replica in one order.") {
  RaftWorld world({.replicas = 5, .seed = 102});
  ASSERT_NE(world.WaitForLeader(), kNobody);
  ASSERT_TRUE(world.Commit(100, 2s)) << world.acknowledged() << " of 100 commands were committed";
  ASSERT_TRUE(world.WaitForAllApplied()) << "some replica never applied what was committed";
  EXPECT_EQ(world.checker.commands_applied(), 100u);
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(Raft, ElectsAnotherLeaderAfterACrash, "raft", 5,
            "When the leader dies, another one is elected within 3 s and commits commands.") {
  RaftWorld world({.replicas = 3, .seed = 103});
  const PeerId first = world.WaitForLeader();
  ASSERT_NE(first, kNobody);
  ASSERT_TRUE(world.Commit(10));
  world.cluster.Crash(first);
  const PeerId second = world.WaitForLeader(3s);
  ASSERT_NE(second, kNobody) << "nobody took over within 3 s";
  EXPECT_NE(second, first);
  EXPECT_TRUE(world.Commit(10)) << "the new leader commits nothing";
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(Raft, ARestartedReplicaCatchesUp, "raft", 5,
            "A replica that was down gets what it missed, and applies it.") {
  RaftWorld world({.replicas = 3, .seed = 104});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const PeerId victim = (leader + 1) % 3;
  world.cluster.Crash(victim);
  ASSERT_TRUE(world.Commit(200)) << "two of three replicas must make progress";
  world.cluster.Restart(victim);
  ASSERT_TRUE(world.WaitForAllApplied()) << "the restarted replica stays behind";
  EXPECT_EQ(world.checker.claims(victim).applied_index, world.checker.MaxCommitIndex());
  EXPECT_TRUE(world.IsSound());
}

}  // namespace
}  // namespace depfast::raft
