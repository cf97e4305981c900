// Hidden tests: elections.
#include <gtest/gtest.h>

#include "raft_world.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

std::vector<PeerId> Others(const RaftWorld& world, PeerId replica) {
  std::vector<PeerId> others;
  for (PeerId id = 0; id < world.cluster.replicas(); ++id) {
    if (id != replica) others.push_back(id);
  }
  return others;
}

GRADED_TEST(RaftElections, ThereIsNeverASecondLeaderInATerm, "raft", 6,
            "However often leaders die or are cut off, a term has at most one leader.") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    RaftWorld world({.replicas = 5, .seed = 200 + seed});
    for (int round = 0; round < 6; ++round) {
      const PeerId leader = world.WaitForLeader(4s);
      ASSERT_NE(leader, kNobody) << "round " << round << ": no leader within 4 s";
      if (round % 2 == 0) {
        world.cluster.Partition({leader});
      } else {
        world.cluster.Crash(leader);
      }
      world.cluster.RunFor(1500ms);
      world.cluster.Heal();
      world.cluster.RunFor(700ms);
    }
    ASSERT_TRUE(world.Commit(5)) << "the healed cluster commits nothing";
    ASSERT_TRUE(world.IsSound());
  }
}

GRADED_TEST(
    RaftElections, AReplicaThatMissedEntriesCannotLead, "raft", 6,
    "Only a replica whose log is up to date can be elected, even if it is the first to ask.") {
  RaftWorld world({.replicas = 3, .seed = 210});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const PeerId stale = Others(world, leader)[0];
  const PeerId fresh = Others(world, leader)[1];
  world.cluster.Crash(stale);
  ASSERT_TRUE(world.Commit(50));
  world.cluster.Crash(leader);
  world.cluster.Crash(fresh);
  world.cluster.Restart(stale);
  world.cluster.RunFor(1s);  // it is alone, and campaigns
  world.cluster.Restart(fresh);
  ASSERT_TRUE(world.cluster.RunUntil([&] { return world.checker.Leader() != kNobody; }, 4s))
      << "two of three replicas elect no leader";
  EXPECT_EQ(world.checker.Leader(), fresh) << "a replica without the committed entries leads";
  EXPECT_TRUE(world.Commit(5));
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(RaftElections, AMinorityElectsNobodyAndCommitsNothing, "raft", 6,
            "Replicas without a majority elect no leader, commit nothing, and lose nothing.") {
  RaftWorld world({.replicas = 5, .seed = 220});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(world.Commit(20));
  const auto others = Others(world, leader);
  world.cluster.Partition({leader, others[0]});
  const std::uint64_t committed = world.checker.claims(leader).commit_index;
  for (int i = 0; i < 10; ++i) world.SubmitOne();  // the client still talks to the old leader
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
  ASSERT_TRUE(world.Commit(10, 5s));
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(RaftElections, ASlowReplicaDeposesNobody, "raft", 6,
            "A replica at 2 % of its processor does not make the others elect a new leader.") {
  RaftWorld world({.replicas = 3, .seed = 230});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const std::uint64_t term = world.checker.claims(leader).term;
  world.cluster.Begin(sim::CpuSlow({Others(world, leader)[0]}, 2));
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(world.Commit(50)) << "commands stall behind a slow follower";
    world.cluster.RunFor(20ms);
  }
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_EQ(world.checker.claims(leader).term, term)
      << "the term ended although the leader is fine";
  EXPECT_TRUE(world.IsSound());
}

}  // namespace
}  // namespace depfast::raft
