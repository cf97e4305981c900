// Shrink: the faults that it leaves out and keeps, and the moment at which it stops.
#include "testkit/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace depfast::testkit {
namespace {

using faults::Fault;
using faults::FaultPlan;

// Fourteen crashes, one a second; the one of second `number` is of replica number % 5.
Schedule Crashes(int replicas = 5) {
  Schedule schedule{.replicas = replicas, .plan = {}};
  for (int number = 0; number < 14; ++number) {
    schedule.plan.push_back(faults::CrashFault({number % 5}).From(number * 1s).For(100ms));
  }
  return schedule;
}

bool Has(const Schedule& schedule, int number) {
  return std::ranges::find(schedule.plan, Crashes().plan[static_cast<std::size_t>(number)]) !=
         schedule.plan.end();
}

// Counts the runs, and fails as `rule` says.
struct Runner {
  std::function<std::string(const Schedule&)> rule;
  int runs = 0;
  std::int64_t clients = 800;  // commands that the clients would start

  Shrunk Shrink(const Schedule& failing, int runs_max = 1000) {
    const RunSchedule run = [this](const Schedule& schedule) {
      ++runs;
      return RunEnd{rule(schedule), std::min(clients, schedule.commands)};
    };
    return testkit::Shrink(failing, {rule(failing), clients}, runs_max, run);
  }
};

TEST(Shrink, OnlyTheFaultsThatMatterStay) {
  Runner runner{[](const Schedule& s) { return Has(s, 3) && Has(s, 11) ? "log matching" : ""; }};
  const Shrunk shrunk = runner.Shrink(Crashes());
  EXPECT_EQ(shrunk.schedule.plan, (FaultPlan{Crashes().plan[3], Crashes().plan[11]}));
  EXPECT_EQ(shrunk.runs, runner.runs);
}

TEST(Shrink, APlanThatIsNotNeededGoes) {
  Runner runner{[](const Schedule&) { return "log matching"; }};
  const Shrunk shrunk = runner.Shrink(Crashes());
  EXPECT_EQ(shrunk.schedule, (Schedule{.replicas = 3, .plan = {}, .commands = 0}));
}

TEST(Shrink, AnotherFailureIsNotTaken) {
  // Without the crash of second 3 another invariant is violated.
  Runner runner{[](const Schedule& s) { return Has(s, 3) ? "log matching" : "durability"; }};
  const Shrunk shrunk = runner.Shrink(Crashes());
  EXPECT_EQ(shrunk.schedule.plan, FaultPlan{Crashes().plan[3]});
}

TEST(Shrink, FewerReplicasGoWithoutTheFaultsOfTheOthers) {
  Runner runner{[](const Schedule& s) { return Has(s, 1) ? "log matching" : ""; }};
  const Schedule seven = [] {
    Schedule schedule = Crashes(7);
    schedule.plan.push_back(faults::CutFault({0}, {6}));
    return schedule;
  }();
  int most = 0;
  int room = 7;  // from the highest replica with a fault to the number of replicas
  runner.rule = [&, rule = runner.rule](const Schedule& s) {
    for (const Fault& fault : s.plan) {
      for (const PeerId id : fault.replicas) room = std::min(room, s.replicas - id);
      for (const PeerId id : fault.receivers) room = std::min(room, s.replicas - id);
    }
    most = std::max(most, s.replicas);
    return rule(s);
  };
  EXPECT_EQ(runner.Shrink(seven).schedule.replicas, 3);
  EXPECT_EQ(most, 7);
  EXPECT_EQ(room, 1);
}

TEST(Shrink, ReplicasThatMatterStay) {
  Runner runner{[](const Schedule& s) { return s.replicas == 5 ? "log matching" : ""; }};
  EXPECT_EQ(runner.Shrink(Crashes()).schedule.replicas, 5);
}

TEST(Shrink, OnlyTheFirstCommandsStay) {
  Runner runner{[](const Schedule& s) { return s.commands >= 37 ? "log matching" : ""; }};
  EXPECT_EQ(runner.Shrink(Crashes()).schedule.commands, 37);
}

TEST(Shrink, StopsAtItsBudget) {
  for (const int budget : {0, 1, 7}) {
    Runner runner{[](const Schedule& s) { return Has(s, 3) ? "log matching" : ""; }};
    const Shrunk shrunk = runner.Shrink(Crashes(), budget);
    EXPECT_EQ(runner.runs, budget);
    EXPECT_EQ(shrunk.runs, budget);
    EXPECT_TRUE(Has(shrunk.schedule, 3)) << "what is found so far fails";
  }
}

TEST(Shrink, AScheduleIsDescribedAsItsPlanIsWritten) {
  Schedule schedule{.replicas = 3, .plan = {faults::CrashFault({1}).From(1s).For(500ms)}};
  EXPECT_EQ(schedule.Describe(),
            "3 replicas, 1 fault\n  crash on replica 1 from 1.000 s for 0.500 s");
  schedule.commands = 1;
  EXPECT_TRUE(schedule.Describe().starts_with("3 replicas, 1 fault, 1 command\n"));
}

}  // namespace
}  // namespace depfast::testkit
