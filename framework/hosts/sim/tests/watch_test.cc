// A watch in simulation: a slow replica finds itself slow, and its steps are charged.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "depfast/host/service.h"
#include "depfast/verify/builtin_detectors.h"
#include "sim/simulator.h"
#include "sim/step_host.h"
#include "world.h"

namespace depfast::sim {
namespace {

constexpr std::uint32_t kFound = 7;  // the kind of an observation

// Observes what its detector finds. If it works, then a little every 2 ms.
class SelfWatcher : public Service {
 public:
  SelfWatcher(Runtime& runtime, bool watches, bool works)
      : runtime_(runtime), watches_(watches), works_(works) {}

  void Start() override {
    if (watches_) {
      runtime_.Watch(std::make_unique<OccupancyDetector>(),
                     [this](const Finding&) { runtime_.Observe({kFound, {}}); });
    }
    if (!works_) return;
    runtime_.Spawn("work", [this] {
      for (;;) runtime_.Sleep(2ms);
    });
  }

 private:
  Runtime& runtime_;
  const bool watches_;
  const bool works_;
};

BackendFactory SelfWatchers(bool watches, bool works) {
  return InProcessReplicas(
      [=](Runtime& runtime) { return std::make_unique<SelfWatcher>(runtime, watches, works); });
}

// By replica: the moments of its findings.
class FindingTimes : public Observer {
 public:
  void OnStep(PeerId replica, const StepInput& input, const StepOutput& output) override {
    for (const Output& one : output.outputs) {
      const auto* const seen = std::get_if<Observation>(&one);
      if (seen != nullptr && seen->kind == kFound) of[replica].push_back(input.now);
    }
  }

  std::vector<Time> of[2];
};

TEST(SimWatch, ASlowReplicaFindsItself) {
  World world(SelfWatchers(true, true), 2, Exact(), 1);
  FindingTimes found;
  world.sim.AddObserver(&found);
  world.sim.Schedule({CpuSlow({1}, 5).From(1s).For(1s)});
  world.sim.Start();
  world.sim.RunUntil(4s);
  EXPECT_TRUE(found.of[0].empty());
  ASSERT_EQ(found.of[1].size(), 2U) << "the fault lasts for two windows";
  EXPECT_GE(found.of[1][0], 1500ms);
  EXPECT_LT(found.of[1][1], 2001ms);
}

TEST(SimWatch, TheEndOfAWindowIsAStep) {
  const auto steps_of = [](bool watches) {
    World world(SelfWatchers(watches, false), 1, Exact(), 1);
    world.sim.Start();
    world.sim.RunUntil(1999ms);
    return world.StepsOf(0);
  };
  EXPECT_EQ(steps_of(false).size(), 1U) << "without a watch an idle replica has its first step";
  const auto steps = steps_of(true);
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[1].at, 500ms);
  EXPECT_EQ(steps[3].at, 1500ms);
}

}  // namespace
}  // namespace depfast::sim
