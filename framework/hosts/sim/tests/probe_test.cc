// Probes in simulation: they see the cost and the duration of a step, and a probe changes nothing.
#include "depfast/host/probe.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "depfast/host/service.h"
#include "depfast/verify/activity_probe.h"
#include "sim/simulator.h"
#include "sim/step_host.h"
#include "support/echo.h"
#include "world.h"

namespace depfast::sim {
namespace {

// Replica 0 greets its peers every 5 ms, and draws a number for each round.
class Greeter : public Service {
 public:
  explicit Greeter(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    ServeEcho(runtime_.rpc());
    if (runtime_.self() != 0) return;
    runtime_.Spawn("greet", [this] {
      for (;;) {
        runtime_.Sleep(5ms);
        runtime_.RandomBetween(1, 6);
        for (const auto& call : runtime_.rpc().CallAll(runtime_.peers(), Echo{})) call->Wait(2ms);
      }
    });
  }

 private:
  Runtime& runtime_;
};

std::unique_ptr<Service> MakeGreeter(Runtime& runtime) {
  return std::make_unique<Greeter>(runtime);
}

class UsageProbe : public RuntimeProbe {
 public:
  void OnStepEnd(const Runtime& runtime, const StepUsage& usage) override {
    if (runtime.self() == 0) usages.push_back(usage);
  }
  std::vector<StepUsage> usages;
};

struct Record {
  std::vector<StepUsage> usages;
  std::vector<Time> steps;  // of replica 0
  std::uint64_t hash = 0;
};

Record RunGreeters(bool probed, const FaultPlan& faults = {}) {
  UsageProbe probe;
  World world(InProcessReplicas(MakeGreeter, probed ? &probe : nullptr), 3, Exact(), 1);
  world.sim.Schedule(faults);
  world.sim.Start();
  world.sim.RunUntil(100ms);
  Record run{probe.usages, {}, world.sim.trace().hash()};
  for (const World::Step& step : world.StepsOf(0)) run.steps.push_back(step.at);
  return run;
}

TEST(SimProbes, EveryStepIsHeardOfOnceWhenTheNextOneBegins) {
  for (const int percent : {100, 5}) {
    const Record run = RunGreeters(true, {CpuSlow({0}, percent)});
    ASSERT_GT(run.steps.size(), 20U);
    ASSERT_EQ(run.usages.size() + 1, run.steps.size());
    // The first step spawns a coroutine: no frames, no disk.
    EXPECT_EQ(run.usages[0].cost, Exact().cpu.per_step);
    for (std::size_t i = 0; i < run.usages.size(); ++i) {
      EXPECT_EQ(run.usages[i].began, run.steps[i]);
      EXPECT_EQ(run.usages[i].took, run.usages[i].cost * (100 / percent));
    }
  }
}

TEST(SimProbes, ARestartedReplicaIsNotToldOfItsFormerSteps) {
  const Record run = RunGreeters(true, {CrashFault({0}).From(40ms).For(20ms)});
  EXPECT_EQ(run.usages.size() + 2, run.steps.size()) << "the last step of both lives is not heard";
}

TEST(SimProbes, AProbeChangesNoTraceHash) {
  EXPECT_EQ(RunGreeters(true).hash, RunGreeters(false).hash);
}

// A verdict is made outside the replica: from the report of the replica's own probe.
TEST(SimProbes, AReportTellsThatAProcessorIsSlow) {
  const auto greeters = InProcessReplicas(MakeGreeter);
  const auto make = [&greeters](ReplicaConfig config) {
    config.probes = {ActivityProbe::kName};
    return greeters(config);
  };
  World world(make, 3, Exact(), 1);
  world.sim.Schedule({CpuSlow({2}, 5)});
  world.sim.Start();
  world.sim.RunUntil(3s);
  for (const PeerId replica : {1, 2}) {
    const auto windows = ActivityProbe::Read(world.sim.Report(replica, ActivityProbe::kName));
    ASSERT_TRUE(windows.has_value());
    ASSERT_EQ(windows->size(), 5U) << "the sixth ends when the replica hears of something later";
    for (const ActivityWindow& window : *windows) {
      EXPECT_EQ(window.took_ns, window.cost_ns * (replica == 2 ? 20 : 1));
    }
  }
}

}  // namespace
}  // namespace depfast::sim
