// Slow disks and elections.
//
// Disks that take longer for a vote than an election timeout delay an election, and do not prevent
// it: all replicas on one laptop share such a disk. A leader's disk that is far behind ends its
// office: a quorum hides that disk until the leader's memory is full.
#include <gtest/gtest.h>

#include <string>

#include "raft_world.h"

namespace depfast::raft {
namespace {

class SlowVotes : public testing::TestWithParam<Duration> {};

TEST_P(SlowVotes, ElectALeader) {
  const Duration delay = GetParam();
  for (const int replicas : {3, 5}) {
    RaftWorld world({.replicas = replicas, .seed = 31});
    std::vector<PeerId> all;
    for (PeerId id = 0; id < replicas; ++id) all.push_back(id);
    world.cluster.Begin(faults::FsDelay(all, delay));
    const PeerId first = world.WaitForElection(10 * delay + 5s);
    ASSERT_NE(first, kNobody) << replicas << " replicas that start";
    world.cluster.Crash(first);
    PeerId next = first;
    EXPECT_TRUE(world.cluster.RunUntil(
        [&] {
          next = world.checker.Leader();
          return next != kNobody && next != first;
        },
        10 * delay + 5s))
        << "of " << replicas << " replicas, the leader has died";
    EXPECT_TRUE(world.AllInvariantsHold());
  }
}

INSTANTIATE_TEST_SUITE_P(EachDelay, SlowVotes, testing::Values(150ms, 250ms, 400ms, 1s),
                         [](const auto& delay) {
                           return std::to_string(delay.param / 1ms) + "ms";
                         });

// After 30 s of a command a second, while each of the leader's writes takes a delay.
TEST(SlowDisks, ALeaderLeavesItsOfficeOnlyIfItIsFarBehind) {
  for (const Duration delay : {Duration(20s), Duration(800ms)}) {
    RaftWorld world({.replicas = 3, .seed = 32});
    const PeerId leader = world.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    world.cluster.Begin(faults::FsDelay({leader}, delay));
    for (int i = 0; i < 30; ++i) {
      world.client.Submit("command " + std::to_string(i), [](bool) {});
      world.cluster.RunFor(1s);
    }
    EXPECT_NE(world.checker.Leader(), kNobody);
    EXPECT_EQ(world.checker.Leader() == leader, delay < 1s);
    EXPECT_TRUE(world.AllInvariantsHold());
  }
}

}  // namespace
}  // namespace depfast::raft
