// A machine alone, without a simulator: what it charges for steps, disk and memory, and what
// remains when it is turned off.
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
             nullptr,
             nullptr,
             [this](std::size_t, const std::string& why) {
               deaths.push_back(why);
               machine.TurnOff();
             }},
        machine(0, room, SimDisk(profile.disk, RandomStream(1), RandomStream(2))) {
    wires.Connect(0);
    wires.Connect(1);
    TurnOn();
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
  Profile profile;
  Addresses addresses{2};
  Effects effects{2};
  Agenda agenda;
  Observers observers;
  Wires wires;
  MachineRoom room;
  Machine machine;
};

// ---- the cost of a step ----

TEST(StepCost, IsTheSumOfItsParts) {
  const Profile profile = Exact();
  StepInput input;
  StepOutput output;
  EXPECT_EQ(StepCost(profile, 0, input, output, 0, 0), 10us);
  input.frames = {{1, MakeBytes("12345")}, {kFirstClient, MakeBytes("123")}};
  EXPECT_EQ(StepCost(profile, 0, input, output, 0, 0), 10us + 5us + 7us + 8ns);
  input.completions.resize(2);
  output.outputs.emplace_back(SendFrame{1, 1, MakeBytes("12")});
  EXPECT_EQ(StepCost(profile, 0, input, output, 0, 0), 10us + 5us + 7us + 10ns + 6us + 5us);
  IoRequest write;
  write.data = MakeBytes("1234");
  output.outputs = {write};
  EXPECT_EQ(StepCost(profile, 0, input, output, 0, 0), 10us + 5us + 7us + 8ns + 6us + 3us + 8ns);
}

TEST(StepCost, CountsBurstsAndTheConnectionsWritten) {
  Profile profile = Exact();
  profile.cpu.per_burst = 100us;
  profile.cpu.per_write = 1000us;
  profile.cpu.per_frame = 0us;
  StepOutput output;
  for (const PeerId to : {1, 2, 1, 0}) output.outputs.emplace_back(SendFrame{1, to, MakeBytes("")});
  EXPECT_EQ(StepCost(profile, 0, {}, output, 3, 0), 10us + 300us + 2000us)
      << "there is no connection to oneself";
}

TEST(StepCost, GrowsWithTheMemoryAboveTheLimit) {
  Profile profile = Exact();
  profile.memory = {1000, 4, 20};
  EXPECT_EQ(StepCost(profile, 0, {}, {}, 0, 1000), 10us);
  EXPECT_EQ(StepCost(profile, 0, {}, {}, 0, 2000), 10us * 21);
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

TEST(Machine, ALaterTimerReplacesTheEarlierOne) {
  Bench bench([](Turn& turn) {
    if (!turn.first) return;
    turn.WakeAt(1ms);
    turn.WakeAt(3ms);
  });
  bench.RunUntil(1s);
  EXPECT_EQ(bench.StepTimes(), (std::vector<Time>{0ms, 3ms}));
}

TEST(Machine, FramesThatComeDuringAStepAreReadInTheNext) {
  Bench bench(Idle);
  bench.wires.Send(1, 0, 1, MakeBytes("a"));
  bench.RunUntil(1s);
  ASSERT_EQ(bench.steps.size(), 2U);
  EXPECT_EQ(bench.steps[1].now, 100us + 2ns);
  ASSERT_EQ(bench.steps[1].frames.size(), 1U);
  EXPECT_EQ(bench.steps[1].frames[0].from, 1);
}

// ---- disk ----

TEST(Machine, AWriteCompletesAfterBatchSyncAndTransfer) {
  Bench bench([](Turn& turn) {
    if (turn.first) turn.Append("log", std::string(1024, 'd'), true);
  });
  bench.RunUntil(1s);
  ASSERT_EQ(bench.steps.size(), 2U);
  const Duration step = 10us + 3us + 2048ns;
  EXPECT_EQ(bench.steps[1].now, step + 20us + 500us + 1024ns);
  EXPECT_EQ(bench.steps[1].completions.size(), 1U);
  EXPECT_EQ(bench.machine.disk().files().at("log").durable_bytes, 1024U);
}

TEST(Machine, ASlowDiskMovesItsBytesMoreSlowly) {
  Bench bench([](Turn& turn) {
    if (turn.first) turn.Append("log", std::string(1024, 'd'), true);
  });
  bench.effects.Set({faults::DiskSlow({0}, 128 * 1024)}, 2);
  bench.RunUntil(1s);
  ASSERT_EQ(bench.steps.size(), 2U);
  EXPECT_EQ(bench.steps[1].now, 10us + 3us + 2048ns + 20us + 500us + 7'812'500ns);
}

// ---- memory, and the end ----

TEST(Machine, TooMuchMemoryIsDeath) {
  Profile profile = Exact();
  profile.memory = {1000, 4, 20};
  profile.net.window_bytes = 1;
  Bench bench(
      [](Turn& turn) {
        for (int i = 0; i < 5; ++i) turn.Send(1, std::string(1000, 'x'));
        turn.WakeAt(turn.input.now + 1ms);
      },
      profile);
  bench.RunUntil(500us);
  EXPECT_EQ(bench.wires.HeldBytes(0), 4000U) << "four factors of the limit are not yet too much";
  bench.RunUntil(1s);
  ASSERT_EQ(bench.deaths.size(), 1U);
  EXPECT_EQ(bench.deaths[0].find("out of memory: it held "), 0U);
  EXPECT_FALSE(bench.machine.is_on());
}

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

}  // namespace
}  // namespace depfast::sim
