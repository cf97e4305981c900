// Hidden tests: reads are linearizable, and cost no entry of the log.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kv_world.h"
#include "testkit/environment.h"

namespace depfast::kv {
namespace {

GRADED_TEST(KvReads, WriteNothing, "kv", 5, "Commands that only read leave the log as it is.") {
  KvWorld world({.replicas = 3, .seed = 740});
  ASSERT_NE(world.WaitForLeader(), raft::kNobody);
  ASSERT_EQ(world.Do("SET x 1"), Reply::Ok());
  ASSERT_TRUE(world.WaitForAllApplied());
  std::vector<std::size_t> before;
  for (PeerId id = 0; id < 3; ++id) before.push_back(world.LogBytes(id));
  for (int i = 0; i < 25; ++i) {
    ASSERT_EQ(world.Do("GET x"), Reply::String("1"));
    ASSERT_EQ(world.Do("MGET x y"), Reply::Array({"1", std::nullopt}));
    ASSERT_EQ(world.Do("EXISTS x y"), Reply::Integer(1));
    ASSERT_EQ(world.Do("STRLEN x"), Reply::Integer(1));
  }
  for (PeerId id = 0; id < 3; ++id) {
    EXPECT_EQ(world.LogBytes(id), before[static_cast<std::size_t>(id)])
        << "the log of replica " << id << " has grown";
  }
  EXPECT_TRUE(world.IsSound());
}

// The old leader is cut off and does not know it yet; clients reach it all the same.
GRADED_TEST(KvReads, ADeposedLeaderAnswersNoOldValue, "kv", 6,
            "A leader that is cut off answers no read with a value that has been replaced since.") {
  KvWorld world({.replicas = 5, .seed = 741});
  const PeerId old_leader = world.WaitForLeader();
  ASSERT_NE(old_leader, raft::kNobody);
  ASSERT_EQ(world.Do("SET x 0"), Reply::Ok());
  for (int round = 1; round <= 40; ++round) {
    if (round == 2) world.cluster.Partition({old_leader});
    KvClient old_side(world.cluster.simulator());
    KvClient new_side(world.cluster.simulator());
    new_side.set_first(world.Others(old_leader)[0]);
    bool ended = false;
    world.Start(new_side, 1, {"SET", "x", std::to_string(round)},
                [&](const KvOutcome&) { ended = true; });
    world.cluster.RunUntil([&] { return ended; }, 100ms);
    const Reply read = world.DoAt(old_leader, Words("GET x"));
    if (read.kind == Reply::Kind::kString && ended) {
      ASSERT_EQ(read, Reply::String(std::to_string(round))) << "the read is stale";
    }
    ASSERT_TRUE(world.cluster.RunUntil([&] { return ended; }, 10s));
  }
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(KvReads, ANewLeaderKnowsEverything, "kv", 3,
            "The first reads at a new leader see all that was acknowledged before.") {
  KvWorld world({.replicas = 3, .seed = 742});
  for (int round = 1; round <= 6; ++round) {
    const PeerId leader = world.WaitForLeader(6s);
    ASSERT_NE(leader, raft::kNobody);
    ASSERT_EQ(world.Do("SET x " + std::to_string(round)), Reply::Ok());
    world.cluster.Crash(leader);
    ASSERT_EQ(world.Do("GET x"), Reply::String(std::to_string(round)));
    world.cluster.Restart(leader);
    ASSERT_TRUE(world.WaitForAllApplied());
  }
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(KvReads, EveryReplicaAnswers, "kv", 2,
            "A replica that does not lead passes commands on to the leader.") {
  KvWorld world({.replicas = 3, .seed = 743});
  ASSERT_NE(world.WaitForLeader(), raft::kNobody);
  ASSERT_TRUE(world.WaitForAllApplied());
  for (PeerId id = 0; id < 3; ++id) {
    EXPECT_EQ(world.DoAt(id, Words("INCR x")), Reply::Integer(id + 1));
    EXPECT_EQ(world.DoAt(id, Words("GET x")), Reply::String(std::to_string(id + 1)));
  }
  EXPECT_TRUE(world.IsSound());
}

}  // namespace
}  // namespace depfast::kv
