// Hidden tests: all faults at once. Then progress is required where SAUCR promises it.
#include "testkit/chaos.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "faults/random_plan.h"
#include "saucr_world.h"
#include "testkit/environment.h"
#include "testkit/situations.h"

namespace depfast::saucr {
namespace {

constexpr Duration kChaos = 4s;
constexpr Duration kProgress = 4s;
constexpr Duration kEvery = 25ms;  // commands
constexpr char kFast[] = "entries of fast mode";

// Commands at a time, and their bytes. Large ones make replicas cut their logs.
struct ChaosLoad {
  int commands;
  std::size_t bytes;
};
constexpr ChaosLoad kSmall = {3, 100}, kLarge = {2, std::size_t{32} << 10};

faults::FaultPlan PlanOf(int replicas, RandomStream& random) {
  return faults::RandomPlan(random, {.replicas = replicas,
                                     .length = kChaos,
                                     .disk_bytes_per_second = 4 << 20,
                                     .mix = faults::HarshMix()});
}

// A new command is committed, and then all replicas have all, if enough replicas have their data.
void RequireProgress(SaucrWorld& world) {
  if (!world.checker.MayServe()) return;
  ASSERT_TRUE(world.Commit(10, kProgress)) << "no progress, though enough replicas have their data";
}

void Survive(std::uint64_t number, const ChaosLoad& load, testkit::Chaos& chaos,
             testkit::SituationCounts& situations) {
  SaucrWorld world({.replicas = chaos.replicas(), .seed = number});
  world.cluster.Schedule(chaos.plan());
  while (world.cluster.now() < 700ms + kChaos) {
    for (int i = 0; i < load.commands; ++i) {
      if (chaos.MayStartCommand()) world.SubmitOne(load.bytes);
    }
    world.cluster.RunFor(kEvery);
  }
  world.cluster.Heal();
  // Any minority may be dead from now on.
  RandomStream random(testkit::SeedOf(number), number, 601);
  for (int i = 0; i < Quorums(chaos.replicas()).minority(); ++i) {
    world.cluster.Crash(
        static_cast<PeerId>(random.Below(static_cast<std::uint64_t>(chaos.replicas()))));
  }
  const bool minority_is_dead = world.checker.MayServe();
  ASSERT_NO_FATAL_FAILURE(RequireProgress(world));
  world.cluster.Heal();
  ASSERT_NO_FATAL_FAILURE(RequireProgress(world));
  if (world.checker.MayServe()) {
    ASSERT_TRUE(world.WaitForAllApplied(6s)) << "a replica does not catch up after the last fault";
  }
  ASSERT_TRUE(world.AllInvariantsHold());
  const auto& met = world.checker.coverage();
  situations.Add({{kFast, met.fast > 0},
                  {"entries of slow mode", met.slow > 0},
                  {"a return to fast mode", met.switches > 1},
                  {"a replica that has lost entries", met.recoveries > 0},
                  {"service without a minority", minority_is_dead},
                  {"service, and all are up", world.checker.MayServe()}});
  if (load.bytes == kLarge.bytes) situations.Add({{"a snapshot", met.restored > 0}});
}

// Worlds `first` and those after it, with 3, 5 and 7 replicas each.
void SurviveChaos(std::uint64_t first, std::uint64_t worlds, const ChaosLoad& load,
                  testkit::SituationCounts& situations) {
  for (const int replicas : {3, 5, 7}) {
    for (std::uint64_t number = first; number < first + worlds; ++number) {
      SCOPED_TRACE(std::to_string(replicas) + " replicas, world " + std::to_string(number));
      RandomStream random(testkit::SeedOf(number), number, 600);
      testkit::RunChaos({.replicas = replicas, .plan = PlanOf(replicas, random)},
                        [&](testkit::Chaos& chaos) { Survive(number, load, chaos, situations); });
      if (testing::Test::HasFailure()) return;
    }
  }
}

GRADED_TEST(Chaos, SurvivesAnything, "6d", 2,
            "Crashes, slow disks and links, partitions: no rule is broken. Then commands are "
            "committed within 4 s, if a majority is up and a minority has its data.") {
  testkit::SituationCounts situations;
  SurviveChaos(681, 3, kSmall, situations);
  SurviveChaos(691, 2, kLarge, situations);
  EXPECT_GT(situations.of(kFast), 0) << "no entry is committed in fast mode";
}

// ---- partitions ----

// Three of five are a majority, in slow mode; the two others flush. So either side may crash.
constexpr int kReplicas = 5;
constexpr Duration kUntilBothFlush = 150ms;

std::vector<PeerId> RandomSide(RandomStream& random, int size) {
  std::vector<PeerId> side;
  const auto first = static_cast<PeerId>(random.Below(kReplicas));
  const auto step = static_cast<PeerId>(1 + random.Below(kReplicas - 1));
  for (int i = 0; i < size; ++i) side.push_back((first + i * step) % kReplicas);
  return side;
}

void SubmitFor(SaucrWorld& world, Duration time) {
  for (const Time end = world.cluster.now() + time; world.cluster.now() < end;) {
    world.SubmitOne();
    world.cluster.RunFor(kEvery);
  }
}

void CutAndCrash(std::uint64_t number, testkit::SituationCounts& situations) {
  SaucrWorld world({.replicas = kReplicas, .seed = number});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  RandomStream random(testkit::SeedOf(number), number, 602);
  for (int cuts = 0; cuts < 4; ++cuts) {
    world.cluster.Partition(RandomSide(random, 1 + static_cast<int>(random.Below(2))));
    SubmitFor(world, random.Below(Duration(400ms)));
    world.cluster.Heal();
    SubmitFor(world, random.Below(Duration(300ms)));
  }
  const std::vector<PeerId> side = RandomSide(random, 2);
  world.cluster.Partition(side);
  SubmitFor(world, kUntilBothFlush + random.Below(Duration(500ms)));
  const bool crashes_side = random.Below(2) == 0;
  for (PeerId id = 0; id < kReplicas; ++id) {
    if ((std::ranges::find(side, id) != side.end()) == crashes_side) world.cluster.Crash(id);
  }
  world.cluster.Heal();
  ASSERT_TRUE(world.Commit(5, kProgress)) << "no progress, though all had flushed";
  ASSERT_TRUE(world.WaitForAllApplied(4s));
  ASSERT_TRUE(world.AllInvariantsHold());
  situations.Add({{kFast, world.checker.coverage().fast > 0}});
}

GRADED_TEST(Partitions, RandomCuts, "6d", 2,
            "After random partitions, one side of the last one crashes: nothing is lost, and a "
            "command is committed within 4 s.") {
  testkit::SituationCounts situations;
  for (std::uint64_t number = 6600; number < 6612 && !HasFailure(); ++number) {
    SCOPED_TRACE("world " + std::to_string(number));
    CutAndCrash(number, situations);
  }
  EXPECT_GT(situations.of(kFast), 0) << "no entry is committed in fast mode";
}

}  // namespace
}  // namespace depfast::saucr
