// Hidden tests: elections.
#include <gtest/gtest.h>

#include "raft_world.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

GRADED_TEST(RaftElections, ThereIsNeverASecondLeaderInATerm, "raft", 4,
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
    RaftElections, AReplicaThatMissedEntriesCannotLead, "raft", 5,
    "Only a replica whose log is up to date can be elected, even if it is the first to ask.") {
  RaftWorld world({.replicas = 3, .seed = 210});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const PeerId stale = world.Others(leader)[0];
  const PeerId fresh = world.Others(leader)[1];
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

GRADED_TEST(RaftElections, AMinorityElectsNobodyAndCommitsNothing, "raft", 4,
            "Replicas without a majority elect no leader, commit nothing, and lose nothing.") {
  RaftWorld world({.replicas = 5, .seed = 220});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(world.Commit(20));
  const auto others = world.Others(leader);
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

GRADED_TEST(RaftElections, ASlowReplicaDeposesNobody, "raft", 3,
            "A replica at 2 % of its processor does not make the others elect a new leader.") {
  RaftWorld world({.replicas = 3, .seed = 230});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const std::uint64_t term = world.checker.claims(leader).term;
  world.cluster.Begin(sim::CpuSlow({world.Others(leader)[0]}, 2));
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

GRADED_TEST(RaftElections, HalfOfTheReplicasElectNobody, "raft", 3,
            "Half of the replicas are no majority: they elect no leader, the other half neither.") {
  RaftWorld world({.replicas = 5, .seed = 240});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const auto others = world.Others(leader);
  world.cluster.Crash(leader);
  world.cluster.Partition({others[0], others[1]});  // two against two
  world.cluster.RunFor(3s);
  EXPECT_EQ(world.checker.Leader(), kNobody) << "two of five replicas elected a leader";
  world.cluster.Heal();
  EXPECT_TRUE(world.Commit(5, 4s));
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(RaftElections, ABareMajorityElectsALeader, "raft", 4,
            "When so many replicas are dead that all others must agree, they do within 2 s.") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    RaftWorld world({.replicas = 5, .seed = 250 + seed});
    const PeerId leader = world.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    const auto others = world.Others(leader);
    const auto first = sim::PartitionFault({others[0]});
    const auto second = sim::PartitionFault({others[1]});
    world.cluster.Crash(leader);
    world.cluster.Crash(others[3]);
    world.cluster.Begin(first);
    world.cluster.Begin(second);
    world.cluster.RunFor(1500ms);  // each is alone, and campaigns
    world.cluster.End(first);
    world.cluster.End(second);
    ASSERT_NE(world.WaitForLeader(2s), kNobody) << "three of five replicas elect no leader";
    ASSERT_TRUE(world.IsSound());
  }
}

GRADED_TEST(RaftElections, AReplicaThatWasCutOffDeposesNobody, "raft", 4,
            "A replica that comes back after it was cut off does not end the leader's term.") {
  RaftWorld world({.replicas = 3, .seed = 270});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const std::uint64_t term = world.checker.claims(leader).term;
  world.cluster.Partition({world.Others(leader)[0]});
  world.cluster.RunFor(3s);  // it campaigns, in vain
  world.cluster.Heal();
  ASSERT_TRUE(world.Commit(20));
  world.cluster.RunFor(1s);
  EXPECT_EQ(world.checker.claims(leader).term, term) << "a new term began without a reason";
  EXPECT_EQ(world.checker.Leader(), leader);
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(RaftElections, ALeaderWithoutFollowersGivesUp, "raft", 3,
            "A leader that reaches no majority steps down within 2 s, so that clients look on.") {
  RaftWorld world({.replicas = 3, .seed = 280});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  world.cluster.Partition({leader});
  world.cluster.RunFor(2s);
  EXPECT_NE(world.checker.claims(leader).role, Role::kLeader)
      << "it still accepts commands that it cannot commit";
  EXPECT_TRUE(world.IsSound());
}

}  // namespace
}  // namespace depfast::raft
