// Public tests: elections among more replicas, partitions, and slow replicas.
#include <gtest/gtest.h>

#include "raft_world.h"
#include "still_leads.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

using Persistence = RaftWorld::Persistence;

GRADED_TEST(
    RaftElections, ThereIsNeverASecondLeaderInATerm, "2a", 1,
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

GRADED_TEST(
    RaftElections, HalfOfTheReplicasElectNobody, "2a", 1,
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

GRADED_TEST(RaftElections, ABareMajorityElectsALeader, "2a", 1,
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

GRADED_TEST(RaftElections, AReplicaThatWasCutOffDeposesNobody, "2a", 1,
            "A replica that returns after a partition does not end the leader's term.") {
  RaftWorld world({.replicas = 3, .seed = 270}, Persistence::kNotYet);
  const PeerId leader = world.WaitForElection();
  ASSERT_NE(leader, kNobody);
  const std::uint64_t term = world.checker.claims(leader).term;
  world.cluster.Partition({world.Others(leader)[0]});
  world.cluster.RunFor(3s);  // it campaigns, in vain
  world.cluster.Heal();
  world.cluster.RunFor(2s);
  EXPECT_TRUE(StillLeads(world, leader, term)) << "a new term began without need";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftElections, EveryDeadLeaderIsReplacedQuickly, "2a", 1,
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

}  // namespace
}  // namespace depfast::raft
