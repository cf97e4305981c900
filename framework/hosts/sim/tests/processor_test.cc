// What a step costs, when it begins, what it reads and what happens when memory runs out.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "depfast/host/service.h"
#include "depfast/runtime.h"
#include "sim/step_host.h"
#include "world.h"

namespace depfast::sim {
namespace {

constexpr Time kStarted = World::kStarted;
constexpr Duration kWire = 100us;  // Exact().net.latency
constexpr Duration kPerByte = 2ns;

// When a client's frame of `bytes` bytes, sent at `when` alone, is there.
Time ArrivalOf(Time when, std::int64_t bytes) { return when + bytes * kPerByte + kWire; }

TEST(Events, OfOneInstantHappenInTheOrderOfScheduling) {
  World world(Idle);
  std::string order;
  world.sim.At(5us, [&] {
    order += "a";
    world.sim.At(5us, [&] { order += "d"; });
  });
  world.sim.At(6us, [&] { order += "e"; });
  world.sim.At(5us, [&] { order += "b"; });
  world.sim.At(4us, [&] { order += "0"; });
  world.sim.At(5us, [&] { order += "c"; });
  world.sim.RunUntil(1ms);
  EXPECT_EQ(order, "0abcde");
  EXPECT_EQ(world.sim.now(), 1ms);
}

TEST(Events, RunUntilIncludesItsLimitAndNothingAfterIt) {
  World world(Idle);
  std::string order;
  world.sim.At(5us, [&] { order += "a"; });
  world.sim.At(5us + 1ns, [&] { order += "b"; });
  world.sim.RunUntil(5us);
  EXPECT_EQ(order, "a");
  EXPECT_FALSE(world.sim.StepUntil(5us));
  EXPECT_EQ(world.sim.now(), 5us);
}

TEST(StepCost, IsTheSumOfItsPartsToTheNanosecond) {
  World world(OnFrameAtZero([](Turn& turn) {
    turn.Send(1, std::string(1000, 'r'));
    turn.Send(kFirstClient, std::string(500, 'c'));
    turn.Append("log", std::string(300, 'd'), false);
    turn.Release(1, 77);
    turn.WakeAt(1h);
  }));
  const PeerId client = world.AddSilentClient();
  world.Start();
  world.sim.ClientSend(client, 0, MakeBytes(std::string(200, 'q')));
  world.sim.RunUntil(kStarted + 200us);
  const auto steps = world.StepsOf(0);
  ASSERT_EQ(steps.size(), 3U) << "the first step, the request, the completion";
  const Time begun = ArrivalOf(kStarted, 200);
  EXPECT_EQ(steps[1].at, begun);
  // Step; client frames in and out; replica frame; disk; bytes on the network; bytes written.
  const Duration cost = 10us + 2 * 7us + 5us + 3us + 1700ns + 600ns;
  EXPECT_EQ(world.LastLeft(0), begun + cost);
  EXPECT_EQ(steps[2].at, begun + cost + 20us + 300ns) << "an append without sync";
}

TEST(StepCost, FramesAndCompletionsThatArriveAreCharged) {
  World world([](Turn& turn) {
    if (turn.self == 0 && turn.first) turn.Append("log", "x", true);
    if (turn.self == 1 && turn.first) turn.Send(0, std::string(100, 'r'));
    if (turn.self == 0 && !turn.input.completions.empty()) turn.WakeAt(Time::zero());
  });
  world.sim.Start();
  world.sim.RunUntil(10ms);
  const auto steps = world.StepsOf(0);
  ASSERT_EQ(steps.size(), 4U) << "first, frame, completion, wake";
  EXPECT_EQ(steps[1].frames.size(), 1U);
  ASSERT_EQ(steps[2].completions.size(), 1U);
  // The wake was due in the past: it comes as soon as the step has ended.
  EXPECT_EQ(steps[3].at - steps[2].at, 10us + 3us);
}

// The cost of a step of replica 0 that reads five frames from two senders, one of whom sent at two
// times, and then sends two frames to each of three receivers and one to itself; beyond what the
// frames cost.
Duration CostOfConnections(Duration per_burst, Duration per_write) {
  Profile profile = Exact();
  profile.net.bytes_per_second = 1'000'000'000'000;  // no wire: what is sent together arrives so
  profile.cpu.per_burst = per_burst;
  profile.cpu.per_write = per_write;
  World world(OnFrameAtZero([](Turn& turn) {
                if (turn.input.frames.size() < 5) return;
                for (const PeerId to : {1, 2, kFirstClient, 0, 1, 2, kFirstClient}) {
                  turn.Send(to, "");
                }
              }),
              3, profile);
  const PeerId first = world.AddSilentClient();
  const PeerId second = world.AddSilentClient();
  world.Start();
  world.sim.Begin(CpuSlow({0}, 1));  // busy while the frames arrive
  world.sim.ClientSend(first, 0, MakeBytes(""));
  world.sim.RunFor(150us);
  world.sim.HealAll();
  for (const PeerId client : {first, second, first, second}) {
    world.sim.ClientSend(client, 0, MakeBytes(""));
  }
  world.sim.RunFor(1us);
  world.sim.ClientSend(second, 0, MakeBytes(""));
  world.sim.RunFor(1s);
  return world.LastLeft(0) - world.StepsOf(0).at(2).at - (10us + 7 * 7us + 5 * 5us);
}

TEST(StepCost, SystemCallsAreCharged) {
  EXPECT_EQ(CostOfConnections(0us, 0us), 0us);
  EXPECT_EQ(CostOfConnections(100us, 0us), 300us) << "for each group that came together";
  EXPECT_EQ(CostOfConnections(0us, 100us), 300us) << "for each connection written to";
}

TEST(StepCost, WhatAReplicaSendsItselfTakesNoSystemCall) {
  Profile profile = Exact();
  profile.cpu.per_burst = 1ms;
  profile.cpu.per_write = 1ms;
  World world(
      [](Turn& turn) {
        if (turn.first) turn.Send(0, "");
      },
      1, profile);
  world.Start();
  EXPECT_EQ(world.StepsOf(0).at(1).at, 10us + 5us);
  EXPECT_EQ(world.leavings.at(1).at, 2 * (10us + 5us));
}

TEST(StepCost, ObservationsMayBeCharged) {
  Profile profile = Exact();
  profile.cpu.per_observation = 4us;
  World world(
      [](Turn& turn) {
        for (int i = 0; i < 3; ++i) turn.output.outputs.emplace_back(Observation{});
      },
      1, profile);
  world.Start();
  EXPECT_EQ(world.LastLeft(0), 10us + 3 * 4us);
}

TEST(StepCost, OutputsLeaveWhenTheStepEnds) {
  Time heard{0};
  World world(OnFrameAtZero([](Turn& turn) { turn.Send(kFirstClient, std::string(50, 'c')); }));
  PeerId client = 0;
  client = world.sim.AddClient([&](PeerId from, const Bytes& bytes) {
    EXPECT_EQ(from, 0);
    EXPECT_EQ(bytes->size(), 50U);
    heard = world.sim.now();
  });
  world.Start();
  world.sim.ClientSend(client, 0, MakeBytes("question"));
  world.sim.RunUntil(10ms);
  const Duration cost = 10us + 2 * 7us + 58ns;
  EXPECT_EQ(heard, ArrivalOf(ArrivalOf(kStarted, 8) + cost, 50));
}

TEST(StepCost, ASlowProcessorMultipliesIt) {
  World world(OnFrameAtZero([](Turn& turn) { turn.Send(1, "x"); }));
  const PeerId client = world.AddSilentClient();
  world.Start();
  const auto cost_now = [&] {
    const Time sent = world.sim.now();
    world.sim.ClientSend(client, 0, MakeBytes("q"));
    world.sim.RunFor(5ms);
    return world.LastLeft(0) - ArrivalOf(sent, 1);
  };
  const Duration normal = 10us + 7us + 5us + 2ns;
  EXPECT_EQ(cost_now(), normal);
  world.sim.Begin(CpuSlow({0}, 5));
  EXPECT_EQ(cost_now(), normal * 20);
  world.sim.Begin(CpuSlow({0}, 50));
  EXPECT_EQ(cost_now(), normal * 20) << "the strongest of two counts";
  world.sim.End(CpuSlow({0}, 5));
  EXPECT_EQ(cost_now(), normal * 2);
  world.sim.End(CpuSlow({0}, 50));
  world.sim.Begin(CpuSlow({1}, 5));
  EXPECT_EQ(cost_now(), normal) << "another replica's processor is slow";
}

TEST(Steps, WhatArrivesDuringOneIsReadByTheNext) {
  World world(Idle);
  const PeerId client = world.AddSilentClient();
  world.Start();
  for (const char* text : {"a", "b", "c"}) world.sim.ClientSend(client, 0, MakeBytes(text));
  world.sim.RunUntil(10ms);
  const auto steps = world.StepsOf(0);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[1].frames.size(), 1U);
  EXPECT_EQ(steps[2].frames.size(), 2U);
  EXPECT_EQ(steps[2].at, steps[1].at + 10us + 7us + 1ns);
  EXPECT_EQ(world.FramesOf(0), (std::vector<std::string>{"a", "b", "c"}));
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

TEST(Steps, TheClockStandsStillWithinOne) {
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
  EXPECT_EQ(seen, std::vector<Time>(8, kStarted)) << "a restarted replica never sees time zero";
}

// ---- timers ----

// What a script wishes in its first step, and when it is woken.
std::vector<Time> WokenAt(const std::vector<Time>& wishes) {
  World world(
      [&](Turn& turn) {
        if (!turn.first) return;
        for (const Time wish : wishes) turn.WakeAt(wish);
      },
      1);
  world.sim.Start();
  world.sim.RunUntil(1s);
  std::vector<Time> woken;
  for (const World::Step& step : world.StepsOf(0)) woken.push_back(step.at);
  woken.erase(woken.begin());
  return woken;
}

TEST(Wake, HappensAtTheTimeWished) { EXPECT_EQ(WokenAt({300us}), (std::vector<Time>{300us})); }
TEST(Wake, ALaterWishReplacesAnEarlierOne) {
  EXPECT_EQ(WokenAt({300us, 500us}), (std::vector<Time>{500us}));
}
TEST(Wake, AnEarlierWishReplacesALaterOne) {
  EXPECT_EQ(WokenAt({500us, 300us}), (std::vector<Time>{300us}));
}
TEST(Wake, WishedTwiceForOneMomentHappensOnce) {
  EXPECT_EQ(WokenAt({300us, 500us, 300us}), (std::vector<Time>{300us}));
}
TEST(Wake, InThePastHappensWhenTheStepEnds) {
  EXPECT_EQ(WokenAt({5us}), (std::vector<Time>{10us}));
  EXPECT_EQ(WokenAt({Time(-5)}), (std::vector<Time>{10us}));
}

TEST(Wake, DuringAStepIsNotForgotten) {
  World world([](Turn& turn) {
    if (turn.first) turn.WakeAt(200us);
  });
  const PeerId client = world.AddSilentClient();
  world.sim.Start();
  // Arrives so that its step is under way at 200 us.
  world.sim.At(95us - 2ns, [&] { world.sim.ClientSend(client, 0, MakeBytes("x")); });
  world.sim.RunUntil(1ms);
  const auto steps = world.StepsOf(0);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[1].at, 195us);
  EXPECT_EQ(steps[2].at, 195us + 17us + 1ns);
}

// ---- bounded reads ----

Profile BoundedReads() {
  Profile profile = Exact();
  profile.cpu.frames_per_connection_max = 4;
  profile.cpu.frames_per_step_max = 8;
  return profile;
}

std::vector<PeerId> Senders(const World::Step& step) {
  std::vector<PeerId> out;
  for (const auto& [from, bytes] : step.frames) out.push_back(from);
  return out;
}

TEST(Reads, AFloodDoesNotDelayAnothersFrameByMoreThanOneStep) {
  World world(Idle, 1, BoundedReads());
  const PeerId flood = world.AddSilentClient();
  const PeerId other = world.AddSilentClient();
  world.Start();
  for (int i = 0; i < 100; ++i) world.sim.ClientSend(flood, 0, MakeBytes("f"));
  world.sim.At(kStarted + 50us, [&] { world.sim.ClientSend(other, 0, MakeBytes("o")); });
  world.sim.RunUntil(10ms);
  const auto steps = world.StepsOf(0);
  const Time arrived = ArrivalOf(kStarted + 50us, 1);
  std::size_t next = 0;
  while (next < steps.size() && steps[next].at < arrived) ++next;
  ASSERT_LT(next, steps.size());
  EXPECT_EQ(Senders(steps[next]), (std::vector<PeerId>{flood, flood, flood, flood, other}));
  EXPECT_EQ(world.FramesOf(0).size(), 101U) << "and nothing is lost";
}

TEST(Reads, AStepTakesSoManyInAllAndTheNextGoesOnWithTheNextConnection) {
  World world(Idle, 1, BoundedReads());
  std::vector<PeerId> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(world.AddSilentClient());
  world.Start();
  // One frame makes the replica busy while the others' frames arrive together.
  world.sim.ClientSend(clients[0], 0, MakeBytes("f"));
  world.sim.At(kStarted + 5us, [&] {
    for (const PeerId client : clients) {
      for (int i = 0; i < 6; ++i) world.sim.ClientSend(client, 0, MakeBytes("f"));
    }
  });
  world.sim.RunUntil(10ms);
  const auto steps = world.StepsOf(0);
  const PeerId a = clients[0], b = clients[1], c = clients[2];
  ASSERT_EQ(steps.size(), 5U);
  EXPECT_EQ(Senders(steps[2]), (std::vector<PeerId>{a, a, a, a, b, b, b, b}));
  EXPECT_EQ(Senders(steps[3]), (std::vector<PeerId>{c, c, c, c, a, a, b, b}));
  EXPECT_EQ(Senders(steps[4]), (std::vector<PeerId>{c, c}));
}

// ---- memory ----

Profile LittleMemory() {
  Profile profile = Exact();
  profile.memory.limit_bytes = 100'000;
  profile.memory.kill_factor = 4;
  profile.memory.paging_factor = 20;
  return profile;
}

// Lets `bytes` wait unread while replica 0 is busy, and returns what the step that reads them cost.
// -1: it died instead.
Duration CostWithUnread(std::int64_t bytes, std::string* death = nullptr) {
  Duration cost{-1};
  World world(
      [&](Turn& turn) {
        if (!turn.input.frames.empty()) turn.Send(kFirstClient + 1, "");
      },
      1, LittleMemory());
  const PeerId first = world.AddSilentClient();
  const PeerId second = world.AddSilentClient();
  world.Start();
  world.sim.Begin(CpuSlow({0}, 1));  // busy for a while
  world.sim.ClientSend(first, 0, MakeBytes("x"));
  world.sim.RunFor(150us);
  world.sim.HealAll();
  world.sim.ClientSend(second, 0, MakeBytes(std::string(static_cast<std::size_t>(bytes), 'm')));
  world.sim.RunFor(1s);
  const auto steps = world.StepsOf(0);
  if (death != nullptr) *death = world.sim.first_death();
  if (steps.size() == 3) cost = world.LastLeft(0) - steps[2].at;
  return cost;
}

TEST(Memory, UpToTheLimitCostsNothing) {
  EXPECT_EQ(CostWithUnread(100'000), 10us + 14us + 100'000ns);
}

TEST(Memory, AboveTheLimitEveryStepPaysForPaging) {
  const Duration base = 10us + 14us + 150'000ns;
  EXPECT_EQ(CostWithUnread(150'000), base * 11) << "half the limit too much: ten times more";
}

TEST(Memory, FarAboveTheLimitTheReplicaDies) {
  std::string death;
  EXPECT_GT(CostWithUnread(400'000, &death), 0ns);
  EXPECT_EQ(death, "");
  EXPECT_EQ(CostWithUnread(400'001, &death), Duration(-1));
  EXPECT_EQ(death,
            "replica 0 died: out of memory: it held 400001 bytes (unsent frames, unread frames and "
            "unfinished disk writes)");
}

TEST(Memory, HeldFramesAndUnfinishedWritesCount) {
  Profile profile = LittleMemory();
  profile.net.window_bytes = 1000;
  profile.disk.bytes_per_second = 1000;  // nothing is ever written
  const auto dies = [&](std::size_t held, std::size_t written) {
    World world(
        [&](Turn& turn) {
          if (turn.self == 1 || !turn.first) return;
          turn.Send(1, std::string(1000, 'w'));  // fills the window
          turn.Send(1, std::string(held, 'h'));
          turn.Append("log", std::string(written, 'd'), false);
          turn.WakeAt(20us);
        },
        2, profile);
    world.sim.Start();
    world.sim.RunUntil(5ms);
    return !world.sim.first_death().empty();
  };
  EXPECT_FALSE(dies(200'000, 200'000));
  EXPECT_TRUE(dies(200'001, 200'000));
  EXPECT_TRUE(dies(200'000, 200'001));
}

}  // namespace
}  // namespace depfast::sim
