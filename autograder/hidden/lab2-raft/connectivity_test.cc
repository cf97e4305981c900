// Hidden tests: replicas that all work, and do not all reach each other (Ng et al., "Omni-Paxos",
// EuroSys 2023, section 2).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "faults/fault.h"
#include "raft_world.h"
#include "still_leads.h"

namespace depfast::raft {
namespace {

using Persistence = RaftWorld::Persistence;

void Separate(RaftWorld& world, PeerId one, const std::vector<PeerId>& others) {
  world.cluster.Begin(faults::CutFault({one}, others));
  world.cluster.Begin(faults::CutFault(others, {one}));
}

// Leaves the connections of one replica alone, the hub's.
void LeaveAStar(RaftWorld& world, PeerId hub) {
  for (PeerId replica : world.Others(hub)) {
    std::vector<PeerId> others = world.Others(replica);
    others.erase(std::find(others.begin(), others.end(), hub));
    world.cluster.Begin(faults::CutFault({replica}, others));
  }
}

// Whether the cluster commits, and then keeps one leader for 5 s. Without that every campaign of a
// replica that does not hear the leader would stop the service again.
testing::AssertionResult ServesWithOneLeader(RaftWorld& world) {
  const auto committed = world.Commit(10, 4s);
  if (!committed) return committed;
  const PeerId leader = world.checker.Leader();
  const auto term = world.checker.claims(leader).term;
  world.cluster.RunFor(5s);
  const auto leads = StillLeads(world, leader, term);
  return leads ? world.Commit(10, 1s) : leads;
}

// One replica alone, the hub, reaches a majority. It hears the leader, unless that is cut off.
void ExpectThatTheHubIsElected(std::uint64_t seed, bool leader_is_cut_off) {
  RaftWorld world({.replicas = 5, .seed = seed}, Persistence::kNotYet);
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(world.WaitForAllApplied());  // a hub that lacks a committed entry cannot lead
  const PeerId hub = world.Others(leader)[seed % 4];
  LeaveAStar(world, hub);
  if (leader_is_cut_off) Separate(world, leader, {hub});
  EXPECT_TRUE(ServesWithOneLeader(world));
  EXPECT_EQ(world.checker.Leader(), hub);
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftConnectivity, ALeaderThatReachesOneReplicaIsReplaced, "2b", 1,
            "A leader that reaches one of four followers makes way for that one, which reaches "
            "all.") {
  for (std::uint64_t world = 1; world <= 3; ++world) {
    SCOPED_TRACE("world " + std::to_string(world));
    ExpectThatTheHubIsElected(1300 + world, /*leader_is_cut_off=*/false);
  }
}

// Its neighbours ask the hub for votes that cannot suffice, time after time.
GRADED_TEST(RaftConnectivity, TheOnlyReplicaThatReachesAMajorityIsElected, "2b", 1,
            "When the leader is cut off, and one replica alone reaches the others, it is "
            "elected.") {
  for (std::uint64_t world = 1; world <= 3; ++world) {
    SCOPED_TRACE("world " + std::to_string(world));
    ExpectThatTheHubIsElected(1310 + world, /*leader_is_cut_off=*/true);
  }
}

GRADED_TEST(RaftConnectivity, TheEndOfAChainDeposesNobody, "2b", 1,
            "In a chain of three replicas the end that does not hear the leader deposes nobody.") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    RaftWorld world({.replicas = 3, .seed = 1320 + seed}, Persistence::kNotYet);
    const PeerId leader = world.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    Separate(world, leader, {world.Others(leader)[seed % 2]});
    EXPECT_TRUE(ServesWithOneLeader(world));
    EXPECT_EQ(world.checker.Leader(), leader);
    EXPECT_TRUE(world.AllInvariantsHold());
  }
}

// The ends have entries that the middle lacks, and cannot vote for it. It must vote for one of
// them, and be brought up to date before anything is committed.
GRADED_TEST(RaftConnectivity, AMiddleThatIsBehindServesTheEnds, "2b", 1,
            "A chain of three replicas serves clients though its middle has missed entries.") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    RaftWorld world({.replicas = 3, .seed = 1330 + seed}, Persistence::kNotYet);
    const PeerId leader = world.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    const PeerId middle = world.Others(leader)[seed % 2];
    Separate(world, middle, world.Others(middle));
    ASSERT_TRUE(world.Commit(200));
    world.cluster.Heal();
    LeaveAStar(world, middle);
    EXPECT_TRUE(ServesWithOneLeader(world));
    EXPECT_TRUE(world.AllInvariantsHold());
  }
}

}  // namespace
}  // namespace depfast::raft
