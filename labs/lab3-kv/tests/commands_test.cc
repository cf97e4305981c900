// Public tests: single commands and sessions.
#include <gtest/gtest.h>

#include "kv_world.h"
#include "testkit/environment.h"

namespace depfast::kv {
namespace {

GRADED_TEST(KvCommands, CasChangesTheExpectedValue, "commands", 2,
            "CAS sets a value only if the key holds exactly the expected one.") {
  KvWorld world({.replicas = 3, .seed = 701});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  EXPECT_EQ(world.Do({"CAS", "x", "", "1"}), Reply::Integer(0)) << "an absent key is not empty";
  EXPECT_EQ(world.Do("EXISTS x"), Reply::Integer(0));
  EXPECT_EQ(world.Do("SET x 1"), Reply::Ok());
  EXPECT_EQ(world.Do("CAS x 01 2"), Reply::Integer(0));
  EXPECT_EQ(world.Do("GET x"), Reply::String("1"));
  EXPECT_EQ(world.Do("CAS x 1 2"), Reply::Integer(1));
  EXPECT_EQ(world.Do("GET x"), Reply::String("2"));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvCommands, GetsetAnswersTheOldValue, "commands", 1,
            "GETSET answers the old value, or nil for an absent key.") {
  KvWorld world({.replicas = 3, .seed = 702});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  EXPECT_EQ(world.Do("GETSET x 1"), Reply::Nil());
  EXPECT_EQ(world.Do("GETSET x 2"), Reply::String("1"));
  EXPECT_EQ(world.Do("GET x"), Reply::String("2"));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvSessions, ARetryGetsTheFirstReply, "sessions", 4,
            "A retry gets the reply of the first execution, even after other clients' writes.") {
  KvWorld world({.replicas = 3, .seed = 720});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  const std::int64_t session = world.OpenSession();
  ASSERT_GT(session, 0);
  EXPECT_EQ(world.DoInSession(session, 1, "GETSET x mine"), Reply::Nil());
  EXPECT_EQ(world.Do("SET x other"), Reply::Ok());
  EXPECT_EQ(world.DoInSession(session, 1, "GETSET x mine"), Reply::Nil());
  EXPECT_EQ(world.Do("GET x"), Reply::String("other")) << "the retry was executed";
  EXPECT_EQ(world.DoInSession(session, 2, "GET x"), Reply::String("other"));
  EXPECT_EQ(world.Do("SET x later"), Reply::Ok());
  EXPECT_EQ(world.DoInSession(session, 2, "GET x"), Reply::String("other"))
      << "the retry of a read must get the first reply, too";
  EXPECT_EQ(world.DoInSession(session, 3, "INCR x"), NotAnInteger());
  EXPECT_EQ(world.Do("SET x 5"), Reply::Ok());
  EXPECT_EQ(world.DoInSession(session, 3, "INCR x"), NotAnInteger()) << "an error is a reply";
  EXPECT_EQ(world.Do("GET x"), Reply::String("5"));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(
    KvSessions, DoNotKnowEachOther, "sessions", 2,
    "Each session has its own sequence numbers and replies; an unknown session is refused.") {
  KvWorld world({.replicas = 3, .seed = 722});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  const std::int64_t first = world.OpenSession();
  const std::int64_t second = world.OpenSession();
  ASSERT_GT(first, 0);
  ASSERT_GT(second, 0);
  ASSERT_NE(first, second);
  EXPECT_EQ(world.DoInSession(first, 1, "INCR x"), Reply::Integer(1));
  EXPECT_EQ(world.DoInSession(second, 1, "INCR x"), Reply::Integer(2));
  EXPECT_EQ(world.DoInSession(first, 1, "INCR x"), Reply::Integer(1));
  EXPECT_EQ(world.DoInSession(second, 1, "INCR x"), Reply::Integer(2));
  EXPECT_TRUE(HasCode(world.DoInSession(second + 1000, 1, "INCR x"), "NOSESSION"));
  EXPECT_EQ(world.Do("GET x"), Reply::String("2"));
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::kv
