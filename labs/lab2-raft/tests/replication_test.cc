// Public tests: replication over networks that lose, repeat and delay messages.
#include <gtest/gtest.h>

#include <vector>

#include "raft_world.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

using Persistence = RaftWorld::Persistence;

GRADED_TEST(RaftElections, AMinorityElectsNobodyAndCommitsNothing, "2b", 1,
            "Replicas without a majority elect no leader, commit nothing, and lose nothing.") {
  RaftWorld world({.replicas = 5, .seed = 220}, Persistence::kNotYet);
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(world.Commit(20));
  const auto others = world.Others(leader);
  world.cluster.Partition({leader, others[0]});
  const std::uint64_t committed = world.checker.claims(leader).commit_index;
  for (int i = 0; i < 10; ++i) world.SubmitOne();  // the client still sends to the old leader
  world.cluster.RunFor(50ms);
  ASSERT_TRUE(world.cluster.RunUntil(
      [&] {
        const PeerId now = world.checker.Leader();
        return now != kNobody && now != leader && now != others[0];
      },
      4s))
      << "the majority side elects no leader";
  EXPECT_LE(world.checker.claims(leader).commit_index, committed)
      << "a leader without a majority advanced its commit index";
  world.cluster.Heal();
  ASSERT_TRUE(world.Commit(10, 6s));
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftElections, AReplicaThatMissedEntriesCannotLead, "2b", 2,
            "A replica whose log is not up to date is not elected, even if it campaigns first.") {
  RaftWorld world({.replicas = 3, .seed = 210}, Persistence::kNotYet);
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const PeerId stale = world.Others(leader)[0];
  const PeerId fresh = world.Others(leader)[1];
  const auto missing = faults::PartitionFault({stale});
  const auto silent = faults::PartitionFault({fresh});
  world.cluster.Begin(missing);
  ASSERT_TRUE(world.Commit(50));
  world.cluster.Crash(leader);
  world.cluster.Begin(silent);
  world.cluster.RunFor(1s);  // each is alone, and campaigns
  world.cluster.End(missing);
  world.cluster.End(silent);
  ASSERT_TRUE(world.cluster.RunUntil([&] { return world.checker.Leader() != kNobody; }, 4s))
      << "two of three replicas elect no leader";
  EXPECT_EQ(world.checker.Leader(), fresh) << "a replica without the committed entries leads";
  EXPECT_TRUE(world.Commit(5));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(
    RaftReplication, LostDuplicatedAndLateMessagesChangeNothing, "2b", 2,
    "With 10 % of messages lost, duplicated or reordered, logs stay equal and commands commit.") {
  RaftWorld world({.replicas = 5, .seed = 320}, Persistence::kNotYet);
  ASSERT_NE(world.WaitForLeader(), kNobody);
  const std::vector<PeerId> all{0, 1, 2, 3, 4};
  world.cluster.Begin(faults::DropFault(all, 100));
  world.cluster.Begin(faults::DuplicateFault(all, 100));
  world.cluster.Begin(faults::ReorderFault(all, 100));
  for (int i = 0; i < 300; ++i) {  // one by one, so that many rounds lose messages
    world.SubmitOne();
    world.cluster.RunFor(10ms);
  }
  world.cluster.Heal();
  ASSERT_TRUE(world.Commit(10, 6s)) << "no progress after the network has healed";
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_GE(world.acknowledged(), 150u) << "most commands should survive 10 % of losses";
  EXPECT_TRUE(world.AllInvariantsHold());
}

// One follower is dead, and the other one's answers take 400 ms longer.
GRADED_TEST(RaftReplication, ADistantFollowerMakesAMajority, "2b", 1,
            "The leader and one follower whose answers take 400 ms more commit, and keep their "
            "term.") {
  RaftWorld world({.replicas = 3, .seed = 1390}, Persistence::kNotYet);
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(world.Commit(10));
  const std::uint64_t term = world.checker.claims(leader).term;
  world.cluster.Begin(faults::NetSlow({world.Others(leader)[0]}, 400ms));
  world.cluster.RunFor(1s);  // its answers come at the usual rate again
  world.cluster.Crash(world.Others(leader)[1]);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(world.Commit(5, 3s)) << "a distant follower's answers do not count";
    world.cluster.RunFor(300ms);
  }
  EXPECT_EQ(world.checker.claims(leader).term, term) << "a new term began without need";
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::raft
