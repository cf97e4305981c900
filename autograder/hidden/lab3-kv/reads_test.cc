// Hidden tests: reads are linearizable, and write no log entry.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kv_world.h"
#include "safety.h"
#include "testkit/environment.h"

namespace depfast::kv {
namespace {

// Runs until another replica than `old` proposes. Returns it, or kNobody.
PeerId WaitForSuccessor(KvWorld& world, PeerId old, Duration at_most = 4s) {
  PeerId found = kNobody;
  world.cluster.RunUntil(
      [&] {
        const auto proposers = world.log().Proposers();
        if (!proposers.empty() && proposers.front() != old) found = proposers.front();
        return found != kNobody;
      },
      at_most);
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
        << Unsafe(Safety::kReadsSeeAll)
        << "a leader that is cut off answered, though another one has changed the value";
  }
  ASSERT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvReads, ADeposedLeaderAnswersNoOldValue, "reads", 4,
            "A leader that is cut off answers no read with a value that was replaced later.") {
  for (std::uint64_t seed = 1; seed <= 5 && !testing::Test::HasFatalFailure(); ++seed) {
    ReadAtADeposedLeader(740 + seed);
  }
}

// The other replicas have the acknowledged entry in their logs, but do not know that it is
// committed. The next leader learns this by committing an entry of its own term.
GRADED_TEST(KvReads, ANewLeaderKnowsEverything, "reads", 2,
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

// The successor is known beforehand: the other follower's log ends earlier. The successor's disk is
// slow, and without the old leader its own entry needs it. A majority that answers heartbeats is
// there at once.
GRADED_TEST(KvReads, ANewLeaderFirstCommitsItsOwnEntry, "reads", 2,
            "A new leader whose disk is slow answers no read before it has committed an entry of "
            "its own term.") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    KvWorld world({.replicas = 3, .seed = 770 + seed});
    const PeerId leader = world.WaitForProposer();
    ASSERT_NE(leader, kNobody);
    const PeerId next = world.Others(leader)[0];
    // The cut does not end: what the old leader has sent would arrive then.
    world.cluster.Begin(faults::CutFault({leader}, {world.Others(leader)[1]}));
    ASSERT_EQ(world.DoAt(leader, Words("SET x acknowledged")), Reply::Ok());
    world.cluster.Crash(leader);
    world.cluster.Begin(faults::FsDelay({next}, 150ms));
    // Each of its campaigns waits for the disk.
    ASSERT_EQ(WaitForSuccessor(world, leader, 20s), next);
    const Reply read = world.DoAt(next, Words("GET x"));
    EXPECT_TRUE(read == Reply::String("acknowledged") || HasCode(read, "TRYAGAIN"))
        << "got " << ToText(read);
    EXPECT_EQ(world.Do("GET x"), Reply::String("acknowledged"));
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

// Starts a read at the replica at each of `times`, and counts the replies with a value, and the
// refusals.
struct ReadsUnderWay {
  ReadsUnderWay(KvWorld& world, PeerId replica, const std::vector<Time>& times)
      : client(world.cluster.simulator(), {.answer_timeout = 5s}), left(times.size()) {
    for (const Time when : times) {
      world.cluster.simulator().At(when, [this, replica] {
        client.Ask(replica, Words("GET x"), [this](const KvOutcome& end) {
          --left;
          if (!end.is_known()) return;
          const bool is_error = end.reply->kind == Reply::Kind::kError;
          if (!is_error) ++answered;
          if (is_error && HasCode(*end.reply, "TRYAGAIN")) ++refused;
        });
      });
    }
  }

  KvClient client;
  std::size_t left;
  std::size_t answered = 0;
  std::size_t refused = 0;
};

std::vector<Time> Every(Duration pause, Time from, Duration length) {
  std::vector<Time> times;
  for (Time when = from; when < from + length; when += pause) times.push_back(when);
  return times;
}

// A confirmation takes 30 ms. So most reads come while one is under way, and soon after a majority
// has answered a heartbeat. Writes are committed all the time, too. The checker looks at the frames
// (LogChecker::WhyMayNotRead).
GRADED_TEST(KvReads, AreConfirmedByLaterMessages, "reads", 3,
            "A read is confirmed by answers to messages that the leader sent after the read came: "
            "not by earlier ones, nor by a confirmation under way.") {
  for (const int replicas : {3, 5}) {
    KvWorld world({.replicas = replicas, .seed = 745});
    const PeerId leader = world.WaitForProposer();
    ASSERT_NE(leader, kNobody);
    ASSERT_EQ(world.Do("SET x 1"), Reply::Ok());
    world.cluster.Begin(faults::NetSlow(world.Others(leader), 30ms));
    world.cluster.RunFor(200ms);
    KvClient writer(world.cluster.simulator());
    for (const Time when : Every(10ms, world.cluster.now(), 700ms)) {
      world.cluster.simulator().At(
          when, [&] { writer.Ask(leader, Words("INCR n"), [](const KvOutcome&) {}); });
    }
    ReadsUnderWay reads(world, leader, Every(7ms, world.cluster.now(), 700ms));
    ASSERT_TRUE(world.cluster.RunUntil([&] { return reads.left == 0; }, 3s))
        << reads.left << " reads have no answer";
    EXPECT_EQ(reads.answered, 100u);
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

// A leader is cut off before an entry of its term is committed. Its reads wait for that.
void ReadsBeforeTheFirstCommit() {
  KvWorld world({.replicas = 3, .seed = 747});
  const PeerId first = world.WaitForProposer();
  ASSERT_NE(first, kNobody);
  world.cluster.Crash(first);
  const PeerId leader = WaitForSuccessor(world, first);
  ASSERT_NE(leader, kNobody) << "two of three replicas elect no leader";
  world.cluster.Begin(faults::CutFault({leader}, world.Others(leader)));
  const std::vector<Time> times = Every(45ms, world.cluster.now() + 1ms, 450ms);
  ReadsUnderWay reads(world, leader, times);
  ASSERT_TRUE(world.cluster.RunUntil([&] { return reads.left == 0; }, 4s))
      << reads.left << " reads have no answer: their leader has committed nothing";
  EXPECT_EQ(reads.refused, times.size()) << "a read has no answer, or another";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvReads, AreRefusedWithoutAMajority, "reads", 2,
            "A leader that hears no majority answers each read that it cannot confirm with "
            "TRYAGAIN, also if it has committed nothing yet.") {
  ASSERT_NO_FATAL_FAILURE(ReadsBeforeTheFirstCommit());
  for (const int replicas : {3, 5}) {
    KvWorld world({.replicas = replicas, .seed = 746});
    const PeerId leader = world.WaitForProposer();
    ASSERT_NE(leader, kNobody);
    ASSERT_EQ(world.Do("SET x 1"), Reply::Ok());
    ASSERT_TRUE(world.WaitForAllApplied());
    std::vector<PeerId> silent = world.Others(leader);
    if (replicas == 5) silent.pop_back();  // one answer is no majority of five
    world.cluster.Begin(faults::CutFault(silent, {leader}));
    world.cluster.RunFor(1ms);
    const std::vector<Time> times = Every(45ms, world.cluster.now(), 900ms);
    ReadsUnderWay reads(world, leader, times);
    ASSERT_TRUE(world.cluster.RunUntil([&] { return reads.left == 0; }, 4s))
        << reads.left << " reads have no answer";
    EXPECT_EQ(reads.answered + reads.refused, times.size()) << "a read has no answer, or another";
    EXPECT_GE(reads.refused, 3u) << "no other leader can be there yet";
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

}  // namespace
}  // namespace depfast::kv
