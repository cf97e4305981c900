#include "saucr_chaos.h"

#include <gtest/gtest.h>

#include <string>

#include "faults/random_plan.h"
#include "saucr_world.h"

namespace depfast::saucr {
namespace {

constexpr Duration kChaos = 4s;
constexpr Duration kUntilRecovered = 500ms;
constexpr Duration kUntilProgress = 4s;

faults::FaultPlan PlanOf(int replicas, RandomStream& random) {
  auto mix = faults::UsualMix();
  mix.push_back(faults::PresetStrength("partition"));
  mix.push_back(faults::PresetStrength("crash"));
  mix.push_back({faults::FaultKind::kCut, 0});
  return faults::RandomPlan(
      random,
      {.replicas = replicas, .length = kChaos, .disk_bytes_per_second = 4 << 20, .mix = mix});
}

// Those that a crash of too many has left without answers about their LLEs never serve again.
bool CanServe(const SaucrWorld& world) {
  int recovered = 0;
  for (PeerId id = 0; id < world.group().replicas(); ++id) {
    if (world.checker.claims(id).recovery != Recovery::kRecovering) ++recovered;
  }
  return recovered > Quorums(world.group().replicas()).minority();
}

void Survive(std::uint64_t world_number, const ChaosLoad& load, testkit::Chaos& chaos,
             ChaosMet& met) {
  SaucrWorld world({.replicas = chaos.replicas(), .seed = world_number});
  world.cluster.Schedule(chaos.plan());
  while (world.cluster.now() < 700ms + kChaos) {
    for (int i = 0; i < load.commands; ++i) {
      if (chaos.MayStartCommand()) world.SubmitOne(load.bytes);
    }
    world.cluster.RunFor(25ms);
  }
  world.cluster.Heal();
  world.cluster.RunFor(kUntilRecovered);
  if (CanServe(world)) {
    ASSERT_TRUE(world.Commit(10, kUntilProgress)) << "no progress after the last fault";
    ASSERT_TRUE(world.WaitForAllApplied(6s)) << "a replica does not catch up";
  } else {
    ++met.unavailable;
  }
  ASSERT_TRUE(world.AllInvariantsHold());
  met.coverage += world.checker.coverage();
}

}  // namespace

ChaosMet SurviveChaos(std::uint64_t first, std::uint64_t worlds, const ChaosLoad& load) {
  ChaosMet met;
  for (const int replicas : {3, 5, 7}) {
    for (std::uint64_t number = first; number < first + worlds; ++number) {
      SCOPED_TRACE(std::to_string(replicas) + " replicas, world " + std::to_string(number));
      RandomStream random(testkit::SeedOf(number), number, 600);
      testkit::RunChaos({.replicas = replicas, .plan = PlanOf(replicas, random)},
                        [&](testkit::Chaos& chaos) { Survive(number, load, chaos, met); });
      if (testing::Test::HasFailure()) return met;
    }
  }
  return met;
}

}  // namespace depfast::saucr
