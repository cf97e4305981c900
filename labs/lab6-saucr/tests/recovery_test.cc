// The public tests of replicas that have lost entries in a crash: students see, run and replay
// them.
#include <gtest/gtest.h>

#include "safety.h"
#include "saucr_world.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

GRADED_TEST(
    SaucrRecovery, OneReplicaReturns, "6c", 2,
    "A follower that crashed in fast mode recovers its LLE and the data, and counts again.") {
  SaucrWorld world({.replicas = 5, .seed = 621});
  ASSERT_TRUE(world.BeginFast(20));
  const auto followers = world.Followers();
  world.cluster.Crash(followers[0]);
  ASSERT_TRUE(world.Commit(20));
  world.cluster.Restart(followers[0]);
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.HasRecovered(followers[0])) << "it has not learned its LLE (R21)";
  world.cluster.Crash(followers[1]);
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  const std::uint64_t fast = world.checker.coverage().fast;
  ASSERT_TRUE(world.Commit(20));
  EXPECT_GE(world.checker.coverage().fast, fast + 20) << "four of five are up";
}

GRADED_TEST(SaucrRecovery, AMajorityReturns, "6c", 2,
            "Three of five crash at once; after their return nothing is lost.") {
  SaucrWorld world({.replicas = 5, .seed = 622});
  ASSERT_TRUE(world.BeginFast(20));
  for (PeerId id = 0; id < 3; ++id) world.cluster.Crash(id);
  world.cluster.RunFor(100ms);
  for (PeerId id = 0; id < 3; ++id) world.cluster.Restart(id);
  ASSERT_TRUE(world.BeginFast(20));
  EXPECT_TRUE(world.WaitForAllApplied());
}

// It is cut off, and so without answers about its LLE. The test speaks for the others.
GRADED_TEST(SaucrRecovery, IsSilentUntilItKnows, "6c", 2,
            "A recovering replica votes, answers and acknowledges nothing.") {
  SaucrWorld world({.replicas = 5, .seed = 623});
  ASSERT_TRUE(world.BeginFast(20));
  const PeerId lost = world.Followers().front();
  const PeerId leader = world.Leader();
  world.cluster.Partition({lost});
  world.cluster.Crash(lost);
  world.cluster.Restart(lost);
  world.cluster.RunFor(500ms);
  ASSERT_EQ(world.checker.claims(lost).recovery, Recovery::kRecovering);

  const std::uint64_t term = world.checker.claims(leader).term;
  const EntryId ahead{term, 1000};
  for (const bool pre_vote : {true, false}) {
    const auto vote = world.Ask(lost, RequestVote{term + 1, leader, ahead, pre_vote});
    EXPECT_FALSE(vote && vote->granted)
        << Unsafe(Safety::kAcknowledgedIsKept) << "it grants a vote (R20)";
  }
  const auto lle = world.Ask(lost, LleQuery{1, Lives(5)});
  EXPECT_FALSE(lle && lle->recovered)
      << Unsafe(Safety::kAcknowledgedIsKept) << "it answers a question about an LLE (R20)";
  const AppendEntries beat{term + 1, leader, {}, {}, 0, Mode::kSlow, true, LleMap(5), Lives(5)};
  const auto answer = world.Ask(lost, beat);
  EXPECT_FALSE(answer && answer->success)
      << Unsafe(Safety::kAcknowledgedIsKept) << "it answers a beat (R20)";
  EXPECT_FALSE(world.Ask(lost, FetchLog{term + 1, leader, 0, 0})) << "it answers a FetchLog (R20)";

  world.cluster.Heal();
  EXPECT_TRUE(world.cluster.RunUntil([&] { return world.HasRecovered(lost); }, 3s))
      << "it has all answers, and does not recover (R21)";
  ASSERT_TRUE(world.Commit(20));
  EXPECT_TRUE(world.WaitForAllApplied());
}

}  // namespace
}  // namespace depfast::saucr
