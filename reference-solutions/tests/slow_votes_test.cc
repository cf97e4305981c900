// Disks that take longer for a vote than an election timeout delay an election, and do not prevent
// it: all replicas on one laptop share such a disk.
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

}  // namespace
}  // namespace depfast::raft
