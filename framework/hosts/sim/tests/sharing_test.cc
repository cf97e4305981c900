// Cores and disks that several replicas share, in a whole simulation.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "world.h"

namespace depfast::sim {
namespace {

constexpr Time kStarted = World::kStarted;

// ---- a core ----

Sharing OneCore(std::vector<PeerId> replicas) { return {{std::move(replicas)}, {}}; }

Sharing OneDisk(std::vector<PeerId> replicas) { return {{}, {std::move(replicas)}}; }

std::vector<Time> TimesOf(const World& world, PeerId replica) {
  std::vector<Time> times;
  for (const World::Step& step : world.StepsOf(replica)) times.push_back(step.at);
  return times;
}

using Times = std::vector<Time>;

TEST(SharedCore, RunsOneStepAtATime) {
  World world(Idle, 4, Exact(), 1, OneCore({0, 2, 3}));
  world.Start();
  EXPECT_EQ(TimesOf(world, 0), (Times{0us}));
  EXPECT_EQ(TimesOf(world, 1), (Times{0us})) << "it has a core of its own";
  EXPECT_EQ(TimesOf(world, 2), (Times{10us}));
  EXPECT_EQ(TimesOf(world, 3), (Times{20us}));
}

TEST(SharedCore, ThereMayBeSeveral) {
  World world(Idle, 4, Exact(), 1, {{{0, 3}, {1, 2}}, {}});
  world.Start();
  EXPECT_EQ(TimesOf(world, 2), (Times{10us}));
  EXPECT_EQ(TimesOf(world, 3), (Times{10us}));
}

// It has an output, so that one sees when its steps end.
void WantNothingSoon(Turn& turn) { turn.WakeAt(1h); }

TEST(SharedCore, OutputsLeaveWhenTheirOwnStepEnds) {
  World world(WantNothingSoon, 2, Exact(), 1, OneCore({0, 1}));
  world.Start();
  EXPECT_EQ(world.LastLeft(0), 10us);
  EXPECT_EQ(world.LastLeft(1), 20us);
}

TEST(SharedCore, IsTakenByWhoHasUsedItLess) {
  World world(WantNothingSoon, 4, Exact(), 1, OneCore({0, 1, 2, 3}));
  const PeerId client = world.AddSilentClient();
  world.Start();
  world.sim.ClientSend(client, 0, MakeBytes(""));  // begins at 100 us; a step takes 17 us
  Duration delay = 1us;
  for (const PeerId replica : {3, 1, 2}) {
    world.sim.At(kStarted + delay,
                 [&, replica] { world.sim.ClientSend(client, replica, MakeBytes("")); });
    delay += 1us;
  }
  world.sim.RunUntil(2ms);
  const Time begun = kStarted + 100us;
  EXPECT_EQ(TimesOf(world, 0).back(), begun);
  EXPECT_EQ(TimesOf(world, 3).back(), begun + 1us);
  EXPECT_EQ(TimesOf(world, 1).back(), begun + 2us);
  EXPECT_EQ(TimesOf(world, 2).back(), begun + 3us);
  // The last is interrupted by nobody; then the others do their 16 us in the order in which they
  // were interrupted.
  EXPECT_EQ(world.LastLeft(2), begun + 20us);
  EXPECT_EQ(world.LastLeft(0), begun + 36us);
  EXPECT_EQ(world.LastLeft(3), begun + 52us);
  EXPECT_EQ(world.LastLeft(1), begun + 68us);
}

TEST(SharedCore, PaysForASwitchBackToo) {
  Profile profile = Exact();
  profile.cpu.per_switch = 3us;
  World world(WantNothingSoon, 2, profile, 1, OneCore({0, 1}));
  const PeerId client = world.AddSilentClient();
  world.Start();
  world.sim.ClientSend(client, 1, MakeBytes(""));
  world.sim.At(kStarted + 5us, [&] { world.sim.ClientSend(client, 0, MakeBytes("")); });
  world.sim.RunUntil(2ms);
  const Time begun = kStarted + 100us;
  EXPECT_EQ(TimesOf(world, 1).back(), begun) << "it was the last to run";
  EXPECT_EQ(TimesOf(world, 0).back(), begun + 5us + 3us);
  EXPECT_EQ(world.LastLeft(1), begun + 17us + 2 * 3us + 17us);
}

// Replica 0 never rests: whenever its step ends, it wants the next.
Script RestlessZero() {
  return [](Turn& turn) {
    if (turn.self == 0) turn.WakeAt(Time::zero());
  };
}

TEST(SharedCore, NobodyStarves) {
  World world(RestlessZero(), 3, Exact(), 1, OneCore({0, 1, 2}));
  const PeerId client = world.AddSilentClient();
  world.Start();
  for (const PeerId replica : {1, 2}) {
    for (int i = 0; i < 50; ++i) world.sim.ClientSend(client, replica, MakeBytes(""));
    world.sim.RunFor(150us);
    const Time arrived = world.sim.now() - 50us;
    // One step may be under way and one of the other replica before it in the line.
    EXPECT_LE(TimesOf(world, replica).back(), arrived + 2 * 10us);
  }
  EXPECT_GE(TimesOf(world, 0).size(), 100U) << "and replica 0 went on";
}

TEST(SharedCore, ASwitchCostsAndGoingOnDoesNot) {
  Profile profile = Exact();
  profile.cpu.per_switch = 3us;
  World world(
      [](Turn& turn) {
        if (turn.self == 0 && turn.first) turn.WakeAt(Time::zero());
        if (turn.self == 1 && turn.first) turn.WakeAt(1ms);
      },
      2, profile, 1, OneCore({0, 1}));
  world.sim.Start();
  world.sim.RunUntil(2ms);
  EXPECT_EQ(TimesOf(world, 0), (Times{0us, 26us})) << "0 to 1 and back";
  EXPECT_EQ(TimesOf(world, 1), (Times{13us, 1003us}));
}

TEST(SharedCore, OfASingleReplicaNeverSwitches) {
  Profile profile = Exact();
  profile.cpu.per_switch = 3us;
  World world(RestlessZero(), 1, profile);
  world.sim.Start();
  world.sim.RunUntil(25us);
  EXPECT_EQ(TimesOf(world, 0), (Times{0us, 10us, 20us}));
}

TEST(SharedCore, WakesUpOnlyIfItWasIdle) {
  Profile profile = Exact();
  profile.cpu.wake = 40us;
  World world(Idle, 2, profile, 1, OneCore({0, 1}));
  const PeerId client = world.AddSilentClient();
  world.Start();
  EXPECT_EQ(TimesOf(world, 1), (Times{10us})) << "the core went on";
  world.sim.ClientSend(client, 0, MakeBytes("a"));
  world.sim.At(kStarted + 30us, [&] { world.sim.ClientSend(client, 0, MakeBytes("b")); });
  world.sim.At(kStarted + 31us, [&] { world.sim.ClientSend(client, 1, MakeBytes("c")); });
  world.sim.RunUntil(2ms);
  const Time begun = kStarted + 100us + 2ns + 40us;
  const auto steps = world.StepsOf(0);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1].at, begun);
  EXPECT_EQ(steps[1].frames.size(), 2U) << "what arrives while the core wakes up is read, too";
  EXPECT_EQ(TimesOf(world, 1).back(), begun + 10us + 14us + 2ns);
}

TEST(SharedCore, ASlowReplicaTakesNoMoreOfItThanASoundOne) {
  World world(RestlessZero(), 2, Exact(), 1, OneCore({0, 1}));
  world.sim.Begin(CpuSlow({0}, 10));
  world.sim.Start();
  world.sim.RunUntil(250us);
  EXPECT_EQ(TimesOf(world, 0), (Times{0us, 100us, 200us})) << "its steps take ten times longer";
  EXPECT_EQ(TimesOf(world, 1), (Times{10us}));
}

TEST(SharedCore, IsFreeForOthersWhileAQuotaStopsAReplica) {
  Profile profile = Exact();
  profile.cpu.per_step = 1ms;
  World world(RestlessZero(), 2, profile, 1, OneCore({0, 1}));
  world.sim.Begin(CpuContention({0}, 2));
  world.sim.Start();
  world.sim.RunUntil(100ms);
  EXPECT_EQ(TimesOf(world, 0), (Times{0ms, 2ms, 3ms})) << "its third step ends after 100 ms";
  EXPECT_EQ(TimesOf(world, 1), (Times{1ms}));
}

// ---- crashes on a shared core ----

TEST(SharedCore, IsFreeWhenTheReplicaDiesThatRunsOnIt) {
  World world(Idle, 3, Exact(), 1, OneCore({0, 1, 2}));
  world.sim.Start();
  world.sim.RunUntil(4us);
  world.sim.Crash(0);
  world.sim.RunUntil(1ms);
  EXPECT_EQ(TimesOf(world, 1), (Times{4us}));
  EXPECT_EQ(TimesOf(world, 2), (Times{14us}));
}

TEST(SharedCore, AThreadThatDiesWhileWaitingIsPassedOver) {
  World world(Idle, 3, Exact(), 1, OneCore({0, 1, 2}));
  world.sim.Start();
  world.sim.RunUntil(4us);
  world.sim.Crash(1);
  world.sim.RunUntil(1ms);
  EXPECT_EQ(TimesOf(world, 1), (Times{}));
  EXPECT_EQ(TimesOf(world, 2), (Times{10us}));
}

TEST(SharedCore, ARestartedReplicaWaitsItsTurn) {
  World world(Idle, 3, Exact(), 1, OneCore({0, 1, 2}));
  world.sim.Start();
  world.sim.RunUntil(4us);
  world.sim.Crash(0);
  world.sim.Restart(0);
  world.sim.RunUntil(1ms);
  EXPECT_EQ(TimesOf(world, 0), (Times{0us, 24us}));
}

TEST(SharedCore, AThrottledReplicaThatDiesFreesNobodyElsesTurn) {
  World world(Idle, 3, Exact(), 1, OneCore({0, 1, 2}));
  world.sim.Begin(CpuSlow({0}, 10));
  world.sim.Start();
  world.sim.RunUntil(15us);  // 0 has left the core, its step is not over; 1 runs until 20 us
  world.sim.Crash(0);
  world.sim.RunUntil(1ms);
  EXPECT_EQ(TimesOf(world, 2), (Times{20us}));
}

TEST(SharedCore, AReplicaThatAnObserverRestartsAtItsStepsEndKeepsItsNewPlace) {
  class Restarter : public Observer {
   public:
    explicit Restarter(Simulator& sim) : sim_(sim) {}
    void OnOutputsLeave(PeerId replica, Time, const std::vector<Output>&) override {
      if (replica != 0 || std::exchange(done_, true)) return;
      sim_.Crash(0);
      sim_.Restart(0);
    }

   private:
    Simulator& sim_;
    bool done_ = false;
  };
  World world(Idle, 3, Exact(), 1, OneCore({0, 1, 2}));
  Restarter restarter(world.sim);
  world.sim.AddObserver(&restarter);
  world.sim.Start();
  world.sim.RunUntil(1ms);
  EXPECT_EQ(TimesOf(world, 1), (Times{10us}));
  EXPECT_EQ(TimesOf(world, 2), (Times{20us}));
  EXPECT_EQ(TimesOf(world, 0), (Times{0us, 30us}));
}

// ---- batches on a core ----

// In its first step a replica writes, and hears of it later.
void WriteFirst(Turn& turn) {
  if (turn.first) turn.Append("log", "", true);
}

// A batch takes 520 us of the device, and 30 us of the core before and after each wait for it.
Profile WithBatches(int waits = 1) {
  Profile profile = Exact();
  profile.cpu.per_batch = waits == 1 ? 60us : 90us;
  profile.disk.waits_per_batch = waits;
  return profile;
}

TEST(Batches, TakeTheCoreBeforeTheDeviceAndAfterIt) {
  World world(WriteFirst, 1, WithBatches());
  world.sim.Start();
  world.sim.RunUntil(1ms);
  // The step ends at 13 us.
  EXPECT_EQ(TimesOf(world, 0), (Times{0us, 13us + 30us + 520us + 30us}));
}

TEST(Batches, MayWaitForTheDeviceSeveralTimes) {
  World world(WriteFirst, 2, WithBatches(2), 1, OneCore({0, 1}));
  world.sim.Start();
  world.sim.RunUntil(1ms);
  // Parts of 30 us of the core and 260 us of the device. 0: core from 26 us, device from 56 us,
  // core from 316 us, device from 346 us, core from 606 us. 1: 30 us later each time.
  EXPECT_EQ(TimesOf(world, 0), (Times{0us, 636us + 30us})) << "1's batch was ready before its step";
  EXPECT_EQ(TimesOf(world, 1), (Times{13us, 666us + 13us}));
}

TEST(Batches, MayTakeMoreOfTheCoreWhenTheyBeginABlock) {
  Profile profile = WithBatches();
  profile.cpu.per_growth = 8us;
  World world([](Turn& turn) { turn.Append("log", turn.first ? "x" : "", true); }, 1, profile);
  world.sim.Start();
  world.sim.RunUntil(1300us);
  const Time first = 10us + 3us + 2ns + 34us + 520us + 1ns + 34us;
  // The second step writes nothing but an empty record, after 16 us: no block begins.
  EXPECT_EQ(TimesOf(world, 0), (Times{0us, first, first + 16us + 30us + 520us + 30us}));
}

TEST(Batches, MayTakeMoreOfTheCoreWhenTheyCreateAFile) {
  Profile profile = WithBatches();
  profile.cpu.per_directory = 8us;
  World world([](Turn& turn) { turn.Append("log", "", true); }, 1, profile);
  world.sim.Start();
  world.sim.RunUntil(1300us);
  const Time first = 13us + 34us + 520us + 34us;
  EXPECT_EQ(TimesOf(world, 0), (Times{0us, first, first + 16us + 30us + 520us + 30us}));
}

TEST(Batches, TakeTurnsWithSteps) {
  World world(WriteFirst, 2, WithBatches(), 1, OneCore({0, 1}));
  const PeerId client = world.AddSilentClient();
  world.sim.Start();
  world.sim.ClientSend(client, 1, MakeBytes(""));
  world.sim.RunUntil(150us);
  // 0 steps until 13 us, 1 until 26 us; then 0's batch until 56 us, 1's until 86 us.
  EXPECT_EQ(TimesOf(world, 1), (Times{13us, 100us})) << "a batch in the device needs no core";
  world.sim.RunUntil(5ms);
  EXPECT_EQ(TimesOf(world, 0), (Times{0us, 56us + 520us + 30us + 30us}));
  EXPECT_EQ(TimesOf(world, 1).back(), 86us + 520us + 30us + 13us);
}

TEST(Batches, TakeWhatIsThereWhenTheirTurnComes) {
  World world(
      [](Turn& turn) {
        if (turn.self == 1 || turn.input.now > 40us) return;
        turn.Append("log", "", true);
        if (turn.first) turn.WakeAt(Time::zero());
      },
      3, WithBatches(), 1, OneCore({0, 1, 2}));
  world.sim.Start();
  world.sim.RunUntil(5ms);
  // 0 steps until 13 us, 1 until 23 us, 2 until 36 us; then come the batches of 0 and 2, whose
  // threads have done nothing yet.
  const auto steps = world.StepsOf(0);
  ASSERT_GE(steps.size(), 3U);
  EXPECT_EQ(steps[1].at, 96us);
  EXPECT_EQ(steps[2].completions.size(), 1U);
}

TEST(Batches, OfAReplicaThatDiesLeaveTheCoreToOthers) {
  // In its step; while its batch waits, runs, is in the device, and runs again.
  for (const Time crash : {5us, 15us, 40us, 300us, 590us}) {
    World world(WriteFirst, 2, WithBatches(), 1, OneCore({0, 1}));
    world.sim.Start();
    world.sim.RunUntil(crash);
    world.sim.Crash(0);
    world.sim.Restart(0);
    world.sim.RunUntil(5ms);
    const auto heard = TimesOf(world, 1).back();
    EXPECT_GE(heard, 13us + 30us + 520us + 30us) << crash.count();
    EXPECT_LE(heard, 86us + 520us + 60us + 13us) << crash.count();
    EXPECT_EQ(world.StepsOf(0).back().completions.size(), 1U) << "the new incarnation's write";
  }
}

TEST(Batches, AreSlowedByASlowProcessorOfTheirOwn) {
  World world(WriteFirst, 2, WithBatches(), 1, OneCore({0, 1}));
  world.sim.Begin(CpuSlow({0}, 50));
  world.sim.Start();
  world.sim.RunUntil(5ms);
  // 0 has the core until 13 us and ends its step at 26 us; 1 steps until 26 us, and 0's batch is
  // ready first: it has the core until 56 us and its part ends at 86 us, when 1's ends as well. The
  // same at 606 us: 0 has the core until 636 us, 1 until 666 us, and both parts end then.
  EXPECT_EQ(TimesOf(world, 0), (Times{0us, 666us}));
  EXPECT_EQ(TimesOf(world, 1), (Times{13us, 666us + 13us})) << "0's step came first";
}

// ---- a disk ----

// When each of three replicas, that share a disk, hears of its second write. Their first ones
// create their files, which happens one after another.
Times SecondWritesAfterFirst(int parallel) {
  Profile profile = Exact();
  profile.disk.parallel_batches = parallel;
  World world(
      [](Turn& turn) {
        if (turn.first || turn.input.now == 10ms) turn.Append("log", "", true);
        if (turn.first) turn.WakeAt(10ms);
      },
      3, profile, 1, OneDisk({0, 1, 2}));
  world.sim.Start();
  world.sim.RunUntil(10s);
  Times times;
  for (PeerId replica = 0; replica < 3; ++replica) {
    times.push_back(TimesOf(world, replica).at(3) - 10ms - 13us);
  }
  return times;
}

TEST(SharedDisk, MovesSoManyBatchesAtOnce) {
  EXPECT_EQ(SecondWritesAfterFirst(1), (Times{520us, 2 * 520us, 3 * 520us}));
  EXPECT_EQ(SecondWritesAfterFirst(2), (Times{520us, 520us, 2 * 520us}));
  EXPECT_EQ(SecondWritesAfterFirst(3), (Times{520us, 520us, 520us}));
}

TEST(SharedDisk, ABatchThatChangesANameIsNotJoined) {
  Profile profile = Exact();
  profile.disk.parallel_batches = 3;
  World world(WriteFirst, 3, profile, 1, OneDisk({0, 1, 2}));  // each creates a file
  world.sim.Start();
  world.sim.RunUntil(10s);
  for (PeerId replica = 0; replica < 3; ++replica) {
    EXPECT_EQ(TimesOf(world, replica).at(1), 13us + (replica + 1) * 520us);
  }
}

TEST(SharedDisk, LeavesOthersAlone) {
  World world(WriteFirst, 3, Exact(), 1, OneDisk({0, 2}));
  world.sim.Start();
  world.sim.RunUntil(10ms);
  EXPECT_EQ(TimesOf(world, 1).at(1), 13us + 520us);
  EXPECT_EQ(TimesOf(world, 2).at(1), 13us + 2 * 520us);
}

TEST(SharedDisk, FilesAreNotShared) {
  World world([](Turn& turn) { turn.Append("log", std::to_string(turn.self), false); }, 2, Exact(),
              1, OneDisk({0, 1}));
  world.sim.Start();
  world.sim.RunUntil(45us);
  EXPECT_EQ(world.sim.disk(0).files().at("log").data, "0");
  world.sim.RunUntil(65us);
  EXPECT_EQ(world.sim.disk(1).files().at("log").data, "1");
}

TEST(SharedDisk, ABatchHoldsWhatWasThereWhenItWasBegunEvenIfTheDeviceIsBusy) {
  World world(
      [](Turn& turn) {
        if (!turn.first && turn.input.now > 100us) return;
        turn.Append("log", "x", true);
        if (turn.first) turn.WakeAt(50us);
      },
      2, Exact(), 1, OneDisk({0, 1}));
  world.sim.Start();
  world.sim.RunUntil(10ms);
  const auto steps = world.StepsOf(1);
  ASSERT_EQ(steps.size(), 4U) << "first, wake, and two completions: 0's second batch is between";
  EXPECT_EQ(steps[2].completions.size(), 1U);
  EXPECT_EQ(steps[3].completions.size(), 1U);
}

TEST(SharedDisk, ASlowReplicaDelaysItselfAndNotTheDevice) {
  World world(
      [](Turn& turn) {
        if (turn.first) turn.Append("log", std::string(100'000, 'x'), true);
      },
      2, Exact(), 1, OneDisk({0, 1}));
  world.sim.Begin(DiskSlow({0}, 1'000'000));  // 1 us a byte instead of 1 ns
  world.sim.Start();
  world.sim.RunUntil(1s);
  constexpr Time kWritten = 10us + 3us + 200us;
  constexpr Duration kSound = 520us + 100us;
  EXPECT_EQ(TimesOf(world, 0).at(1), kWritten + 520us + 100ms);
  EXPECT_EQ(TimesOf(world, 1).at(1), kWritten + 2 * kSound);
}

TEST(SharedDisk, IsFreeWhenTheReplicaDiesWhoseBatchItMoves) {
  World world(WriteFirst, 3, Exact(), 1, OneDisk({0, 1, 2}));
  world.sim.Start();
  world.sim.RunUntil(100us);
  world.sim.Crash(0);
  world.sim.RunUntil(10ms);
  EXPECT_EQ(TimesOf(world, 1).at(1), 100us + 520us);
  EXPECT_EQ(TimesOf(world, 2).at(1), 100us + 2 * 520us);
}

TEST(SharedDisk, AReplicaThatDiesWhileWaitingIsPassedOver) {
  World world(WriteFirst, 3, Exact(), 1, OneDisk({0, 1, 2}));
  world.sim.Start();
  world.sim.RunUntil(100us);
  world.sim.Crash(1);
  world.sim.Restart(1);
  world.sim.RunUntil(10ms);
  EXPECT_EQ(TimesOf(world, 2).at(1), 13us + 2 * 520us);
  // The new incarnation's write comes last: submitted at 113 us.
  EXPECT_EQ(TimesOf(world, 1).at(2), 13us + 3 * 520us);
}

// ---- both, under load ----

struct Outcome {
  std::uint64_t hash;
  std::size_t steps;
};

Outcome Everything(const Sharing& sharing) {
  Profile profile = Profile::Lab();
  profile.cpu.per_batch = 20us;
  profile.cpu.per_switch = 2us;
  profile.cpu.wake = 5us;
  World world(
      [](Turn& turn) {
        turn.Append("log", "entry", true);
        if (!turn.input.frames.empty()) turn.Send((turn.self + 1) % 3, "next");
      },
      3, profile, 7, sharing);
  const PeerId client = world.AddSilentClient();
  world.sim.Schedule({CpuSlow({1}, 20).From(5ms).For(10ms), DiskSlow({2}, 1000).From(2ms).For(9ms),
                      CrashFault({0}).From(12ms).For(3ms)});
  world.sim.Start();
  for (int i = 0; i < 100; ++i) {
    world.sim.At(i * 200us, [&, i] { world.sim.ClientSend(client, i % 3, MakeBytes("go")); });
  }
  world.sim.RunUntil(30ms);
  return {world.sim.trace().hash(), world.steps.size()};
}

TEST(Sharing, IsDeterministic) {
  const Sharing all = {{{0, 1, 2}}, {{0, 1, 2}}};
  const Outcome run = Everything(all);
  EXPECT_GT(run.steps, 300U);
  EXPECT_EQ(Everything(all).hash, run.hash);
  EXPECT_NE(Everything({}).hash, run.hash);
  EXPECT_NE(Everything(OneCore({0, 1, 2})).hash, run.hash);
}

TEST(Sharing, AGroupOfOneIsNoGroup) {
  EXPECT_EQ(Everything({{{0}, {1}, {2}}, {{0}, {1}, {2}}}).hash, Everything({}).hash);
}

}  // namespace
}  // namespace depfast::sim
