// The public tests of the key-value lab: students see, run and replay them.
#include <gtest/gtest.h>

#include "kv_world.h"
#include "testkit/environment.h"

namespace depfast::kv {
namespace {

GRADED_TEST(Kv, ExecutesCommands, "commands", 3,
            "On a cluster without faults each command gives the reply of the contract.") {
  KvWorld world({.replicas = 3, .seed = 201});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  EXPECT_EQ(world.Do("GET x"), Reply::Nil());
  EXPECT_EQ(world.Do("SET x one"), Reply::Ok());
  EXPECT_EQ(world.Do("GET x"), Reply::String("one"));
  EXPECT_EQ(world.Do("get x"), Reply::String("one")) << "command names are case-insensitive";
  EXPECT_EQ(world.Do("APPEND x more"), Reply::Integer(7));
  EXPECT_EQ(world.Do("STRLEN x"), Reply::Integer(7));
  EXPECT_EQ(world.Do("SETNX x two"), Reply::Integer(0));
  EXPECT_EQ(world.Do("SETNX y two"), Reply::Integer(1));
  EXPECT_EQ(world.Do("GETSET y 2"), Reply::String("two"));
  EXPECT_EQ(world.Do("CAS y 2 3"), Reply::Integer(1));
  EXPECT_EQ(world.Do("CAS y 2 4"), Reply::Integer(0));
  EXPECT_EQ(world.Do("INCR y"), Reply::Integer(4));
  EXPECT_EQ(world.Do("EXISTS x y z x"), Reply::Integer(3));
  EXPECT_EQ(world.Do("DEL x z"), Reply::Integer(1));
  EXPECT_EQ(world.Do("MSET a 1 b 2 a 3"), Reply::Ok());
  EXPECT_EQ(world.Do("MGET a b x"), Reply::Array({"3", "2", std::nullopt}));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(Kv, RefusesMalformedCommands, "commands", 3,
            "An unknown command, a wrong number of arguments and INCR of a text are errors, and "
            "change nothing.") {
  KvWorld world({.replicas = 3, .seed = 202});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  EXPECT_EQ(world.Do("FROB x").text, "ERR unknown command 'FROB'");
  EXPECT_EQ(world.Do("GET").text, "ERR wrong number of arguments for 'get' command");
  EXPECT_EQ(world.Do("SET x text"), Reply::Ok());
  EXPECT_EQ(world.Do("INCR x"), NotAnInteger());
  EXPECT_EQ(world.Do("GET x"), Reply::String("text"));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(Kv, ARetryInASessionIsExecutedOnce, "sessions", 3,
            "A retry with the same sequence number gets the first reply, and is not executed "
            "again.") {
  KvWorld world({.replicas = 3, .seed = 203});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  const std::int64_t session = world.OpenSession();
  ASSERT_GT(session, 0) << "SESSION NEW gave no id";
  EXPECT_EQ(world.DoInSession(session, 1, "INCR x"), Reply::Integer(1));
  EXPECT_EQ(world.DoInSession(session, 1, "INCR x"), Reply::Integer(1));
  EXPECT_EQ(world.Do("GET x"), Reply::String("1")) << "the retry was executed";
  EXPECT_EQ(world.DoInSession(session, 2, "INCR x"), Reply::Integer(2));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(
    Kv, KeepsItsDataWhenTheLeaderDies, "snapshots", 3,
    "Acknowledged values survive the leader's crash, and can be changed afterwards. A restored "
    "snapshot gives the same state.") {
  KvWorld world({.replicas = 3, .seed = 204}, Snapshots::kAudited);
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  EXPECT_EQ(world.Do("MSET x 1 y 2"), Reply::Ok());
  world.cluster.Crash(leader);
  EXPECT_EQ(world.Do("MGET x y"), Reply::Array({"1", "2"}));
  EXPECT_EQ(world.Do("INCR x"), Reply::Integer(2));
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::kv
