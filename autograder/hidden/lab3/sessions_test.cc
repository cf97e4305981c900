// Hidden tests: sessions make retries exactly-once.
#include <gtest/gtest.h>

#include <string>

#include "kv_world.h"
#include "testkit/environment.h"

namespace depfast::kv {
namespace {

GRADED_TEST(KvSessions, ARetryGetsTheFirstReply, "kv", 5,
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

GRADED_TEST(KvSessions, SequenceNumbersOnlyGrow, "kv", 4,
            "A session executes a sequence number above its last, repeats the reply to its last, "
            "and refuses lower numbers.") {
  KvWorld world({.replicas = 3, .seed = 721});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  const std::int64_t session = world.OpenSession();
  ASSERT_GT(session, 0);
  EXPECT_EQ(world.DoInSession(session, 3, "INCR x"), Reply::Integer(1)) << "numbers may be skipped";
  EXPECT_TRUE(HasCode(world.DoInSession(session, 2, "INCR x"), "STALESEQ"));
  EXPECT_EQ(world.DoInSession(session, 3, "INCR x"), Reply::Integer(1));
  EXPECT_EQ(world.DoInSession(session, 10, "INCR x"), Reply::Integer(2));
  EXPECT_TRUE(HasCode(world.DoInSession(session, 3, "INCR x"), "STALESEQ"));
  EXPECT_EQ(world.DoInSession(session, 10, "INCR x"), Reply::Integer(2));
  for (const char* line : {"SESSION NEW 0", "SESSION NEW many", "SESSION NEW 10000001",
                           "SESSION x 1 INCR x", "SESSION -1 1 INCR x"}) {
    EXPECT_TRUE(HasCode(world.Do(line), "ERR")) << "to " << line;
  }
  EXPECT_TRUE(HasCode(world.Do("SESSION " + std::to_string(session) + " 0 INCR x"), "ERR"));
  EXPECT_EQ(world.Do("GET x"), Reply::String("2"));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(
    KvSessions, DoNotKnowEachOther, "kv", 3,
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

GRADED_TEST(KvSessions, ExpireByLogPosition, "kv", 5,
            "A session of n entries expires after more than n log entries without its use, and "
            "never by time.") {
  constexpr std::uint64_t kEntries = 20;
  KvWorld world({.replicas = 3, .seed = 723});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  const std::int64_t session = world.OpenSession(kEntries);
  ASSERT_GT(session, 0);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    for (std::uint64_t i = 1; i < kEntries; ++i) ASSERT_EQ(world.Do("SET y 1"), Reply::Ok());
    ASSERT_EQ(world.DoInSession(session, round, "INCR x"),
              Reply::Integer(static_cast<std::int64_t>(round)))
        << "the session must be alive " << kEntries << " entries after its last use";
  }
  world.cluster.RunFor(60s);
  ASSERT_EQ(world.DoInSession(session, 3, "INCR x"), Reply::Integer(3))
      << "a session must not expire by time";
  for (std::uint64_t i = 0; i < kEntries; ++i) ASSERT_EQ(world.Do("SET y 1"), Reply::Ok());
  EXPECT_TRUE(HasCode(world.DoInSession(session, 3, "INCR x"), "NOSESSION"))
      << "the session must expire " << kEntries + 1 << " entries after its last use";
  EXPECT_TRUE(HasCode(world.DoInSession(session, 4, "INCR x"), "NOSESSION"));
  EXPECT_EQ(world.Do("GET x"), Reply::String("3"));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvSessions, ARetryAtTheNextLeaderIsExecutedOnce, "kv", 4,
            "Sessions are replicated: after the leader's crash a retry at the next leader gets "
            "the first reply.") {
  KvWorld world({.replicas = 3, .seed = 724});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  const std::int64_t session = world.OpenSession();
  ASSERT_GT(session, 0);
  EXPECT_EQ(world.DoInSession(session, 1, "INCR x"), Reply::Integer(1));
  world.cluster.Crash(leader);
  EXPECT_EQ(world.DoInSession(session, 1, "INCR x"), Reply::Integer(1));
  EXPECT_EQ(world.Do("GET x"), Reply::String("1"));
  EXPECT_EQ(world.DoInSession(session, 2, "INCR x"), Reply::Integer(2));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvSessions, SurviveSnapshots, "kv", 5,
            "Snapshots hold sessions and their replies: these survive compaction and a restart of "
            "every replica.") {
  constexpr std::size_t kValueBytes = 512 * 1024;
  constexpr int kValues = 14;  // more than a log may hold
  KvWorld world({.replicas = 3, .seed = 725});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  const std::int64_t idle = world.OpenSession(kValues + 10);
  const std::int64_t session = world.OpenSession();
  ASSERT_GT(session, 0);
  EXPECT_EQ(world.DoInSession(session, 7, "INCR x"), Reply::Integer(1));
  for (int i = 0; i < kValues; ++i) {
    ASSERT_EQ(world.Do({"SET", "big", std::string(kValueBytes, 'x')}), Reply::Ok());
  }
  ASSERT_TRUE(world.WaitForAllApplied());
  for (PeerId id = 0; id < 3; ++id) {
    ASSERT_TRUE(world.log().HasSnapshot(id)) << "replica " << id << " never took a snapshot";
  }
  for (PeerId id = 0; id < 3; ++id) world.cluster.Crash(id);
  for (PeerId id = 0; id < 3; ++id) world.cluster.Restart(id);
  ASSERT_NE(world.WaitForProposer(), kNobody);
  EXPECT_EQ(world.DoInSession(session, 7, "INCR x"), Reply::Integer(1));
  EXPECT_EQ(world.Do("GET x"), Reply::String("1")) << "the retry was executed";
  EXPECT_TRUE(HasCode(world.DoInSession(session, 6, "INCR x"), "STALESEQ"));
  EXPECT_EQ(world.DoInSession(session, 8, "INCR x"), Reply::Integer(2));
  for (int i = 0; i < kValues; ++i) ASSERT_EQ(world.Do("SET y 1"), Reply::Ok());
  EXPECT_TRUE(HasCode(world.DoInSession(idle, 1, "INCR x"), "NOSESSION"))
      << "a restored session must expire like any other";
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::kv
