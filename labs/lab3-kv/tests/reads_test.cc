// Public tests: reads, and the store after a crash of all replicas.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kv_world.h"
#include "testkit/environment.h"

namespace depfast::kv {
namespace {

GRADED_TEST(KvReads, EveryReplicaAnswers, "reads", 1,
            "A replica that does not lead forwards commands to the leader.") {
  KvWorld world({.replicas = 3, .seed = 743});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  ASSERT_TRUE(world.WaitForAllApplied());
  for (PeerId id = 0; id < 3; ++id) {
    EXPECT_EQ(world.DoAt(id, Words("INCR x")), Reply::Integer(id + 1));
    EXPECT_EQ(world.DoAt(id, Words("GET x")), Reply::String(std::to_string(id + 1)));
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvReads, WriteNothing, "reads", 2, "Commands that only read do not change the log.") {
  KvWorld world({.replicas = 3, .seed = 740});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  ASSERT_EQ(world.Do("SET x 1"), Reply::Ok());
  ASSERT_TRUE(world.WaitForAllApplied());
  std::vector<std::size_t> before;
  for (PeerId id = 0; id < 3; ++id) before.push_back(world.log().LogBytes(id));
  for (int i = 0; i < 25; ++i) {
    ASSERT_EQ(world.Do("GET x"), Reply::String("1"));
    ASSERT_EQ(world.Do("MGET x y"), Reply::Array({"1", std::nullopt}));
    ASSERT_EQ(world.Do("EXISTS x y"), Reply::Integer(1));
    ASSERT_EQ(world.Do("STRLEN x"), Reply::Integer(1));
  }
  for (PeerId id = 0; id < 3; ++id) {
    EXPECT_EQ(world.log().LogBytes(id), before[static_cast<std::size_t>(id)])
        << "the log of replica " << id << " has grown";
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvDurability, ARestartOfAllLosesNothing, "snapshots", 3,
            "Acknowledged values survive when all replicas lose power at once.") {
  KvWorld world({.replicas = 3, .seed = 760}, Snapshots::kAudited);
  ASSERT_NE(world.WaitForProposer(), kNobody);
  for (int i = 1; i <= 50; ++i) {
    ASSERT_EQ(world.Do("SET k" + std::to_string(i) + " " + std::to_string(i)), Reply::Ok());
    ASSERT_EQ(world.Do("INCR n"), Reply::Integer(i));
  }
  for (PeerId id = 0; id < 3; ++id) world.cluster.Crash(id);
  for (PeerId id = 0; id < 3; ++id) world.cluster.Restart(id);
  ASSERT_NE(world.WaitForProposer(), kNobody);
  for (int i = 1; i <= 50; ++i) {
    ASSERT_EQ(world.Do("GET k" + std::to_string(i)), Reply::String(std::to_string(i)));
  }
  EXPECT_EQ(world.Do("INCR n"), Reply::Integer(51));
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::kv
