// Crashes and restarts: losses, survivors, and the state of a new incarnation.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "depfast/host/service.h"
#include "depfast/runtime.h"
#include "sim/step_host.h"
#include "world.h"

namespace depfast::sim {
namespace {

TEST(Crash, FramesOfTheBrokenConnectionDoNotReachTheNextIncarnation) {
  World world(OnFrameAtZero([](Turn& turn) {
    for (const FrameArrival& frame : turn.input.frames) turn.Send(1, *frame.bytes);
  }));
  const PeerId client = world.AddSilentClient();
  world.Start();
  world.sim.ClientSend(client, 0, MakeBytes("before"));
  world.sim.RunFor(150us);  // on the wire to 1 until 1.222 ms
  world.sim.Crash(1);
  world.sim.Restart(1);
  world.sim.ClientSend(client, 0, MakeBytes("after"));
  world.sim.RunFor(10ms);
  EXPECT_EQ(world.FramesOf(1), (std::vector<std::string>{"after"}));
}

TEST(Crash, AWriteInFlightIsTornAndNeverCompletes) {
  const std::string written(1000, 'x');
  World world(
      [&](Turn& turn) {
        if (turn.first && turn.input.now == Time::zero()) turn.Append("log", written, true);
      },
      1);
  world.sim.Start();
  world.sim.RunUntil(300us);
  world.sim.Crash(0);
  world.sim.Restart(0);
  world.sim.RunUntil(10ms);
  EXPECT_EQ(world.StepsOf(0).size(), 2U) << "the new incarnation hears of nothing";
  const std::string left = world.sim.disk(0).files().at("log").data;
  EXPECT_LT(left.size(), written.size());
  EXPECT_TRUE(written.starts_with(left));
}

TEST(Crash, ACompletionThatWasNotReadYetIsLost) {
  World world(
      [](Turn& turn) {
        if (turn.first && turn.input.now == Time::zero()) turn.Append("log", "x", true);
      },
      1);
  const PeerId client = world.AddSilentClient();
  world.sim.Start();
  world.sim.Begin(CpuSlow({0}, 1));
  world.sim.ClientSend(client, 0, MakeBytes("q"));
  world.sim.RunUntil(2500us);  // the disk is done, the replica is busy with the request
  ASSERT_EQ(world.sim.disk(0).files().at("log").data, "x");
  ASSERT_EQ(world.StepsOf(0).size(), 2U);
  world.sim.Crash(0);
  world.sim.Restart(0);
  world.sim.RunUntil(100ms);
  const auto steps = world.StepsOf(0);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_TRUE(steps[2].completions.empty());
}

TEST(Crash, TwiceIsOnceAndRestartOfTheLivingIsNothing) {
  World world(Idle, 1);
  world.Start();
  world.sim.Restart(0);
  EXPECT_TRUE(world.told.empty());
  world.sim.Crash(0, "a reason");
  world.sim.Crash(0);
  EXPECT_EQ(world.told, (std::vector<std::string>{"replica 0 dies: a reason"}));
  EXPECT_EQ(world.sim.first_death(), "");
}

// ---- incarnations ----

// Draws five numbers when it starts, and `more` others.
class Drawer : public Service {
 public:
  Drawer(Runtime& runtime, std::vector<std::vector<std::int64_t>>& drawn, int more)
      : runtime_(runtime), drawn_(drawn), more_(more) {}
  void Start() override {
    std::vector<std::int64_t> mine;
    for (int i = 0; i < 5; ++i) mine.push_back(runtime_.RandomBetween(0, 1'000'000'000));
    for (int i = 0; i < more_; ++i) (void)runtime_.RandomBetween(0, 1);
    drawn_.push_back(mine);
  }

 private:
  Runtime& runtime_;
  std::vector<std::vector<std::int64_t>>& drawn_;
  int more_;
};

// The draws of three replicas, and of replica 0 again after each of two crashes. Replica 0 draws
// `more` numbers more than the others.
std::vector<std::vector<std::int64_t>> Draws(std::uint64_t seed, int more) {
  std::vector<std::vector<std::int64_t>> drawn;
  World world(InProcessReplicas([&](Runtime& runtime) {
                return std::make_unique<Drawer>(runtime, drawn, runtime.self() == 0 ? more : 0);
              }),
              3, Exact(), seed);
  world.sim.Start();
  world.sim.RunFor(1ms);
  for (int i = 0; i < 2; ++i) {
    world.sim.Crash(0);
    world.sim.Restart(0);
    world.sim.RunFor(1ms);
  }
  return drawn;
}

TEST(Random, EveryReplicaIncarnationAndSeedHasAStreamOfItsOwn) {
  const auto drawn = Draws(1, 0);
  ASSERT_EQ(drawn.size(), 5U);
  EXPECT_EQ(std::set(drawn.begin(), drawn.end()).size(), 5U);
  EXPECT_EQ(Draws(1, 0), drawn);
  EXPECT_EQ(Draws(1, 1), drawn) << "a draw more in one place moves nothing in another";
  EXPECT_NE(Draws(2, 0), drawn);
}

// Looks at its clock all through a step, also in its constructor.
class ClockWatcher : public Service {
 public:
  ClockWatcher(Runtime& runtime, std::vector<Time>& seen) : runtime_(runtime), seen_(seen) {
    seen_.push_back(runtime_.Now());
  }
  void Start() override {
    seen_.push_back(runtime_.Now());
    for (int i = 0; i < 3; ++i) {
      runtime_.Spawn("watch", [this] {
        seen_.push_back(runtime_.Now());
        runtime_.Yield();
        seen_.push_back(runtime_.Now());
      });
    }
  }

 private:
  Runtime& runtime_;
  std::vector<Time>& seen_;
};

TEST(Clock, StandsStillWithinAStep) {
  std::vector<Time> seen;
  World world(InProcessReplicas(
                  [&](Runtime& runtime) { return std::make_unique<ClockWatcher>(runtime, seen); }),
              1, Exact(), 1);
  world.Start();
  EXPECT_EQ(seen, std::vector<Time>(8, Time::zero()));
  seen.clear();
  world.sim.Crash(0);
  world.sim.Restart(0);
  world.sim.RunFor(1ms);
  EXPECT_EQ(seen, std::vector<Time>(8, World::kStarted))
      << "a restarted replica never sees time zero";
}

// ---- deaths ----

class Thrower : public Service {
 public:
  Thrower(Runtime& runtime, const std::string& where) : runtime_(runtime), where_(where) {
    Blow("constructor");
  }
  void Start() override {
    Blow("start");
    runtime_.Spawn("worker", [this] {
      Blow("coroutine");
      if (where_ == "not an exception") throw 7;
    });
  }

 private:
  void Blow(const std::string& here) const {
    if (where_ == here) throw std::runtime_error("as told, in " + here);
  }

  Runtime& runtime_;
  std::string where_;
};

std::string DeathWhenThrowingIn(const std::string& where) {
  World world(InProcessReplicas([where](Runtime& runtime) {
                return std::make_unique<Thrower>(runtime, runtime.self() == 1 ? where : "");
              }),
              2, Exact(), 1);
  world.sim.Start();
  world.sim.RunFor(1ms);
  EXPECT_TRUE(world.sim.IsUp(0));
  EXPECT_EQ(world.sim.IsUp(1), world.sim.first_death().empty());
  return world.sim.first_death();
}

TEST(Death, AnExceptionThatEscapesIsToldWhereverItComesFrom) {
  EXPECT_EQ(DeathWhenThrowingIn("nowhere"), "");
  const std::string prefix = "replica 1 died: an exception escaped";
  EXPECT_EQ(DeathWhenThrowingIn("constructor"), prefix + ": as told, in constructor");
  EXPECT_EQ(DeathWhenThrowingIn("start"), prefix + ": as told, in start");
  EXPECT_EQ(DeathWhenThrowingIn("coroutine"), prefix + ": as told, in coroutine");
  EXPECT_EQ(DeathWhenThrowingIn("not an exception"), prefix + " that is not a std::exception");
}

TEST(Death, TheFirstOneIsRemembered) {
  World world([](Turn& turn) {
    if (turn.input.frames.empty()) return;
    turn.output.death = "of " + *turn.input.frames[0].bytes;
    turn.Send(1 - turn.self, "too late");
  });
  const PeerId client = world.AddSilentClient();
  world.Start();
  world.sim.ClientSend(client, 1, MakeBytes("thirst"));
  world.sim.RunFor(1ms);
  EXPECT_TRUE(world.sim.IsUp(0)) << "what a dying step sends does not leave";
  world.sim.ClientSend(client, 0, MakeBytes("hunger"));
  world.sim.RunFor(1ms);
  EXPECT_FALSE(world.sim.IsUp(0));
  EXPECT_FALSE(world.sim.IsUp(1));
  EXPECT_EQ(world.sim.first_death(), "replica 1 died: of thirst");
}

// A test may ask one of them that died a moment ago.
TEST(Death, TheDeadHaveNothingToReport) {
  World world([](Turn&) {});
  world.Start();
  EXPECT_NE(world.sim.DumpCoroutines(0), "");
  world.sim.Crash(0);
  EXPECT_EQ(world.sim.DumpCoroutines(0), "");
  EXPECT_EQ(world.sim.Report(0, "probe"), "");
  EXPECT_EQ(world.sim.ResidentBytes(0), 0U);
}

// ---- observers that interfere ----

struct Interferer : Observer {
  explicit Interferer(Simulator& sim) : simulator(sim) { sim.AddObserver(this); }
  void OnStep(PeerId replica, const StepInput& input, const StepOutput&) override {
    if (when == "step" && replica == 0 && !input.frames.empty()) Hit();
  }
  void OnOutputsLeave(PeerId replica, Time, const std::vector<Output>& outputs) override {
    if (when == "leave" && replica == 0 && outputs.size() > 1) Hit();
  }
  void OnDisk(PeerId replica, Time, const SimDisk&) override {
    if (when == "disk" && replica == 0) Hit();
  }
  void Hit() {
    ++hits;
    simulator.Crash(0);
    if (restart) simulator.Restart(0);
  }

  Simulator& simulator;
  std::string when;
  bool restart = false;
  int hits = 0;
};

TEST(Observers, MayCrashAndRestartTheReplicaTheyHearOf) {
  for (const char* when : {"step", "leave", "disk"}) {
    for (const bool restart : {false, true}) {
      World world(OnFrameAtZero([](Turn& turn) {
        turn.Send(1, "x");
        turn.Append("log", "x", true);
        turn.WakeAt(turn.input.now + 50us);
      }));
      const PeerId client = world.AddSilentClient();
      Interferer interferer(world.sim);
      interferer.when = when;
      interferer.restart = restart;
      world.Start();
      world.sim.ClientSend(client, 0, MakeBytes("q"));
      world.sim.RunFor(10ms);
      const std::string which = std::string(when) + (restart ? " and restart" : "");
      EXPECT_EQ(interferer.hits, 1) << which;
      EXPECT_EQ(world.sim.IsUp(0), restart) << which;
      EXPECT_EQ(world.FramesOf(1).size(), interferer.when == "disk" ? 1U : 0U) << which;
      interferer.when = "";
      world.sim.Restart(0);
      world.sim.ClientSend(client, 0, MakeBytes("q"));
      world.sim.RunFor(10ms);
      EXPECT_EQ(world.sim.disk(0).files().at("log").data,
                interferer.hits == 1 && std::string(when) == "disk" ? "xx" : "x")
          << which;
    }
  }
}

}  // namespace
}  // namespace depfast::sim
