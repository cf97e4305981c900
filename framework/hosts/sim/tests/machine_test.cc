// A machine alone, without a simulator: its charges for steps, disk and memory, and its state after
// it is turned off.
#include "sim/machine.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "faults/fault.h"
#include "sim/step_cost.h"
#include "world.h"

namespace depfast::sim {
namespace {

// One machine, replica 0 of two; replica 1 is a wire's end that nobody reads.
struct Bench {
  explicit Bench(Script react, Profile costs = Exact())
      : script(std::move(react)),
        profile(costs),
        wires(profile.net, 1, addresses, effects, agenda, observers),
        room{profile,
             addresses,
             effects,
             agenda,
             observers,
             wires,
             [this](std::size_t, const std::string& why) { End(deaths, why); },
             [this](std::size_t, const std::string& why) { End(kills, why); },
             [this] { return healthy_heap; }},
        machine(0, room, SimDisk(profile.disk, RandomStream(1), RandomStream(2))) {
    wires.Connect(0);
    wires.Connect(1);
    TurnOn();
  }

  void End(std::vector<std::string>& reasons, const std::string& why) {
    reasons.push_back(why);
    machine.TurnOff();
  }

  void TurnOn() {
    machine.TurnOn(
        std::make_unique<ScriptedReplica>(ReplicaConfig{0, 2, 1, {}}, [this](Turn& turn) {
          steps.push_back(turn.input);
          script(turn);
        }));
  }

  void RunUntil(Time limit) {
    while (std::optional<Event> event = agenda.Pop(limit)) {
      if (event->kind != Event::Kind::kArrive) {
        machine.Handle(*event);
      } else if (wires.Arrive(*event) == Wires::Arrival::kUnread && event->node == 0) {
        machine.ScheduleStep();
      }
    }
  }

  std::vector<Time> StepTimes() const {
    std::vector<Time> out;
    for (const StepInput& step : steps) out.push_back(step.now);
    return out;
  }

  Script script;
  std::vector<StepInput> steps;
  std::vector<std::string> deaths;
  std::vector<std::string> kills;  // by faults of memory
  std::uint64_t healthy_heap = 0;
  Profile profile;
  Addresses addresses{2};
  Effects effects{2};
  Agenda agenda;
  Observers observers;
  Wires wires;
  MachineRoom room;
  Machine machine;
};

// The only death of a machine whose replica has this in each step, and a step behind the other.
std::string DeathOf(const Script& step, const faults::FaultPlan& plan = {}) {
  Bench bench([&](Turn& turn) {
    step(turn);
    turn.WakeAt(Time::zero());
  });
  bench.effects.Set(plan, 2);
  bench.RunUntil(600s);
  EXPECT_EQ(bench.deaths.size(), 1U);
  return bench.deaths.empty() ? "" : bench.deaths[0];
}

// Appends `bytes` bytes in the first step.
Script WriteOnce(std::size_t bytes, bool sync) {
  return [=](Turn& turn) {
    if (turn.first) turn.Append("log", std::string(bytes, 'd'), sync);
  };
}

void LargeHeap(Turn& turn) {
  turn.output.heap_bytes = 120'000;
  turn.WakeAt(Time::zero());
}

// ---- the cost of a step ----

TEST(StepCost, IsTheSumOfItsParts) {
  const Profile profile = Exact();
  StepInput input;
  StepOutput output;
  EXPECT_EQ(StepCost(profile, input, output, {}), 10us);
  input.frames = {{1, MakeBytes("12345")}, {kFirstClient, MakeBytes("123")}};
  EXPECT_EQ(StepCost(profile, input, output, {}), 10us + 5us + 7us + 8ns);
  input.completions.resize(2);
  output.outputs = {SendFrame{1, 1, MakeBytes("12")}, SendFrame{2, kFirstClient, MakeBytes("1")}};
  EXPECT_EQ(StepCost(profile, input, output, {}), 10us + 5us + 7us + 11ns + 6us + 5us + 7us);
  IoRequest write;
  write.data = MakeBytes("1234");
  output.outputs = {write};
  EXPECT_EQ(StepCost(profile, input, output, {}), 10us + 5us + 7us + 8ns + 6us + 3us + 8ns);
  output.outputs = {ReleaseFrame{1, 1}, SetWake{1h}};
  EXPECT_EQ(StepCost(profile, {}, output, {}), 10us) << "these are free";
}

TEST(StepCost, MayCountObservationsAndGrowsWithTheMemoryAboveTheLimit) {
  Profile profile = Exact();
  profile.cpu.per_observation = 4us;
  profile.memory.paging_factor = 20;
  StepOutput output;
  output.outputs = {Observation{}, Observation{}};
  EXPECT_EQ(StepCost(profile, {}, output, {}), 10us + 2 * 4us);
  EXPECT_EQ(StepCost(profile, {}, {}, {1000, 1000}), 10us);
  EXPECT_EQ(StepCost(profile, {}, {}, {2000, 1000}), 10us * 21);
}

// ---- steps ----

TEST(Machine, TheFirstStepBeginsAtOnceAndNoOtherWhileItIsBusy) {
  Bench bench(Idle);
  bench.RunUntil(4us);
  EXPECT_EQ(bench.StepTimes(), (std::vector<Time>{0us}));
  bench.machine.ScheduleStep();  // in vain: the step under way ends at 10 us
  bench.RunUntil(11us);
  bench.machine.ScheduleStep();
  bench.RunUntil(1s);
  EXPECT_EQ(bench.StepTimes(), (std::vector<Time>{0us, 11us}));
}

TEST(Machine, OutputsLeaveWhenTheCostIsPaid) {
  struct Listener : Observer {
    void OnOutputsLeave(PeerId, Time now, const std::vector<Output>& outputs) override {
      if (!outputs.empty()) at.push_back(now);
    }
    std::vector<Time> at;
  } listener;
  Bench bench([](Turn& turn) {
    if (turn.first) turn.Send(1, "x");
  });
  bench.observers.Add(&listener);
  bench.RunUntil(1s);
  EXPECT_EQ(listener.at, (std::vector<Time>{15us + 1ns}));
}

TEST(Machine, ASlowProcessorTakesLonger) {
  Bench bench([](Turn& turn) {
    if (turn.first) turn.WakeAt(1ns);
  });
  bench.effects.Set({faults::CpuSlow({0}, 5)}, 2);
  bench.RunUntil(1s);
  EXPECT_EQ(bench.StepTimes(), (std::vector<Time>{0us, 200us}));
}

TEST(Machine, AContendedProcessorStopsInBursts) {
  Profile profile = Exact();
  profile.cpu.per_step = 2ms;
  Bench bench([](Turn& turn) { turn.WakeAt(Time::zero()); }, profile);
  bench.effects.Set({faults::CpuContention({0}, 5)}, 2);
  bench.RunUntil(203ms);
  EXPECT_EQ(bench.StepTimes(), (std::vector<Time>{0ms, 2ms, 4ms, 101ms, 103ms, 105ms, 202ms}))
      << "5 ms of every 100 ms: the third and the sixth step are done in the next period";
}

TEST(Machine, FramesThatComeDuringAStepAreReadInTheNext) {
  Bench bench(Idle);
  for (const char* text : {"a", "b", "c"}) bench.wires.Send(1, 0, 1, MakeBytes(text));
  bench.RunUntil(1s);
  const Time first = 100us + 2ns;
  EXPECT_EQ(bench.StepTimes(), (std::vector<Time>{0us, first, first + 10us + 5us + 1ns}));
  ASSERT_EQ(bench.steps.size(), 3U);
  ASSERT_EQ(bench.steps[1].frames.size(), 1U);
  EXPECT_EQ(bench.steps[1].frames[0].from, 1);
  EXPECT_EQ(bench.steps[2].frames.size(), 2U);
}

// A frame or an operation without bytes takes no memory of the replica's, but of ours.
TEST(Machine, TooManyEmptyFramesOrDiskOperationsAreDeath) {
  const std::string frames = DeathOf([](Turn& turn) {
    for (int i = 0; i < 300'000; ++i) turn.Send(0, "");
  });
  EXPECT_TRUE(frames.starts_with("out of memory: it held 1")) << frames;
  EXPECT_TRUE(frames.ends_with("frames and disk operations, most of them empty")) << frames;
  const std::string operations = DeathOf(
      [](Turn& turn) {
        for (int i = 0; i < 300'000; ++i) turn.Append("log", "", false);
      },
      {faults::FsDelay({0}, 1s)});
  EXPECT_TRUE(operations.starts_with("out of memory: it held 1")) << operations;
}

TEST(Machine, AFullDiskIsDeathAndEmptyFilesFillItToo) {
  const std::string block(1 << 20, 'x');
  EXPECT_EQ(DeathOf([&](Turn& turn) { turn.Append("log", block, false); }),
            "its disk is full: 1 files take 67112960 bytes of 67108864");
  int next = 0;
  const std::string death = DeathOf([&](Turn& turn) {
    for (int i = 0; i < 1000; ++i) turn.Append(std::to_string(next++), "", false);
  });
  EXPECT_TRUE(death.starts_with("its disk is full: 17000 files take")) << death;
}

TEST(Machine, HeldBytesAreReportedAndReleased) {
  Profile profile = Exact();
  profile.net.window_bytes = 1;
  Bench bench(
      [](Turn& turn) {
        if (turn.input.now > 50us) return;
        turn.WakeAt(turn.input.now + 50us);
        if (!turn.first) return turn.Release(1, 3);
        for (int i = 0; i < 3; ++i) turn.Send(1, std::string(100, 'x'));
      },
      profile);
  bench.RunUntil(1s);
  std::vector<std::size_t> held;
  for (const StepInput& step : bench.steps) held.push_back(step.held_bytes.at(1));
  EXPECT_EQ(held, (std::vector<std::size_t>{0, 200, 100}));
}

TEST(Machine, AStepReadsNoMoreThanItsBound) {
  Profile profile = Exact();
  profile.cpu.frames_per_connection_max = 4;
  Bench bench(Idle, profile);
  for (int i = 0; i < 10; ++i) bench.wires.Send(1, 0, 1, MakeBytes(""));
  bench.RunUntil(1s);
  std::vector<std::size_t> frames;
  for (const StepInput& step : bench.steps) frames.push_back(step.frames.size());
  EXPECT_EQ(frames, (std::vector<std::size_t>{0, 4, 4, 2}));
}

// ---- timers ----

// When the replica is woken that sets these timers in its first step, one after the other.
std::vector<Time> WokenAt(const std::vector<Time>& timers) {
  Bench bench([&](Turn& turn) {
    if (!turn.first) return;
    for (const Time timer : timers) turn.WakeAt(timer);
  });
  bench.RunUntil(1s);
  std::vector<Time> woken = bench.StepTimes();
  woken.erase(woken.begin());
  return woken;
}

TEST(Machine, TheLatestTimerReplacesTheOthers) {
  EXPECT_EQ(WokenAt({300us}), (std::vector<Time>{300us}));
  EXPECT_EQ(WokenAt({300us, 500us}), (std::vector<Time>{500us}));
  EXPECT_EQ(WokenAt({500us, 300us}), (std::vector<Time>{300us}));
  EXPECT_EQ(WokenAt({300us, 500us, 300us}), (std::vector<Time>{300us})) << "once";
}

TEST(Machine, ATimerInThePastWakesWhenTheStepEnds) {
  EXPECT_EQ(WokenAt({5us}), (std::vector<Time>{10us}));
  EXPECT_EQ(WokenAt({Time(-5)}), (std::vector<Time>{10us}));
}

TEST(Machine, ATimerThatIsDueDuringAStepIsNotForgotten) {
  Bench bench([](Turn& turn) {
    if (turn.first) turn.WakeAt(105us);
  });
  bench.wires.Send(1, 0, 1, MakeBytes("x"));
  bench.RunUntil(1s);
  const Time read = 100us + 2ns;
  EXPECT_EQ(bench.StepTimes(), (std::vector<Time>{0us, read, read + 15us + 1ns}));
}

// ---- disk ----

TEST(Machine, AWriteCompletesAfterBatchSyncAndTransfer) {
  Bench bench(WriteOnce(1024, true));
  bench.RunUntil(1s);
  ASSERT_EQ(bench.steps.size(), 2U);
  const Duration step = 10us + 3us + 2048ns;
  EXPECT_EQ(bench.steps[1].now, step + 20us + 500us + 1024ns);
  EXPECT_EQ(bench.steps[1].completions.size(), 1U);
  EXPECT_EQ(bench.machine.disk().files().at("log").durable_bytes, 1024U);
}

TEST(Machine, ASlowDiskMovesItsBytesMoreSlowly) {
  Bench bench(WriteOnce(1024, true));
  bench.effects.Set({faults::DiskSlow({0}, 128 * 1024)}, 2);
  bench.RunUntil(1s);
  ASSERT_EQ(bench.steps.size(), 2U);
  EXPECT_EQ(bench.steps[1].now, 10us + 3us + 2048ns + 20us + 500us + 7'812'500ns);
}

// A disk that needs 3 ms for a batch without bytes, and a processor that needs no time.
Profile SlowSyncs() {
  Profile profile = Exact();
  profile.disk.sync = 3ms - profile.disk.per_batch;
  profile.cpu.per_step = profile.cpu.per_io = 0us;
  return profile;
}

TEST(Machine, AContendedDiskStopsInBursts) {
  Bench bench([](Turn& turn) { turn.Append("log", "", true); }, SlowSyncs());
  bench.effects.Set({faults::DiskContention({0}, 5)}, 2);
  bench.RunUntil(105ms);
  EXPECT_EQ(bench.StepTimes(), (std::vector<Time>{0ms, 3ms, 101ms, 104ms}))
      << "5 ms of every 100 ms: the second batch is done 1 ms into the next period";
}

TEST(Machine, OnAContendedSlowDiskOnlyTheDevicesTimeIsSpent) {
  Bench bench(WriteOnce(128 * 1024, false));
  bench.effects.Set({faults::DiskSlow({0}, 128 * 1024), faults::DiskContention({0}, 1)}, 2);
  bench.RunUntil(2s);
  ASSERT_EQ(bench.steps.size(), 2U);
  const Time begun = 10us + 3us + 2 * 131'072ns;
  EXPECT_EQ(bench.steps[1].now, begun + 20us + 1s) << "of that, the device needs 151 us";
}

TEST(Machine, ASlowFileSystemDelaysEveryOperation) {
  Bench bench([](Turn& turn) {
    if (!turn.first) return;
    for (int i = 0; i < 3; ++i) turn.Append("log", "x", true);
  });
  bench.effects.Set({faults::FsDelay({0}, 10ms)}, 2);
  bench.RunUntil(1s);
  ASSERT_EQ(bench.steps.size(), 2U);
  const Duration step = 10us + 3 * (3us + 2ns);
  EXPECT_EQ(bench.steps[1].now, step + 20us + 500us + 3ns + 3 * 10ms) << "three in one batch";
}

// ---- memory ----

Profile LittleMemory() {
  Profile profile = Exact();
  profile.memory = {100'000, 4, 20};
  return profile;
}

TEST(Machine, AboveTheLimitOfItsMemoryAStepPaysForPagingAlsoUnderContention) {
  for (const faults::FaultPlan& plan :
       {faults::FaultPlan{}, {faults::MemoryContention({0}, 1 << 20)}}) {
    Bench bench(OnFrameAtZero([](Turn& turn) { turn.WakeAt(Time::zero()); }), LittleMemory());
    bench.effects.Set(plan, 2);
    bench.wires.Send(1, 0, 1, MakeBytes(std::string(150'000, 'm')));
    bench.RunUntil(1s);
    ASSERT_EQ(bench.steps.size(), 3U);
    EXPECT_EQ(bench.steps[2].last_cost, (10us + 5us + 150'000ns) * 11)
        << "half the limit too much: ten times more";
  }
}

TEST(Machine, FarAboveTheLimitOfItsMemoryTheReplicaDies) {
  Bench bench(Idle, LittleMemory());
  bench.wires.Send(1, 0, 1, MakeBytes(std::string(400'000, 'm')));
  bench.RunUntil(1s);
  EXPECT_TRUE(bench.deaths.empty());
  bench.wires.Send(1, 0, 2, MakeBytes(std::string(400'001, 'm')));
  bench.RunUntil(2s);
  EXPECT_EQ(bench.deaths, (std::vector<std::string>{
                              "out of memory: it held 400001 bytes (unsent frames, unread frames "
                              "and unfinished disk writes)"}));
  EXPECT_FALSE(bench.machine.is_on());
}

TEST(Machine, HeldFramesAndUnfinishedWritesAreMemory) {
  Profile profile = LittleMemory();
  profile.net.window_bytes = 1000;
  profile.disk.bytes_per_second = 1000;  // nothing is ever written
  const auto dies = [&](std::size_t held, std::size_t written) {
    Bench bench(
        [&](Turn& turn) {
          if (!turn.first) return;
          turn.Send(1, std::string(1000, 'w'));  // fills the window
          turn.Send(1, std::string(held, 'h'));
          turn.Append("log", std::string(written, 'd'), false);
          turn.WakeAt(20us);
        },
        profile);
    bench.RunUntil(5ms);
    return !bench.deaths.empty();
  };
  EXPECT_FALSE(dies(200'000, 200'000));
  EXPECT_TRUE(dies(200'001, 200'000));
  EXPECT_TRUE(dies(200'000, 200'001));
}

TEST(Machine, UnderMemoryContentionTheHeapIsMemoryToo) {
  Bench bench(LargeHeap);
  bench.profile.memory.paging_factor = 20;
  bench.RunUntil(15us);
  EXPECT_EQ(bench.steps.back().last_cost, 10us) << "without the fault a heap costs nothing";
  bench.effects.Set({faults::MemoryContention({0}, 100'000)}, 2);
  bench.RunUntil(100us);
  EXPECT_EQ(bench.StepTimes(), (std::vector<Time>{0us, 10us, 20us, 70us}))
      << "a fifth too much: four times more";
  bench.effects.Set({faults::MemoryContention({0}, 30'000)}, 2);
  bench.RunUntil(200us);
  EXPECT_TRUE(bench.kills.empty()) << "four times the limit";
  bench.effects.Set({faults::MemoryContention({0}, 29'999)}, 2);
  bench.RunUntil(10ms);
  EXPECT_EQ(bench.kills, (std::vector<std::string>{
                             "out of memory: it held 120000 bytes (unsent frames, unread frames "
                             "and unfinished disk writes, and its heap)"}));
  EXPECT_TRUE(bench.deaths.empty()) << "the fault's deed, not the replica's";
}

TEST(Machine, AShareOfMemoryIsOfTheSmallestHealthyHeap) {
  Bench bench(LargeHeap);
  bench.profile.memory.paging_factor = 20;
  const faults::Fault half = faults::MakeFault({faults::FaultKind::kMemoryShare, 50}, {0});
  bench.effects.Set({half}, 2);
  bench.RunUntil(15us);
  EXPECT_EQ(bench.steps.back().last_cost, 10us) << "no other replica has a heap: no limit";
  bench.healthy_heap = 200'000;
  bench.RunUntil(100us);
  EXPECT_EQ(bench.StepTimes(), (std::vector<Time>{0us, 10us, 20us, 70us}));
  bench.effects.Set({half, faults::MemoryContention({0}, 60'000)}, 2);
  bench.RunUntil(130us);
  EXPECT_EQ(bench.steps.back().last_cost, 50us);
  bench.RunUntil(400us);
  EXPECT_EQ(bench.steps.back().last_cost, 10us + 200us) << "the tighter of two limits";
}

TEST(Machine, ANewIncarnationBeginsWithAnEmptyHeap) {
  Bench bench([](Turn& turn) { turn.output.heap_bytes = 120'000; });
  bench.RunUntil(1ms);
  bench.machine.TurnOff();
  bench.effects.Set({faults::MemoryContention({0}, 1'000)}, 2);
  bench.TurnOn();
  bench.RunUntil(2ms);
  EXPECT_TRUE(bench.deaths.empty());
}

// ---- the end ----

TEST(Machine, TurnedOffItLosesWhatWasUnderWay) {
  Bench bench([](Turn& turn) {
    if (!turn.first) return;
    turn.Append("log", "synced", true);
    turn.WakeAt(10ms);
  });
  bench.RunUntil(2ms);
  EXPECT_EQ(bench.steps.size(), 2U);
  bench.machine.TurnOff();
  EXPECT_EQ(bench.machine.disk().files().at("log").data, "synced");
  bench.script = Idle;
  bench.TurnOn();
  bench.RunUntil(1s);
  EXPECT_EQ(bench.StepTimes().size(), 3U) << "the old timer is void";
}

TEST(Machine, TurnedOffDuringAStepItsOutputsNeverLeave) {
  Bench bench([](Turn& turn) {
    if (turn.first) turn.Append("log", "x", true);
  });
  bench.RunUntil(5us);
  bench.machine.TurnOff();
  bench.RunUntil(1s);
  EXPECT_TRUE(bench.machine.disk().files().empty());
}

TEST(Machine, TurnedOnAgainItHasNotSpentTheQuotaOfItsProcessorOrDisk) {
  Profile slow_steps = Exact();
  slow_steps.cpu.per_step = 50ms;
  Profile slow_syncs = SlowSyncs();
  slow_syncs.disk.sync = 50ms - slow_syncs.disk.per_batch;
  const auto times = [](const Script& script, const Profile& profile, const faults::Fault& fault) {
    Bench bench(script, profile);
    bench.effects.Set({fault}, 2);
    bench.RunUntil(1ms);
    bench.machine.TurnOff();
    bench.TurnOn();
    bench.RunUntil(999ms);
    return bench.StepTimes();
  };
  const std::vector<Time> expected = {0ms, 1ms, 905ms};
  EXPECT_EQ(times([](Turn& turn) { turn.WakeAt(Time::zero()); }, slow_steps,
                  faults::CpuContention({0}, 5)),
            expected);
  EXPECT_EQ(times([](Turn& turn) { turn.Append("log", "", true); }, slow_syncs,
                  faults::DiskContention({0}, 5)),
            expected);
}

}  // namespace
}  // namespace depfast::sim
