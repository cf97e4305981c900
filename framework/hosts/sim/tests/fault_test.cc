// Faults in a whole simulation: their effects, their beginnings and ends, and no other effects.
#include "faults/fault.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "world.h"

namespace depfast::sim {
namespace {

// ---- a stream of numbered frames ----

// Each frame of a stream from replica 0 (and 2) to 1: how often it arrived, and when first.
struct Arrivals {
  std::map<int, int> times;
  std::map<int, Time> first;

  std::set<int> Missing(int of) const {
    std::set<int> out;
    for (int i = 0; i < of; ++i) {
      if (times.count(i) == 0) out.insert(i);
    }
    return out;
  }
  std::set<int> Twice() const {
    std::set<int> out;
    for (const auto& [number, count] : times) {
      if (count == 2) out.insert(number);
    }
    return out;
  }
};

constexpr int kFrames = 2000;

// Sends frame i at i ms under `plan`; nobody answers, so nothing but the plan differs between runs.
Arrivals Stream(const FaultPlan& plan, std::uint64_t seed = 1, PeerId sender = 0) {
  World world(
      [sender](Turn& turn) {
        if (turn.self != sender) return;
        turn.Send(1, std::to_string(turn.input.now / 1ms));
        if (turn.input.now < (kFrames - 1) * 1ms) turn.WakeAt(turn.input.now / 1ms * 1ms + 1ms);
      },
      3, Exact(), seed);
  world.sim.Schedule(plan);
  world.sim.RunUntil(Time::zero());
  world.sim.Start();
  world.sim.RunUntil(10s);
  Arrivals out;
  for (const World::Step& step : world.StepsOf(1)) {
    for (const auto& [from, text] : step.frames) {
      const int number = std::stoi(text);
      if (++out.times[number] == 1) out.first[number] = step.at;
    }
  }
  return out;
}

std::set<int> Late(const Arrivals& arrivals) {
  std::set<int> out;
  for (const auto& [number, at] : arrivals.first) {
    if (at - number * 1ms > 200us) out.insert(number);
  }
  return out;
}

std::set<int> Without(std::set<int> all, const std::set<int>& others) {
  for (const int one : others) all.erase(one);
  return all;
}

TEST(FrameFaults, WithoutAnyEveryFrameArrivesOnceAndInTime) {
  const Arrivals arrivals = Stream({});
  EXPECT_TRUE(arrivals.Missing(kFrames).empty());
  EXPECT_TRUE(arrivals.Twice().empty());
  EXPECT_TRUE(Late(arrivals).empty());
}

TEST(FrameFaults, HitTheShareTheyAreGiven) {
  // 250 of 1000: the standard deviation of 2,000 draws is 19.
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    EXPECT_NEAR(static_cast<double>(Stream({DropFault({0}, 250)}, seed).Missing(kFrames).size()),
                500, 100);
    EXPECT_NEAR(static_cast<double>(Stream({DuplicateFault({0}, 250)}, seed).Twice().size()), 500,
                100);
    EXPECT_NEAR(static_cast<double>(Late(Stream({ReorderFault({0}, 250)}, seed)).size()), 500, 100);
  }
  EXPECT_EQ(Stream({DropFault({0}, 1000)}).times.size(), 0U);
  EXPECT_EQ(Stream({DropFault({0}, 0)}).times.size(), static_cast<std::size_t>(kFrames));
  EXPECT_EQ(Stream({DuplicateFault({0}, 1000)}).Twice().size(), static_cast<std::size_t>(kFrames));
}

TEST(FrameFaults, DependOnTheSeedTheSenderAndTheStart) {
  const auto lost = Stream({DropFault({0}, 300)}).Missing(kFrames);
  EXPECT_EQ(Stream({DropFault({0}, 300)}).Missing(kFrames), lost);
  EXPECT_NE(Stream({DropFault({0}, 300)}, 2).Missing(kFrames), lost);
  EXPECT_NE(Stream({DropFault({2}, 300)}, 1, 2).Missing(kFrames), lost);
  EXPECT_EQ(Stream({DropFault({0, 2}, 300)}).Missing(kFrames), lost) << "others hit as well";
  // Another start draws anew, for frames that both could hit.
  EXPECT_NE(Without(Stream({DropFault({0}, 300).From(1us)}).Missing(kFrames), {0}),
            Without(lost, {0}));
}

TEST(FrameFaults, AreIndependentOfEachOther) {
  // Two faults hit half of the frames each, and a quarter together: the draws are independent.
  const auto lost = Stream({DropFault({0}, 500)}).Missing(kFrames);
  const auto twice = Stream({DuplicateFault({0}, 500)}).Twice();
  const auto late = Late(Stream({ReorderFault({0}, 500)}));
  const auto both = [](const std::set<int>& a, const std::set<int>& b) {
    return static_cast<double>(a.size() - Without(a, b).size());
  };
  EXPECT_NEAR(both(lost, twice), kFrames / 4, 100);
  EXPECT_NEAR(both(lost, late), kFrames / 4, 100);
  EXPECT_NEAR(both(twice, late), kFrames / 4, 100);
}

TEST(FrameFaults, RemovingOneFromAPlanChangesNothingAboutTheOthers) {
  const Fault drop = DropFault({0}, 300);
  const Fault twice = DuplicateFault({0}, 300);
  const Fault late = ReorderFault({0}, 300);
  const auto lost = Stream({drop}).Missing(kFrames);
  const auto doubled = Stream({twice}).Twice();
  const auto delayed = Late(Stream({late}));
  const std::vector<FaultPlan> plans = {{drop, twice, late},
                                        {late, twice, drop},
                                        {twice, late, drop},
                                        {late, drop},
                                        {drop, late},
                                        {drop, twice},
                                        {CpuSlow({2}, 50), PartitionFault({2}), drop, twice, late}};
  for (const FaultPlan& plan : plans) {
    const Arrivals arrivals = Stream(plan);
    const auto has = [&](const Fault& fault) {
      return std::any_of(plan.begin(), plan.end(),
                         [&](const Fault& one) { return one.kind == fault.kind; });
    };
    EXPECT_EQ(arrivals.Missing(kFrames), lost);
    if (has(twice)) {
      EXPECT_EQ(arrivals.Twice(), Without(doubled, lost));
    }
    if (has(late)) {
      EXPECT_EQ(Late(arrivals), Without(delayed, lost));
    }
  }
}

TEST(FrameFaults, AReorderedFrameIsOvertakenButNotForLong) {
  const Arrivals arrivals = Stream({ReorderFault({0}, 100)});
  Duration longest{0};
  std::size_t overtaken = 0;
  for (const auto& [number, at] : arrivals.first) {
    longest = std::max(longest, at - number * 1ms);
    const auto next = arrivals.first.find(number + 1);
    if (next != arrivals.first.end() && next->second < at) ++overtaken;
  }
  EXPECT_GT(longest, 15ms);
  EXPECT_LT(longest, 20ms + 200us);
  EXPECT_GT(overtaken, 100U);
}

TEST(FrameFaults, SpareClients) {
  World world(OnFrameAtZero([](Turn& turn) { turn.Send(kFirstClient, "x"); }));
  int heard = 0;
  const PeerId client = world.sim.AddClient([&](PeerId, const Bytes&) { ++heard; });
  world.Start();
  world.sim.Begin(DropFault({0}, 1000));
  world.sim.Begin(DuplicateFault({0}, 1000));
  for (int i = 0; i < 10; ++i) {
    world.sim.ClientSend(client, 0, MakeBytes("q"));
    world.sim.RunFor(1ms);
  }
  EXPECT_EQ(heard, 10);
}

// ---- slowness ----

// How long a frame of `bytes` bytes from `from` to `to` takes, processors left out.
Duration Latency(World& world, PeerId from, PeerId to) {
  world.sim.ClientSend(kFirstClient, from, MakeBytes(std::to_string(to)));
  world.sim.RunFor(2s);
  return world.StepsOf(to).back().at - world.LastLeft(from);
}

Script Relay() {
  return [](Turn& turn) {
    for (const FrameArrival& frame : turn.input.frames) {
      if (frame.from >= kFirstClient) turn.Send(std::stoi(*frame.bytes), "x");
    }
  };
}

TEST(NetSlow, DelaysEveryFrameThatTheReplicaSends) {
  World world(Relay(), 3);
  world.AddSilentClient();
  world.Start();
  const Duration normal = 100us + 2ns;
  EXPECT_EQ(Latency(world, 0, 1), normal);
  world.sim.Begin(NetSlow({0}, 40ms));
  EXPECT_EQ(Latency(world, 0, 1), normal + 40ms);
  EXPECT_EQ(Latency(world, 1, 0), normal) << "what it receives is not delayed";
  world.sim.Begin(NetSlow({0}, 400ms));
  EXPECT_EQ(Latency(world, 0, 2), normal + 400ms);
  world.sim.End(NetSlow({0}, 400ms));
  EXPECT_EQ(Latency(world, 0, 1), normal + 40ms);
  world.sim.HealAll();
  EXPECT_EQ(Latency(world, 0, 1), normal);
}

TEST(DiskSlow, MovesSoManyBytesPerSecond) {
  World world(OnFrameAtZero([](Turn& turn) { turn.Append("log", std::string(1024, 'd'), true); }),
              2);
  const PeerId client = world.AddSilentClient();
  world.Start();
  const auto write_now = [&] {
    world.sim.ClientSend(client, 0, MakeBytes("q"));
    world.sim.RunFor(100ms);
    return world.StepsOf(0).back().at - world.LastLeft(0);
  };
  EXPECT_EQ(write_now(), 20us + 1024ns + 500us);
  world.sim.Begin(DiskSlow({0}, 128 * 1024));
  EXPECT_EQ(write_now(), 20us + 7'812'500ns + 500us);
  world.sim.Begin(DiskSlow({0}, 1024 * 1024));
  EXPECT_EQ(write_now(), 20us + 7'812'500ns + 500us) << "the slowest counts";
  world.sim.HealAll();
  world.sim.Begin(DiskSlow({1}, 1024));
  EXPECT_EQ(write_now(), 20us + 1024ns + 500us);
}

// ---- partitions ----

// Which pairs of replicas can talk: "01 10" and so on.
std::string Links(World& world) {
  std::string out;
  for (PeerId from = 0; from < world.sim.replicas(); ++from) {
    for (PeerId to = 0; to < world.sim.replicas(); ++to) {
      if (from == to) continue;
      const std::size_t before = world.FramesOf(to).size();
      world.sim.ClientSend(kFirstClient, from, MakeBytes(std::to_string(to)));
      world.sim.RunFor(1ms);
      if (world.FramesOf(to).size() > before) {
        out += (out.empty() ? "" : " ") + std::to_string(from) + std::to_string(to);
      }
    }
  }
  return out;
}

TEST(Partition, CutsOneSideFromTheOtherAndClientsReachBoth) {
  World world(Relay(), 4);
  world.AddSilentClient();
  world.Start();
  world.sim.Begin(PartitionFault({0, 1}));
  EXPECT_EQ(Links(world), "01 10 23 32");
  world.sim.Begin(PartitionFault({1, 2}));
  EXPECT_EQ(Links(world), "") << "four sides of one each";
  world.sim.End(PartitionFault({0, 1}));
  EXPECT_EQ(Links(world), "03 12 21 30");
  world.sim.HealAll();
  EXPECT_EQ(Links(world), "01 02 03 10 12 13 20 21 23 30 31 32");
}

TEST(Partition, HoweverManyFaultsThereAreSidesDiffer) {
  World world(Relay(), 3);
  world.AddSilentClient();
  world.Start();
  world.sim.Begin(PartitionFault({0}));
  world.sim.Begin(PartitionFault({0}));
  for (int i = 0; i < 30; ++i) world.sim.Begin(CpuSlow({2}, 99));
  world.sim.Begin(PartitionFault({1}));
  EXPECT_EQ(Links(world), "");
}

TEST(Cut, IsOneWay) {
  World world(Relay(), 3);
  world.AddSilentClient();
  world.Start();
  world.sim.Begin(CutFault({0}, {1}));
  EXPECT_EQ(Links(world), "02 10 12 20 21");
  world.sim.Begin(CutFault({1, 2}, {0}));
  EXPECT_EQ(Links(world), "02 12 21");
  world.sim.End(CutFault({0}, {1}));
  EXPECT_EQ(Links(world), "01 02 12 21");
  world.sim.HealAll();
  EXPECT_EQ(Links(world), "01 02 10 12 20 21");
}

TEST(Cut, AndPartitionAddUp) {
  World world(Relay(), 3);
  world.AddSilentClient();
  world.Start();
  world.sim.Begin(CutFault({0}, {1}));
  world.sim.Begin(PartitionFault({0}));
  world.sim.Begin(CutFault({2}, {1}));
  EXPECT_EQ(Links(world), "12");
  world.sim.End(PartitionFault({0}));
  EXPECT_EQ(Links(world), "02 10 12 20") << "the cut outlives the partition";
}

TEST(Partition, LosesWhatIsOnTheWire) {
  World world(Relay(), 2);
  const PeerId client = world.AddSilentClient();
  world.Start();
  world.sim.ClientSend(client, 0, MakeBytes("1"));
  world.sim.RunFor(200us);  // it left at 1.122 ms and arrives at 1.222 ms
  world.sim.Begin(PartitionFault({0}));
  world.sim.RunFor(1ms);
  EXPECT_TRUE(world.FramesOf(1).empty());
  EXPECT_EQ(world.sim.HeldBytes(0, 1), 0U);
}

TEST(Partition, ALossOpensTheWindow) {
  Profile profile = Exact();
  profile.net.window_bytes = 1;
  World world(Relay(), 2, profile);
  world.AddSilentClient();
  world.Start();
  world.sim.Begin(PartitionFault({0}));
  // The second waits for the first, which does not arrive.
  for (int i = 0; i < 2; ++i) world.sim.ClientSend(kFirstClient, 0, MakeBytes("1"));
  world.sim.RunFor(160us);
  EXPECT_EQ(world.sim.HeldBytes(0, 1), 1U);
  world.sim.RunFor(1ms);
  EXPECT_EQ(world.sim.HeldBytes(0, 1), 0U);
  world.sim.HealAll();
  EXPECT_EQ(Links(world), "01 10") << "lost frames do not fill the window for ever";
}

// ---- plans ----

TEST(Plan, FaultsBeginAndEndAtTheirTimes) {
  World world(Relay(), 3);
  world.sim.Start();
  world.sim.Schedule({NetSlow({0}, 1ms).From(2ms).For(3ms), CrashFault({1}).From(4ms).For(2ms),
                      CpuSlow({2}, 10).From(8ms)});
  std::vector<Time> at;
  struct Clock : Observer {
    explicit Clock(std::vector<Time>& out) : times(out) {}
    void OnWorld(Time now, const std::string&) override { times.push_back(now); }
    std::vector<Time>& times;
  } clock(at);
  world.sim.AddObserver(&clock);
  world.sim.RunUntil(4ms);
  EXPECT_FALSE(world.sim.IsUp(1));
  world.sim.RunUntil(6ms);
  EXPECT_TRUE(world.sim.IsUp(1));
  world.sim.RunUntil(1s);
  EXPECT_EQ(world.told,
            (std::vector<std::string>{
                "begins: net-slow 1 ms on replica 0 from 0.002 s for 0.003 s",
                "begins: crash on replica 1 from 0.004 s for 0.002 s", "replica 1 dies: crash",
                "ends: net-slow 1 ms on replica 0 from 0.002 s for 0.003 s",
                "ends: crash on replica 1 from 0.004 s for 0.002 s", "replica 1 restarts",
                "begins: cpu-slow 10% on replica 2 from 0.008 s"}));
  EXPECT_EQ(at, (std::vector<Time>{2ms, 4ms, 4ms, 5ms, 6ms, 6ms, 8ms}));
}

TEST(Plan, HealAllEndsEverythingThatIsUnderWay) {
  World world(Relay(), 3);
  world.AddSilentClient();
  world.Start();
  world.sim.Begin(CrashFault({0, 1}));
  world.sim.Begin(PartitionFault({2}));
  world.sim.Begin(DropFault({0, 1, 2}, 1000));
  world.sim.Begin(NetSlow({0}, 1s));
  world.sim.HealAll();
  world.sim.RunFor(1ms);
  EXPECT_TRUE(world.sim.IsUp(0));
  EXPECT_TRUE(world.sim.IsUp(1));
  EXPECT_EQ(Links(world), "01 02 10 12 20 21");
}

}  // namespace
}  // namespace depfast::sim
