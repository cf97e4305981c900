// Hidden tests: clients, crashes and later elections around a hand-over.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "handover_world.h"
#include "testkit/environment.h"

namespace depfast::adr {
namespace {

using kv::Reply;

// ---- clients ----

// Clients of all replicas, each with one command under way.
class Clients {
 public:
  Clients(HandoverWorld& world, std::function<kv::Command(int who, int number)> next)
      : world_(world), next_(std::move(next)) {
    for (int who = 0; who < 2 * world.cluster.replicas(); ++who) {
      clients_.push_back(std::make_unique<kv::KvClient>(world.cluster.simulator()));
      clients_.back()->set_first(static_cast<PeerId>(who % world.cluster.replicas()));
      StartNext(who, 0);
    }
  }

  void Stop() { stopped_ = true; }
  bool AllHaveEnded() const { return open_ == 0; }
  Duration longest() const { return longest_; }
  int known() const { return known_; }
  int ended() const { return ended_; }

 private:
  void StartNext(int who, int number) {
    if (stopped_) return;
    ++open_;
    const Time begin = world_.cluster.now();
    world_.Start(*clients_[static_cast<std::size_t>(who)], who, next_(who, number),
                 [this, who, number, begin](const kv::KvOutcome& outcome) {
                   --open_;
                   ++ended_;
                   known_ += outcome.is_known() ? 1 : 0;
                   longest_ = std::max(longest_, world_.cluster.now() - begin);
                   world_.cluster.simulator().At(world_.cluster.now() + 7ms,
                                                 [=, this] { StartNext(who, number + 1); });
                 });
  }

  HandoverWorld& world_;
  const std::function<kv::Command(int, int)> next_;
  std::vector<std::unique_ptr<kv::KvClient>> clients_;
  bool stopped_ = false;
  int open_ = 0;
  int ended_ = 0;
  int known_ = 0;
  Duration longest_{0};
};

// A leader hands over under the clients' commands.
void HandOverUnder(std::uint64_t seed, int replicas,
                   const std::function<kv::Command(int, int)>& next) {
  HandoverWorld world({.replicas = replicas, .seed = seed});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  Clients clients(world, next);
  world.cluster.RunFor(300ms);
  world.FindsItselfSlow(leader);
  ASSERT_NE(world.WaitForSuccessor(leader, 1500ms), kNobody);
  world.cluster.RunFor(500ms);
  clients.Stop();
  ASSERT_TRUE(world.cluster.RunUntil([&] { return clients.AllHaveEnded(); }, 3s));
  // Shorter than the clients' patience: each command has had an answer.
  EXPECT_LE(clients.longest(), 1200ms) << "a command waits for its answer";
  EXPECT_GE(clients.known(), clients.ended() - 2 * replicas) << "outcomes that are known";
  EXPECT_TRUE(world.IsLinearizable());
}

GRADED_TEST(Drains, AnswerEveryCommand, "7d", 1,
            "Each command of clients during a hand-over has one outcome, and its answer comes "
            "within 1.2 s.") {
  for (std::uint64_t seed = 760; seed < 766; ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(HandOverUnder(seed, seed % 2 == 0 ? 3 : 5,
                                          [](int, int) { return kv::Command{"INCR", "n"}; }));
  }
}

GRADED_TEST(Drains, DoNotSpoilReads, "7d", 1,
            "Reads during a hand-over are answered, and see every command before them.") {
  for (std::uint64_t seed = 770; seed < 776; ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(HandOverUnder(seed, 3, [](int who, int number) {
      const std::string key = "k" + std::to_string(number % 2);
      if (who % 3 != 0) return kv::Command{"GET", key};
      return kv::Command{"SET", key, std::to_string(who) + "." + std::to_string(number)};
    }));
  }
}

// ---- the end of a drain ----

// An entry is under way to the successor, and to a late third replica, when the drain begins.
struct DrainWorld : HandoverWorld {
  explicit DrainWorld(std::uint64_t seed)
      : HandoverWorld({.replicas = 3, .seed = seed}), writer(cluster.simulator()) {
    leader = WaitForProposer();
    if (leader != kNobody) Do("INCR n");
    EXPECT_TRUE(WaitForAllApplied());
  }

  PeerId heir() const { return Others(leader)[0]; }
  PeerId third() const { return Others(leader)[1]; }

  void Drain() {
    writer.set_first(leader);
    Start(writer, 1, {"INCR", "n"});
    cluster.RunFor(5ms);
    FindsItselfSlow(leader, {Well(heir())});
  }

  PeerId leader = kNobody;
  kv::KvClient writer;
};

// The successor campaigns late, as its disk is slow.
void TakeNothingMeanwhile(std::uint64_t seed) {
  DrainWorld world(seed);
  ASSERT_NE(world.leader, kNobody);
  world.cluster.Begin(faults::FsDelay({world.heir()}, 400ms));
  world.FindsItselfSlow(world.leader, {HandoverWorld::Well(world.heir())});
  ASSERT_TRUE(world.WaitForMessage(0, 500ms)) << "no message leaves";
  const std::uint64_t committed = world.checker.CommittedUpTo();
  world.writer.set_first(world.leader);
  world.Start(world.writer, 1, {"INCR", "n"});
  world.cluster.RunFor(300ms);
  EXPECT_EQ(world.checker.CommittedUpTo(), committed)
      << "committed entries, at the message and 300 ms later";
  EXPECT_EQ(world.WaitForSuccessor(world.leader, 2s), world.heir());
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(Drains, GoOn, "7d", 1,
            "A leader that is well again within its drain, or whose successor is not, hands over "
            "all the same. Its message names the last committed entry. After it the leader "
            "appends no command until its successor leads.") {
  for (std::uint64_t seed = 806; seed < 809; ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    DrainWorld world(seed);
    ASSERT_NE(world.leader, kNobody);
    world.cluster.Begin(faults::NetSlow({world.heir()}, 130ms));
    world.cluster.Begin(faults::NetSlow({world.third()}, 60ms));
    world.Drain();
    world.cluster.RunFor(80ms);
    world.Plant(world.leader, {});
    ASSERT_TRUE(world.WaitForMessage(0, 500ms)) << "no message leaves";
    EXPECT_EQ(world.checker.sent()[0].last_index, world.checker.CommittedUpTo());
    EXPECT_EQ(world.WaitForSuccessor(world.leader, 1s), world.heir());
    EXPECT_TRUE(world.AllInvariantsHold());
  }
  ASSERT_NO_FATAL_FAILURE(TakeNothingMeanwhile(812));
}

GRADED_TEST(Drains, MayEndInVain, "7d", 1,
            "A successor that lacks a committed entry at the end of the drain gets no message. Its "
            "leader serves again after 300 ms, and rests for 10 s.") {
  for (std::uint64_t seed = 809; seed < 812; ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    DrainWorld world(seed);
    ASSERT_NE(world.leader, kNobody);
    world.cluster.Begin(faults::CutFault({world.leader}, {world.heir()}));
    world.cluster.Begin(faults::NetSlow({world.third()}, 130ms));
    world.Drain();
    world.cluster.RunFor(2 * raft::kHeartbeatInterval);
    const Time begin = world.cluster.now();  // of a command within the drain
    ASSERT_EQ(world.IncrementAt(world.leader), Reply::Integer(3));
    // The third replica's answer takes 130 ms.
    EXPECT_LE(world.cluster.now() - begin, raft::kDrainMax + 250ms)
        << "until the leader serves again";
    world.cluster.RunFor(500ms);
    EXPECT_EQ(world.checker.sent().size(), 0u) << "messages";
    world.cluster.Heal();
    for (int i = 4; i < 60; ++i) {
      ASSERT_EQ(world.Do("INCR n"), Reply::Integer(i));
      world.cluster.RunFor(100ms);
    }
    EXPECT_EQ(world.checker.sent().size(), 0u) << "messages within the rest";
    EXPECT_EQ(world.WaitForSuccessor(world.leader, 6s), world.heir());
    EXPECT_TRUE(world.AllInvariantsHold());
  }
}

// ---- crashes ----

// Commands come all the time, so the successor lacks some when the leader finds itself slow.
// Returns the time of the message; 0, and a failure, without one. `crash`: of that replica, at that
// time.
struct Crash {
  bool of_heir;
  Time at;
};

Time HandOverAndCrash(std::uint64_t seed, const std::optional<Crash>& crash) {
  HandoverWorld world({.replicas = 3, .seed = seed});
  const PeerId leader = world.WaitForProposer();
  if (leader == kNobody) {
    ADD_FAILURE() << "no leader";
    return Time(0);
  }
  const PeerId heir = world.Others(leader)[0];
  kv::KvClient client(world.cluster.simulator());
  client.set_first(leader);
  if (crash) {
    world.cluster.simulator().At(crash->at, [&world, victim = crash->of_heir ? heir : leader] {
      world.cluster.Crash(victim);
    });
  }
  for (int i = 0; i < 240; ++i) {
    if (i == 20) world.FindsItselfSlow(leader, {HandoverWorld::Well(heir)});
    world.Start(client, 1, {"INCR", "n"});
    world.cluster.RunFor(250us);
  }
  world.cluster.RunFor(300ms);
  EXPECT_TRUE(world.Serves(3s)) << "two of three replicas serve nobody";
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.IsLinearizable());
  const auto& sent = world.checker.sent();
  if (sent.empty() && !crash) ADD_FAILURE() << "no hand-over";
  return sent.empty() ? Time(0) : sent.front().at;
}

GRADED_TEST(HandOverCrashes, AtAnyMoment, "7d", 2,
            "The leader or its successor crashes at any moment of a hand-over: the other two "
            "serve, and nothing is lost.") {
  for (std::uint64_t seed = 780; seed < 783; ++seed) {
    const Time sent = HandOverAndCrash(seed, std::nullopt);
    for (const bool of_heir : {false, true}) {
      // A successor that dies within the drain is the rarer case.
      const Duration step = of_heir ? 200us : 1ms;
      for (Duration after = -7ms; after <= 1ms && !testing::Test::HasFailure(); after += step) {
        SCOPED_TRACE("world " + std::to_string(seed) + ", a crash of the " +
                     (of_heir ? "successor" : "leader") + " " + std::to_string(after / 1us) +
                     " us after its message");
        HandOverAndCrash(seed, Crash{of_heir, sent + after});
      }
    }
  }
}

// ---- later elections ----

GRADED_TEST(SlowReplicas, LeadLast, "7d", 2,
            "A replica that finds itself slow does not lead while another one can, which may find "
            "it slow, too. It does when all that are left are slow.") {
  for (std::uint64_t seed = 790; seed < 802; ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    HandoverWorld world({.replicas = 3, .seed = seed});
    const PeerId first = world.WaitForProposer();
    ASSERT_NE(first, kNobody);
    const PeerId slow = world.Others(first)[seed % 2];
    const PeerId well = world.Others(first)[1 - seed % 2];
    world.FindsItselfSlow(slow, {});
    world.Plant(well,
                {.suspicion = {Suspicion::Who::kPeer, slow, Resource::kProcessor}, .reports = {}});
    ASSERT_EQ(world.Do("INCR n"), Reply::Integer(1));
    ASSERT_TRUE(world.WaitForAllApplied());
    world.cluster.Crash(first);
    ASSERT_EQ(world.WaitForProposer(), well);
    world.cluster.Restart(first);
    world.cluster.RunFor(20ms);
    world.FindsItselfSlow(first, {});
    ASSERT_EQ(world.Do("INCR n"), Reply::Integer(2));
    ASSERT_TRUE(world.WaitForAllApplied());
    world.cluster.Crash(well);
    ASSERT_NE(world.WaitForProposer(4s), kNobody) << "two slow replicas elect nobody";
    EXPECT_EQ(world.Do("INCR n"), Reply::Integer(3));
    EXPECT_TRUE(world.AllInvariantsHold());
  }
}

// Two replicas are well by turns, so each hand-over is known to both. Rests: 10, 20, 40, 80, 80 s.
GRADED_TEST(
    Rests, Double, "7d", 1,
    "Two replicas are slow in turn, each as soon as it leads. Their rests double up to 80 s, "
    "and are 10 s again after 160 s without a hand-over.") {
  HandoverWorld world({.replicas = 3, .seed = 805});
  const PeerId first = world.WaitForProposer();
  ASSERT_NE(first, kNobody);
  const PeerId second = world.Others(first)[0];
  const auto be_slow_for = [&](Duration time) {
    for (const Time end = world.cluster.now() + time; world.cluster.now() < end;) {
      const PeerId leader = world.WaitForProposer();
      ASSERT_NE(leader, kNobody);
      world.FindsItselfSlow(leader, {HandoverWorld::Well(leader == first ? second : first)});
      world.cluster.RunFor(250ms);
    }
  };
  ASSERT_NO_FATAL_FAILURE(be_slow_for(240s));
  EXPECT_EQ(world.checker.sent().size(), 6u) << "messages: after 0, 10, 30, 70, 150 and 230 s";
  world.FindsNobodySlow(first);
  world.FindsNobodySlow(second);
  world.cluster.RunFor(160s);
  ASSERT_NO_FATAL_FAILURE(be_slow_for(12s));
  EXPECT_EQ(world.checker.sent().size(), 8u) << "messages: two more, 10 s apart";
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::adr
