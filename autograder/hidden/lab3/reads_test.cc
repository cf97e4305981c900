// Hidden tests: reads are linearizable, and write no log entry.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kv_world.h"
#include "testkit/environment.h"

namespace depfast::kv {
namespace {

GRADED_TEST(KvReads, WriteNothing, "kv", 5, "Commands that only read do not change the log.") {
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

// Runs until another replica than `old` proposes. Returns it, or kNobody.
PeerId WaitForSuccessor(KvWorld& world, PeerId old) {
  PeerId found = kNobody;
  world.cluster.RunUntil(
      [&] {
        const auto proposers = world.log().Proposers();
        if (!proposers.empty() && proposers.front() != old) found = proposers.front();
        return found != kNobody;
      },
      4s);
  return found;
}

// The old leader is cut off and does not know it yet. Clients still reach it.
void ReadAtADeposedLeader(std::uint64_t seed) {
  KvWorld world({.replicas = 5, .seed = seed});
  const PeerId old_leader = world.WaitForProposer();
  ASSERT_NE(old_leader, kNobody);
  ASSERT_EQ(world.Do("SET x old"), Reply::Ok());
  ASSERT_TRUE(world.WaitForAllApplied());
  world.cluster.Partition({old_leader});
  const PeerId new_leader = WaitForSuccessor(world, old_leader);
  ASSERT_NE(new_leader, kNobody) << "four of five replicas elect no leader";
  ASSERT_EQ(world.DoAt(new_leader, Words("SET x new")), Reply::Ok());
  for (int i = 0; i < 5; ++i) {
    ASSERT_NE(world.DoAt(old_leader, Words("GET x")), Reply::String("old"))
        << "a leader that is cut off answered, though another one has changed the value";
  }
  ASSERT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvReads, ADeposedLeaderAnswersNoOldValue, "kv", 6,
            "A leader that is cut off answers no read with a value that was replaced later.") {
  for (std::uint64_t seed = 1; seed <= 5 && !testing::Test::HasFatalFailure(); ++seed) {
    ReadAtADeposedLeader(740 + seed);
  }
}

// The other replicas have the acknowledged entry in their logs, but do not know that it is
// committed. The next leader learns this by committing an entry of its own term.
GRADED_TEST(KvReads, ANewLeaderKnowsEverything, "kv", 3,
            "The first reads at a new leader see all values that were acknowledged before.") {
  KvWorld world({.replicas = 3, .seed = 750});
  for (int round = 1; round <= 6; ++round) {
    const std::string value = std::to_string(round);
    const PeerId leader = world.WaitForProposer(6s);
    ASSERT_NE(leader, kNobody);
    ASSERT_EQ(world.DoAt(leader, {"SET", "x", value}), Reply::Ok());
    world.cluster.Crash(leader);
    const PeerId next = WaitForSuccessor(world, leader);
    ASSERT_NE(next, kNobody) << "two of three replicas elect no leader";
    const Reply read = world.DoAt(next, Words("GET x"));
    ASSERT_TRUE(read == Reply::String(value) || HasCode(read, "TRYAGAIN"))
        << "expected \"" << value << "\", got " << ToText(read);
    world.cluster.Restart(leader);
    ASSERT_EQ(world.Do("GET x"), Reply::String(value));
    ASSERT_TRUE(world.WaitForAllApplied());
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvReads, EveryReplicaAnswers, "kv", 2,
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

}  // namespace
}  // namespace depfast::kv
