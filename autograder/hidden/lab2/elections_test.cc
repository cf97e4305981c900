// Hidden tests: elections.
#include <gtest/gtest.h>

#include "raft_world.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

using Persistence = RaftWorld::Persistence;

GRADED_TEST(
    RaftElections, ThereIsNeverASecondLeaderInATerm, "2a", 3,
    "A term has at most one leader, however often leaders are cut off, alone or in pairs.") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    RaftWorld world({.replicas = 5, .seed = 200 + seed}, Persistence::kNotYet);
    for (int round = 0; round < 6; ++round) {
      const PeerId leader = world.WaitForElection(4s);
      ASSERT_NE(leader, kNobody) << "round " << round << ": no leader within 4 s";
      if (round % 2 == 0) {
        world.cluster.Partition({leader});
      } else {
        world.cluster.Partition({leader, world.Others(leader)[0]});
      }
      world.cluster.RunFor(1500ms);
      world.cluster.Heal();
      world.cluster.RunFor(700ms);
    }
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

GRADED_TEST(RaftElections, AReplicaThatMissedEntriesCannotLead, "2b", 3,
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

GRADED_TEST(RaftElections, AMinorityElectsNobodyAndCommitsNothing, "2b", 2,
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

GRADED_TEST(RaftElections, ASlowReplicaDeposesNobody, "2b", 2,
            "A replica at 2 % of its processor does not make the others elect a new leader.") {
  RaftWorld world({.replicas = 3, .seed = 230}, Persistence::kNotYet);
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const std::uint64_t term = world.checker.claims(leader).term;
  world.cluster.Begin(faults::CpuSlow({world.Others(leader)[0]}, 2));
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(world.Commit(50)) << "commands stall behind a slow follower";
    world.cluster.RunFor(20ms);
  }
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_EQ(world.checker.claims(leader).term, term)
      << "the term ended although the leader is healthy";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(
    RaftElections, HalfOfTheReplicasElectNobody, "2a", 2,
    "Two of five replicas are no majority: neither pair of live replicas elects a leader.") {
  RaftWorld world({.replicas = 5, .seed = 240}, Persistence::kNotYet);
  const PeerId leader = world.WaitForElection();
  ASSERT_NE(leader, kNobody);
  const auto others = world.Others(leader);
  world.cluster.Crash(leader);
  const auto halves = faults::PartitionFault({others[0], others[1]});
  world.cluster.Begin(halves);
  world.cluster.RunFor(3s);
  EXPECT_EQ(world.checker.Leader(), kNobody) << "two of five replicas elected a leader";
  world.cluster.End(halves);
  EXPECT_NE(world.WaitForElection(4s), kNobody) << "four of five replicas elect no leader";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftElections, ABareMajorityElectsALeader, "2a", 2,
            "When just a majority of replicas is alive, all of them elect a leader within 2 s.") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    RaftWorld world({.replicas = 7, .seed = 250 + seed}, Persistence::kNotYet);
    const PeerId leader = world.WaitForElection();
    ASSERT_NE(leader, kNobody);
    const auto others = world.Others(leader);
    world.cluster.RunFor(200ms);  // every replica knows the leader
    const faults::FaultPlan alone{faults::PartitionFault({others[0]}),
                                  faults::PartitionFault({others[1]}),
                                  faults::PartitionFault({others[2]})};
    for (PeerId id : {leader, others[4], others[5]}) world.cluster.Crash(id);
    for (const faults::Fault& fault : alone) world.cluster.Begin(fault);
    world.cluster.RunFor(1500ms);  // the four live replicas campaign, each alone
    for (const faults::Fault& fault : alone) world.cluster.End(fault);
    ASSERT_NE(world.WaitForElection(2s), kNobody) << "four of seven replicas elect no leader";
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

GRADED_TEST(RaftElections, AReplicaThatWasCutOffDeposesNobody, "2a", 2,
            "A replica that returns after a partition does not end the leader's term.") {
  RaftWorld world({.replicas = 3, .seed = 270}, Persistence::kNotYet);
  const PeerId leader = world.WaitForElection();
  ASSERT_NE(leader, kNobody);
  const std::uint64_t term = world.checker.claims(leader).term;
  world.cluster.Partition({world.Others(leader)[0]});
  world.cluster.RunFor(3s);  // it campaigns, in vain
  world.cluster.Heal();
  world.cluster.RunFor(2s);
  EXPECT_EQ(world.checker.claims(leader).term, term) << "a new term began without need";
  EXPECT_EQ(world.checker.Leader(), leader);
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftElections, ALeaderWithoutFollowersGivesUp, "2a", 2,
            "A leader that reaches no majority steps down within 2 s.") {
  RaftWorld world({.replicas = 3, .seed = 280}, Persistence::kNotYet);
  const PeerId leader = world.WaitForElection();
  ASSERT_NE(leader, kNobody);
  world.cluster.Partition({leader});
  world.cluster.RunFor(2s);
  EXPECT_NE(world.checker.claims(leader).role, Role::kLeader)
      << "it still accepts commands that it cannot commit";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftElections, EveryDeadLeaderIsReplacedQuickly, "2a", 3,
            "Each dead leader is replaced within 2 s, as long as a majority is alive.") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RaftWorld world({.replicas = 7, .seed = 1200 + seed}, Persistence::kNotYet);
    for (int dead = 0; dead <= 3; ++dead) {
      const PeerId leader = world.WaitForElection(2s);
      ASSERT_NE(leader, kNobody) << "with " << dead << " of 7 replicas dead";
      world.cluster.RunFor(300ms);
      ASSERT_NE(world.checker.Leader(), kNobody);
      world.cluster.Crash(world.checker.Leader());
    }
    world.cluster.RunFor(2s);
    ASSERT_EQ(world.checker.Leader(), kNobody) << "three of seven replicas elected a leader";
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

GRADED_TEST(RaftElections, SplitVotesAreSettled, "2a", 2,
            "Replicas that campaign at the same time, repeatedly, elect a leader within 4 s.") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RaftWorld world({.replicas = 4, .seed = 1220 + seed}, Persistence::kNotYet);
    world.cluster.Begin(
        faults::NetSlow({0, 1, 2, 3}, 60ms));  // a campaign takes longer: more collide
    const PeerId leader = world.WaitForElection(4s);
    ASSERT_NE(leader, kNobody) << "four replicas elect no leader";
    world.cluster.Crash(leader);
    ASSERT_NE(world.WaitForElection(4s), kNobody) << "three of four replicas elect no leader";
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

// Two replicas that missed entries ask for votes repeatedly, and must not get them. The only
// replica that can lead receives these requests more often than its election timeout.
GRADED_TEST(RaftElections, ADeniedVoteDoesNotPostponeTheElection, "2b", 2,
            "A replica that denies its vote does not postpone its own campaign.") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    RaftWorld world({.replicas = 5, .seed = 1240 + seed}, Persistence::kNotYet);
    const PeerId leader = world.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    const auto others = world.Others(leader);
    const auto missing = faults::PartitionFault({others[0], others[1]});
    world.cluster.Begin(missing);
    ASSERT_TRUE(world.Commit(20));
    world.cluster.RunFor(1s);
    world.cluster.Crash(leader);
    world.cluster.Crash(others[2]);
    world.cluster.End(missing);
    ASSERT_NE(world.WaitForElection(2s), kNobody) << "three of five replicas elect no leader";
    EXPECT_EQ(world.checker.Leader(), others[3]) << "a replica without the committed entries leads";
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

}  // namespace
}  // namespace depfast::raft
