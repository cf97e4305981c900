#include "copilot_chaos.h"

#include <gtest/gtest.h>

#include <string>

#include "copilot_world.h"
#include "faults/random_plan.h"

namespace depfast::copilot {
namespace {

constexpr Duration kChaos = 4s;

faults::FaultPlan PlanOf(int replicas, RandomStream& random) {
  return faults::RandomPlan(random, {.replicas = replicas,
                                     .length = kChaos,
                                     .disk_bytes_per_second = 4 << 20,
                                     .mix = faults::HarshMix()});
}

void Survive(std::uint64_t world_number, const ChaosLoad& load, testkit::Chaos& chaos,
             CopilotChecker::Coverage& met) {
  CopilotWorld world({.replicas = chaos.replicas(), .seed = world_number});
  world.cluster.Schedule(chaos.plan());
  while (world.cluster.now() < 700ms + kChaos) {
    for (int i = 0; i < load.commands; ++i) {
      if (chaos.MayStartCommand()) world.SubmitOne(load.bytes);
    }
    world.cluster.RunFor(25ms);
  }
  world.cluster.Heal();
  // Any minority may be dead from now on.
  RandomStream random(testkit::SeedOf(world_number), world_number, 501);
  for (int i = 0; i < (chaos.replicas() - 1) / 2; ++i) {
    world.cluster.Crash(
        static_cast<PeerId>(random.Below(static_cast<std::uint64_t>(chaos.replicas()))));
  }
  ASSERT_TRUE(world.Commit(10, 8s)) << "a healed majority makes no progress within 8 s";
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied(6s)) << "a replica does not catch up after the last fault";
  ASSERT_TRUE(world.AllInvariantsHold());
  met += world.checker.coverage();
}

}  // namespace

CopilotChecker::Coverage SurviveChaos(std::uint64_t first, std::uint64_t worlds,
                                      const ChaosLoad& load) {
  CopilotChecker::Coverage met;
  for (const int replicas : {3, 5, 7}) {
    for (std::uint64_t number = first; number < first + worlds; ++number) {
      SCOPED_TRACE(std::to_string(replicas) + " replicas, world " + std::to_string(number));
      RandomStream random(testkit::SeedOf(number), number, 500);
      testkit::RunChaos({.replicas = replicas, .plan = PlanOf(replicas, random)},
                        [&](testkit::Chaos& chaos) { Survive(number, load, chaos, met); });
      if (testing::Test::HasFailure()) return met;
    }
  }
  return met;
}

}  // namespace depfast::copilot
