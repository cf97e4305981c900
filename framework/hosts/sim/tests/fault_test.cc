// Faults in a whole simulation: their effects, their beginnings and ends, and no other effects.
#include "faults/fault.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
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
  EXPECT_NEAR(both(lost, twice), kFrames / 4.0, 100);
  EXPECT_NEAR(both(lost, late), kFrames / 4.0, 100);
  EXPECT_NEAR(both(twice, late), kFrames / 4.0, 100);
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

TEST(FrameFaults, ASlowLinkDelaysItsFramesInItsDirectionOnly) {
  const auto first = [](const FaultPlan& plan) { return Stream(plan).first.at(100); };
  const Time usual = first({});
  EXPECT_EQ(first({LinkSlow({0}, {1}, 30ms)}), usual + 30ms);
  EXPECT_EQ(first({LinkSlow({0, 1}, {1, 0}, 30ms)}), usual + 30ms);
  EXPECT_EQ(first({LinkSlow({0}, {2}, 30ms)}), usual) << "another receiver";
  EXPECT_EQ(first({LinkSlow({1}, {0}, 30ms)}), usual) << "another direction";
  EXPECT_EQ(first({LinkSlow({0}, {1}, 30ms), NetSlow({0}, 40ms)}), usual + 70ms);
}

TEST(FrameFaults, ALateFrameIsOvertaken) {
  const Arrivals usual = Stream({});
  const Arrivals arrivals = Stream({LateFault({0}, {1}, 30ms).From(5ms).For(2ms)});
  EXPECT_EQ(Late(arrivals), (std::set<int>{5, 6})) << "those after them are in time";
  for (const int late : {5, 6}) {
    EXPECT_GE(arrivals.first.at(late), usual.first.at(late) + 30ms);
    EXPECT_LT(arrivals.first.at(late), usual.first.at(late) + 31ms);
  }
  EXPECT_EQ(Stream({LateFault({0}, {2}, 30ms)}).first, usual.first) << "another receiver";
}

TEST(FrameFaults, AndPartitionsSpareClients) {
  World world(OnFrameAtZero([](Turn& turn) { turn.Send(kFirstClient, "x"); }));
  int heard = 0;
  const PeerId client = world.sim.AddClient([&](PeerId, const Bytes&) { ++heard; });
  world.Start();
  world.sim.Begin(DropFault({0}, 1000));
  world.sim.Begin(DuplicateFault({0}, 1000));
  world.sim.Begin(PartitionFault({0}));
  for (int i = 0; i < 10; ++i) {
    world.sim.ClientSend(client, 0, MakeBytes("q"));
    world.sim.RunFor(1ms);
  }
  EXPECT_EQ(heard, 10);
}

// ---- plans ----

TEST(Plan, FaultsBeginAndEndAtTheirTimes) {
  World world(Idle, 3);
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

}  // namespace
}  // namespace depfast::sim
