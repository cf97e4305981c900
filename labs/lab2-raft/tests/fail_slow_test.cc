// Public tests: a slow follower delays nobody, mildly or very slow, for a short or a long time.
#include <gtest/gtest.h>

#include <vector>

#include "raft_world.h"
#include "testkit/environment.h"
#include "testkit/judged.h"

namespace depfast::raft {
namespace {

// The time of `commands` commands, one after the other; kForever if one does not commit.
Duration TimeOf(RaftWorld& world, int commands) {
  const Time begin = world.cluster.now();
  for (int i = 0; i < commands; ++i) {
    if (!world.Commit(1, 1s)) return kForever;
  }
  return world.cluster.now() - begin;
}

// One follower is slow while others commit: mildly, very much, and for long.
class OneSlowFollower {
 public:
  explicit OneSlowFollower(int replicas) : world_({.replicas = replicas, .seed = 1410}) {}

  void Run(Duration for_long) {
    const PeerId leader = world_.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    follower_ = world_.Others(leader).front();
    ASSERT_TRUE(world_.Commit(10));
    usual_ = TimeOf(world_, kCommands);
    for (const Duration late : {5ms, 10ms, 30ms, 400ms}) Suffer(faults::NetSlow({follower_}, late));
    Suffer(faults::FsDelay({follower_}, 30ms));
    Suffer(faults::CpuSlow({follower_}, 5));
    SufferForLong(for_long);
    EXPECT_EQ(world_.log().Proposers(), std::vector<PeerId>{leader}) << "the leader has changed";
    EXPECT_TRUE(world_.AllInvariantsHold());
  }

 private:
  static constexpr int kCommands = 40;

  // With a spare, a majority is a little quicker than without.
  void ExpectUsual(const char* when) {
    const Time begin = world_.cluster.now();
    const Duration took = TimeOf(world_, kCommands);
    if (took > 2 * usual_) testkit::RecordJudged({.rule = "commands are slow", .at = begin});
    EXPECT_LE(took, 2 * usual_) << "commands are slow " << when;
  }

  void Suffer(const faults::Fault& fault) {
    world_.cluster.Begin(fault);
    ExpectUsual("while one follower is");
    world_.cluster.Heal();
    ExpectUsual("although no follower is any more");
  }

  // The commands never pause, and it catches up nevertheless.
  void SufferForLong(Duration length) {
    world_.cluster.Begin(faults::NetSlow({follower_}, 400ms));
    SubmitFor(length);
    ExpectUsual("after a follower was slow for long");
    world_.cluster.Heal();
    const std::uint64_t missed = world_.log().CommittedUpTo();
    SubmitFor(2s);
    EXPECT_GE(world_.log().AppliedUpTo(follower_), missed) << "it does not catch up under load";
  }

  // There is always a command under way.
  void SubmitFor(Duration length) {
    const Time end = world_.cluster.now() + length;
    while (world_.cluster.now() < end) {
      world_.SubmitOne();
      world_.cluster.RunFor(2ms);
    }
  }

  RaftWorld world_;
  PeerId follower_ = kNobody;
  Duration usual_{0};
};

GRADED_TEST(RaftFailSlow, ASlowFollowerDelaysNoCommand, "2c", 1,
            "One slow follower delays no command: late by 5 or by 400 ms, for a short or a long "
            "time, and after it has recovered.") {
  OneSlowFollower(3).Run(14s);
  if (!HasFailure()) OneSlowFollower(5).Run(2s);
}

}  // namespace
}  // namespace depfast::raft
