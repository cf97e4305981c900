// Hidden tests: all faults at once, then progress is required.
#include "testkit/chaos.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "copilot_world.h"
#include "faults/random_plan.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

constexpr Duration kChaos = 4s;

// Clients submit so many commands of so many bytes every 25 ms. Large ones make logs that are cut.
struct Load {
  int commands = 5;
  std::size_t bytes = 100;
};

faults::FaultPlan PlanOf(int replicas, RandomStream& random) {
  auto mix = faults::UsualMix();
  mix.push_back(faults::PresetStrength("partition"));
  mix.push_back(faults::PresetStrength("crash"));
  mix.push_back({faults::FaultKind::kCut, 0});
  return faults::RandomPlan(
      random,
      {.replicas = replicas, .length = kChaos, .disk_bytes_per_second = 4 << 20, .mix = mix});
}

void Survive(std::uint64_t seed, const Load& load, testkit::Chaos& chaos,
             CopilotChecker::Coverage& met) {
  CopilotWorld world({.replicas = chaos.replicas(), .seed = seed});
  world.cluster.Schedule(chaos.plan());
  while (world.cluster.now() < 700ms + kChaos) {
    for (int i = 0; i < load.commands; ++i) {
      if (chaos.MayStartCommand()) world.SubmitOne(load.bytes);
    }
    world.cluster.RunFor(25ms);
  }
  world.cluster.Heal();
  // Any minority may be dead from now on.
  RandomStream random(testkit::SeedOf(seed), seed, 501);
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

CopilotChecker::Coverage SurviveMany(std::uint64_t worlds, std::uint64_t first, const Load& load) {
  CopilotChecker::Coverage met;
  for (const int replicas : {3, 5, 7}) {
    for (std::uint64_t seed = first; seed < first + worlds; ++seed) {
      SCOPED_TRACE(std::to_string(replicas) + " replicas, world " + std::to_string(seed));
      RandomStream random(testkit::SeedOf(seed), seed, 500);
      testkit::RunChaos({.replicas = replicas, .plan = PlanOf(replicas, random)},
                        [&](testkit::Chaos& chaos) { Survive(seed, load, chaos, met); });
      if (testing::Test::HasFailure()) return met;
    }
  }
  return met;
}

GRADED_TEST(
    CopilotChaos, SurvivesAnything, "5d", 1,
    "Under slow, dead and cut off replicas no rule is broken. Then a majority makes progress "
    "within 8 s.") {
  const auto met = SurviveMany(6, 561, Load());
  EXPECT_GT(met.fast, 0U);
  EXPECT_GT(met.accepted, 0U);
}

GRADED_TEST(CopilotChaos, SnapshotsSurviveAnything, "5d", 1,
            "The same with large commands, so that logs are cut and replicas restore snapshots.") {
  const auto met = SurviveMany(2, 571, {.commands = 2, .bytes = 32 << 10});
  EXPECT_GT(met.fast, 0U);
}

}  // namespace
}  // namespace depfast::copilot
