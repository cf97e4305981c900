// Hidden tests: sessions make retries exactly-once.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kv_world.h"
#include "testkit/environment.h"

namespace depfast::kv {
namespace {

GRADED_TEST(KvSessions, SequenceNumbersOnlyGrow, "sessions", 3,
            "A session executes a sequence number above its last, repeats the reply to its last, "
            "however long that is, and refuses lower numbers.") {
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
  const std::string id = std::to_string(session);
  for (const std::string& line :
       {"SESSION " + id + " 0 INCR x", "SESSION " + id + " 011 INCR x",
        "SESSION 0" + id + " 11 INCR x", "SESSION " + id + " 18446744073709551616 INCR x",
        std::string("SESSION NEW 01"), std::string("SESSION 99 0 INCR x")}) {
    EXPECT_TRUE(HasCode(world.Do(line), "ERR")) << "to " << line;
  }
  EXPECT_TRUE(HasCode(world.Do("SESSION 18446744073709551616 1 INCR x"), "ERR"));
  EXPECT_TRUE(HasCode(world.Do("SESSION 18446744073709551615 1 INCR x"), "NOSESSION"))
      << "the id is an unsigned integer of 64 bits, and no session has it";
  for (const char* line : {"SESSION NEW 1", "SESSION NEW 10000000", "session new"}) {
    EXPECT_EQ(world.Do(line).kind, Reply::Kind::kInteger) << "to " << line;
  }
  EXPECT_EQ(world.Do("GET x"), Reply::String("2"));
  for (const std::uint64_t bytes : {100U, 10'000U, 1'000'000U}) {
    const std::string value(bytes, 'v');
    ASSERT_EQ(world.Do({"SET", "y", value}), Reply::Ok());
    for (const char* time : {"at first", "again"}) {
      EXPECT_TRUE(world.DoInSession(session, bytes, "GETSET y z") == Reply::String(value))
          << "the reply of " << bytes << " bytes, " << time;
    }
  }
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(world.DoInSession(session, kLast, "INCR x"), Reply::Integer(3));
  EXPECT_EQ(world.DoInSession(session, kLast, "INCR x"), Reply::Integer(3));
  EXPECT_TRUE(HasCode(world.DoInSession(session, 11, "INCR x"), "STALESEQ"));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvSessions, ExpireByLogPosition, "sessions", 3,
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
  for (const bool later : {false, true}) {
    const std::int64_t first = world.OpenSession(kEntries + 1);
    const std::int64_t second = world.OpenSession(kEntries);
    for (std::uint64_t i = 0; i < kEntries; ++i) ASSERT_EQ(world.Do("SET y 1"), Reply::Ok());
    EXPECT_TRUE(HasCode(world.DoInSession(later ? second : first, 1, "INCR x"), "NOSESSION"))
        << "two sessions expire at the same entry";
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvSessions, ARetryAtTheNextLeaderIsExecutedOnce, "sessions", 3,
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

// Crashes the leader. The no-op of the next one is an entry like any other.
void ChangeLeader(KvWorld& world) {
  const PeerId leader = world.WaitForProposer(6s);
  if (leader == kNobody) return;
  world.cluster.Crash(leader);
  world.WaitForProposer(6s);
  world.cluster.Restart(leader);
}

// A random life of sessions. KvChecker knows each reply, so the commands are drawn without care.
class SessionLife {
 public:
  SessionLife(KvWorld& world, std::uint64_t seed)
      : world_(world), random_(world.cluster.simulator().options().seed, seed, 803) {}

  // A session that outlives the test. False if the store gives no id.
  bool Open() {
    lasting_.push_back({world_.OpenSession(), 0});
    return lasting_.back().id > 0;
  }

  // Opens a session, uses it at its last live index again and again, and once when it has expired;
  // before that the leader may change. False if the store gives no id.
  bool LiveToTheEdge(std::uint64_t entries, bool new_leader) {
    Session session{world_.OpenSession(entries), 1 + random_.Below(100)};
    if (session.id <= 0) return false;
    Use(session, session.sequence);
    for (int use = 0; use < 4; ++use) {
      FillUpTo(world_.log().CommittedUpTo() + entries - 1, session);
      session.sequence += random_.Below(2);
      UseLateOrNot(session);
    }
    const std::uint64_t last_live = world_.log().CommittedUpTo() + entries;
    if (new_leader) ChangeLeader(world_);
    FillUpTo(last_live, session);
    UseLateOrNot(session);
    return true;
  }

  void UseAny() {
    Session& session = lasting_[random_.Below(lasting_.size())];
    if (random_.Below(2) == 0) session.sequence += 1 + random_.Below(1'000'000'000'000);
    UseLateOrNot(session);
  }

  // Each session repeats its last number, and then a lower one.
  void RepeatAll() {
    for (const Session& session : lasting_) {
      Use(session, session.sequence);
      if (session.sequence > 1) Use(session, session.sequence - 1);
    }
  }

 private:
  struct Session {
    std::int64_t id;
    std::uint64_t sequence;  // the last that was sent
  };

  void Use(const Session& session, std::uint64_t sequence) {
    world_.DoInSession({"SESSION", std::to_string(session.id), std::to_string(sequence)}, Inner());
  }

  // Until the log ends at `index`, or the replicas execute nothing.
  void FillUpTo(std::uint64_t index, const Session& session) {
    constexpr int kAtMost = 60;  // a service may refuse some of these commands without the log
    for (int i = 0; i < kAtMost && world_.log().CommittedUpTo() < index; ++i) Fill(session);
  }

  // With the session's number, or one below.
  void UseLateOrNot(const Session& session) {
    const bool is_late = random_.Below(4) == 0 && session.sequence > 0;
    Use(session, session.sequence - (is_late ? 1 : 0));
  }

  // One entry that is no use of `session`.
  void Fill(const Session& session) {
    const std::string id = std::to_string(session.id);
    switch (random_.Below(6)) {
      case 0:
        world_.Do({"SESSION", id, "0", "INCR", "n"});
        break;
      case 1:
        world_.Do({"SESSION", id, "0" + std::to_string(session.sequence), "GET", "n"});
        break;
      case 2:
        world_.Do({"SESSION", "NEW", "0"});
        break;
      case 3:
        world_.Do({"SESSION", "4000000000", "1", "GET", "n"});
        break;
      default:
        world_.Do(Write());
        break;
    }
  }

  Command Write() {
    static const std::vector<std::size_t> kBytes = {0, 1, 20, 2'000, 70'000, kArgumentBytesMax};
    const std::string key(1, static_cast<char>('a' + random_.Below(4)));
    const std::string value(kBytes[random_.Below(kBytes.size() - (is_large_used_ ? 1 : 0))], 'v');
    is_large_used_ = is_large_used_ || value.size() == kArgumentBytesMax;
    const std::vector<Command> all = {{"SET", key, value}, {"GETSET", key, value},
                                      {"DEL", key},        {"INCR", "n"},
                                      {"INCR", key},       {"SETNX", key, "1"}};
    return all[random_.Below(all.size())];
  }

  Command Inner() {
    const std::string key(1, static_cast<char>('a' + random_.Below(4)));
    switch (random_.Below(6)) {
      case 0:
        return {"GET", key};
      case 1:
        return {"MGET", key, "b", "n", "absent"};
      case 2:
        return {"STRLEN", key};
      default:
        return Write();
    }
  }

  KvWorld& world_;
  RandomStream random_;
  std::vector<Session> lasting_;
  bool is_large_used_ = false;  // a few of the largest values are enough
};

void LiveThrough(KvWorld& world, std::uint64_t seed) {
  SessionLife life(world, seed);
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(life.Open()) << "SESSION NEW gave no id";
    ASSERT_TRUE(life.LiveToTheEdge(1 + static_cast<std::uint64_t>(round) % 4 * 3, round % 4 == 2));
    for (int i = 0; i < 6; ++i) life.UseAny();
    world.Audit();
  }
  life.RepeatAll();
  ASSERT_TRUE(world.WaitForAllApplied());
  for (PeerId id = 0; id < world.cluster.replicas(); ++id) world.cluster.Crash(id);
  for (PeerId id = 0; id < world.cluster.replicas(); ++id) world.cluster.Restart(id);
  ASSERT_NE(world.WaitForProposer(), kNobody);
  life.RepeatAll();
}

GRADED_TEST(KvSessions, FollowTheirRules, "sessions", 4,
            "Any sequence of uses, retries, stale and malformed numbers, expiries and changes of "
            "the leader gives the replies that the rules of sessions determine.") {
  SessionsMet met;
  for (std::uint64_t seed = 1; seed <= 2 && !testing::Test::HasFatalFailure(); ++seed) {
    KvWorld world({.replicas = 3, .seed = 726 + seed});
    ASSERT_NE(world.WaitForProposer(), kNobody);
    LiveThrough(world, seed);
    met += world.checker().sessions_met();
    EXPECT_TRUE(world.AllInvariantsHold());
  }
  if (testing::Test::HasFailure()) return;
  EXPECT_GE(met.retries, 40u);
  EXPECT_GE(met.stale, 10u);
  EXPECT_GE(met.malformed, 10u);
  EXPECT_GE(met.expired, 20u);
  EXPECT_GE(met.last_uses, 40u) << "sessions were used at their last live index";
}

// Opens sessions that outlive the test, many at once.
void OpenLastingSessions(KvWorld& world, std::size_t count) {
  constexpr std::size_t kUnderWay = 500;
  std::size_t started = 0;
  std::size_t opened = 0;
  std::function<void(KvClient&)> next = [&](KvClient& client) {
    if (started == count) return;
    const std::string entries = std::to_string(kSessionEntriesMax - ++started);
    client.Execute({"SESSION", "NEW", entries}, [&](const KvOutcome& end) {
      if (end.is_known() && end.reply->kind == Reply::Kind::kInteger) ++opened;
      next(client);
    });
  };
  std::vector<std::unique_ptr<KvClient>> clients;
  for (std::size_t i = 0; i < kUnderWay; ++i) {
    clients.push_back(std::make_unique<KvClient>(world.cluster.simulator()));
    next(*clients.back());
  }
  ASSERT_TRUE(world.cluster.RunUntil([&] { return opened == count; }, 20s))
      << "only " << opened << " sessions were opened";
}

GRADED_TEST(KvSessions, SurviveSnapshots, "snapshots", 2,
            "Snapshots hold sessions, their replies, their number and their expiry: these survive "
            "compaction and a restart of every replica.") {
  constexpr std::size_t kValueBytes = 512 * 1024;
  constexpr int kValues = 14;  // more than a log may hold
  KvWorld world({.replicas = 3, .seed = 725}, Snapshots::kAudited);
  ASSERT_NE(world.WaitForProposer(), kNobody);
  const std::int64_t session = world.OpenSession();
  ASSERT_GT(session, 0);
  EXPECT_EQ(world.DoInSession(session, 7, "INCR x"), Reply::Integer(1));
  ASSERT_NO_FATAL_FAILURE(OpenLastingSessions(world, kSessionsMax - 2));
  const std::int64_t idle = world.OpenSession(kValues + 10);
  ASSERT_GT(idle, 0);
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
  EXPECT_TRUE(HasCode(world.Do("SESSION NEW"), "ERR"))
      << "a store that was restored with kSessionsMax sessions opens another one";
  for (int i = 0; i < kValues; ++i) ASSERT_EQ(world.Do("SET y 1"), Reply::Ok());
  EXPECT_TRUE(HasCode(world.DoInSession(idle, 1, "INCR x"), "NOSESSION"))
      << "a restored session must expire like any other";
  EXPECT_GT(world.OpenSession(), 0) << "a restored session has expired, and makes room";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvSessions, LiveOnInSnapshots, "snapshots", 2,
            "A store that is restored from a snapshot treats every use, retry, stale number and "
            "expiry of a session alike.") {
  KvWorld world({.replicas = 3, .seed = 731}, Snapshots::kAudited);
  ASSERT_NE(world.WaitForProposer(), kNobody);
  LiveThrough(world, 3);
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The last of kSessionsMax sessions lives for two entries: the refusals after it.
GRADED_TEST(KvSessions, HaveALimit, "sessions", 2,
            "A store has kSessionsMax live sessions and no more; one that expires makes room.") {
  KvWorld world({.replicas = 3, .seed = 730});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  const std::int64_t first = world.OpenSession();
  ASSERT_GT(first, 0);
  ASSERT_NO_FATAL_FAILURE(OpenLastingSessions(world, kSessionsMax - 2));
  EXPECT_GT(world.OpenSession(2), 0) << "the last of kSessionsMax";
  EXPECT_EQ(world.Do("SESSION NEW 0"), NotAnInteger()) << "this is wrong whatever lives";
  EXPECT_TRUE(HasCode(world.Do("SESSION NEW"), "ERR")) << "one more than kSessionsMax";
  EXPECT_GT(world.OpenSession(), 0) << "a session has expired";
  EXPECT_TRUE(HasCode(world.Do("SESSION NEW"), "ERR")) << "one more than kSessionsMax";
  EXPECT_EQ(world.DoInSession(first, 1, "INCR x"), Reply::Integer(1)) << "the oldest still lives";
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::kv
