// Hidden tests: clients, crashes and later elections around a hand-over.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "handover_world.h"
#include "sim/observer.h"
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

GRADED_TEST(Drains, AnswerEveryCommand, "7d", 2,
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

// ---- crashes ----

// Crashes a replica when the n-th message between the two has left or arrived, after Arm.
class CrashAt : private sim::Observer {
 public:
  CrashAt(HandoverWorld& world, PeerId a, PeerId b) : world_(world), a_(a), b_(b) {
    world.cluster.simulator().AddObserver(this);
  }

  void Arm(int n, PeerId victim) {
    left_ = n;
    victim_ = victim;
  }
  bool has_crashed() const { return left_ == 0; }

 private:
  void OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time now, const Bytes&) override {
    const bool is_between = (from == a_ && to == b_) || (from == b_ && to == a_);
    const bool counts = stage == sim::FrameStage::kOnWire || stage == sim::FrameStage::kArrived;
    if (!is_between || !counts || left_ <= 0 || --left_ > 0) return;
    world_.cluster.simulator().At(now, [this] { world_.cluster.Crash(victim_); });
  }

  HandoverWorld& world_;
  const PeerId a_;
  const PeerId b_;
  int left_ = -1;
  PeerId victim_ = kNobody;
};

// Returns whether the n-th message came before the hand-over was over.
bool CrashAtMessage(int n, bool heir_crashes) {
  HandoverWorld world({.replicas = 3, .seed = 780});
  const PeerId leader = world.WaitForProposer();
  if (leader == kNobody) {
    ADD_FAILURE() << "no leader";
    return false;
  }
  const PeerId heir = world.Others(leader)[0];
  CrashAt crash(world, leader, heir);
  EXPECT_EQ(world.Do("SET x 0"), Reply::Ok());
  EXPECT_TRUE(world.WaitForAllApplied());
  kv::KvClient client(world.cluster.simulator());
  crash.Arm(n, heir_crashes ? heir : leader);
  world.FindsItselfSlow(leader, {HandoverWorld::Well(heir)});
  for (int i = 0; i < 40; ++i) {
    world.Start(client, 1, {"INCR", "n"});
    world.cluster.RunFor(5ms);
  }
  world.cluster.RunFor(300ms);
  const bool has_crashed = crash.has_crashed();
  world.client.set_first(world.WaitForProposer());
  EXPECT_EQ(world.Do("SET x 1"), Reply::Ok()) << "two of three replicas serve nobody";
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.IsLinearizable());
  return has_crashed;
}

GRADED_TEST(HandOverCrashes, AtAnyStep, "7d", 2,
            "The leader or its successor crashes at any step of a hand-over: the other two serve, "
            "and nothing is lost.") {
  int crashes = 0;
  for (const bool heir_crashes : {false, true}) {
    for (int n = 1; n <= 60; ++n) {
      SCOPED_TRACE((heir_crashes ? "the successor crashes at message " : "the leader at message ") +
                   std::to_string(n));
      crashes += CrashAtMessage(n, heir_crashes) ? 1 : 0;
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GE(crashes, 60);
}

// ---- later elections ----

GRADED_TEST(SlowReplicas, LeadLast, "7d", 2,
            "A replica that finds itself slow does not lead while another one can, and does when "
            "all that are left are slow.") {
  for (std::uint64_t seed = 790; seed < 802; ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    HandoverWorld world({.replicas = 3, .seed = seed});
    const PeerId first = world.WaitForProposer();
    ASSERT_NE(first, kNobody);
    const PeerId slow = world.Others(first)[seed % 2];
    const PeerId well = world.Others(first)[1 - seed % 2];
    world.FindsItselfSlow(slow, {});
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

// Two replicas are well by turns, so each hand-over is known to both. Rests: 10, 20, 40, 80 s.
GRADED_TEST(
    Rests, Double, "7d", 1,
    "Two replicas are slow in turn, each as soon as it leads. Their rests double up to 80 s, "
    "and then they hand over again.") {
  HandoverWorld world({.replicas = 3, .seed = 805});
  const PeerId first = world.WaitForProposer();
  ASSERT_NE(first, kNobody);
  const PeerId second = world.Others(first)[0];
  for (Time end = world.cluster.now() + 160s; world.cluster.now() < end;) {
    const PeerId leader = world.WaitForProposer();
    ASSERT_NE(leader, kNobody);
    world.FindsItselfSlow(leader, {HandoverWorld::Well(leader == first ? second : first)});
    world.cluster.RunFor(250ms);
  }
  EXPECT_EQ(world.checker.sent().size(), 5u) << "messages: after 0, 10, 30, 70 and 150 s";
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::adr
