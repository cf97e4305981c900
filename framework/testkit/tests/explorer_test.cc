// Explore, on worlds that are nothing but a list of possible deviations.
#include "testkit/explorer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "faults/text.h"
#include "testkit/some.h"

namespace depfast::testkit {
namespace {

using faults::Fault;
using faults::FaultPlan;

constexpr std::int64_t kAnyRuns = std::numeric_limits<std::int64_t>::max();

Fault Loss(Time when) { return faults::CutFault({0}, {1}).From(when).For(1ns); }
Fault Crash(Time when) { return faults::CrashFault({0}).From(when).For(1ms); }

// Losses and crashes are possible at 1, 2, 3 and 4 ms. Remembers its plans.
class World {
 public:
  // `state`: of the world at a time, under a plan.
  explicit World(std::function<std::uint64_t(const FaultPlan&, Time)> state)
      : state_(std::move(state)) {}

  ExploredRun Run(const FaultPlan& plan) {
    plans_.push_back(plan);
    ExploredRun run;
    for (Time when = 1ms; when <= 4ms; when += 1ms) {
      run.choices.push_back({Loss(when), state_(plan, when)});
      run.choices.push_back({Crash(when), state_(plan, when)});
    }
    if (fails_ && fails_(plan)) run.failure = "it fails";
    return run;
  }

  void set_fails(std::function<bool(const FaultPlan&)> fails) { fails_ = std::move(fails); }
  const std::vector<FaultPlan>& plans() const { return plans_; }

  Exploration Explored(const Bound& bound, std::int64_t runs_max = kAnyRuns) {
    return Explore(bound, runs_max, [this](const FaultPlan& plan) { return Run(plan); });
  }

 private:
  const std::function<std::uint64_t(const FaultPlan&, Time)> state_;
  std::function<bool(const FaultPlan&)> fails_;
  std::vector<FaultPlan> plans_;
};

// Every moment of every run is a state of its own.
std::uint64_t Distinct(const FaultPlan& plan, Time when) {
  return std::hash<std::string>()(faults::PrintPlan(plan) + std::to_string(when.count()));
}

std::int64_t CountOf(const FaultPlan& plan, Fault::Kind kind) {
  return std::count_if(plan.begin(), plan.end(), [kind](const Fault& f) { return f.kind == kind; });
}

TEST(Explorer, EverySetOfDeviationsRunsOnceAndShortOnesFirst) {
  World world(Distinct);
  const Exploration explored = world.Explored({.deviations = 3});
  EXPECT_TRUE(explored.complete);
  EXPECT_EQ(explored.runs, (std::vector<std::int64_t>{1, 8, 28, 56})) << "of 8: 1, 2 and 3";
  std::set<std::set<std::string>> sets;
  std::size_t length = 0;
  for (const FaultPlan& plan : testkit::Some(world.plans())) {
    EXPECT_GE(plan.size(), length);
    length = plan.size();
    std::set<std::string> lines;
    for (const Fault& fault : plan) lines.insert(faults::Print(fault));
    EXPECT_EQ(lines.size(), plan.size());
    EXPECT_TRUE(sets.insert(lines).second) << faults::PrintPlan(plan);
  }
}

TEST(Explorer, NoScheduleExceedsTheBoundOfAKind) {
  World world(Distinct);
  const Exploration explored = world.Explored({.deviations = 3, .losses = 1, .crashes = 2});
  EXPECT_EQ(explored.runs, (std::vector<std::int64_t>{1, 8, 4 * 4 + 6, 4 * 6}));
  for (const FaultPlan& plan : testkit::Some(world.plans())) {
    EXPECT_LE(CountOf(plan, Fault::Kind::kCut), 1);
    EXPECT_LE(CountOf(plan, Fault::Kind::kCrash), 2);
  }
}

TEST(Explorer, TheFirstFailureEndsItAndIsShortest) {
  World world(Distinct);
  world.set_fails([](const FaultPlan& plan) {
    return CountOf(plan, Fault::Kind::kCrash) >= 2 && plan.back().start >= 3ms;
  });
  const Exploration explored = world.Explored({.deviations = 4});
  EXPECT_EQ(explored.failing, (FaultPlan{Crash(1ms), Crash(3ms)}));
  EXPECT_EQ(explored.failure, "it fails");
  EXPECT_EQ(world.plans().back(), explored.failing) << "nothing runs after it";
}

TEST(Explorer, ADeviationIsTriedOnceInAState) {
  // The world does not change with time, nor by losses. It is another one after each crash.
  World world([](const FaultPlan& plan, Time when) {
    return static_cast<std::uint64_t>(std::count_if(
        plan.begin(), plan.end(),
        [when](const Fault& f) { return f.kind == Fault::Kind::kCrash && f.start < when; }));
  });
  const Exploration explored = world.Explored({.deviations = 2});
  EXPECT_EQ(explored.states, (std::set<std::uint64_t>{0, 1, 2}));
  // In state 0 a loss and a crash. After the loss both again, since less is left. After the crash a
  // loss at the same moment, and both in state 1.
  EXPECT_EQ(explored.runs, (std::vector<std::int64_t>{1, 2, 5}));
  EXPECT_EQ(world.plans().back(), (FaultPlan{Crash(1ms), Crash(2ms)}));
}

TEST(Explorer, ItStopsAfterItsRuns) {
  World world(Distinct);
  const Exploration explored = world.Explored({.deviations = 2}, 10);
  EXPECT_EQ(explored.all_runs(), 10);
  EXPECT_EQ(world.plans().size(), 10U);
  EXPECT_FALSE(explored.complete);
  EXPECT_TRUE(World(Distinct).Explored({.deviations = 2}, 37).complete) << "1 + 8 + 28";
}

}  // namespace
}  // namespace depfast::testkit
