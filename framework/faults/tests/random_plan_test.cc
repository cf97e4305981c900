// Random plans: their kinds, victims and times. A seed always gives the same plan.
#include "faults/random_plan.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "faults/text.h"

namespace depfast::faults {
namespace {

FaultPlan PlanOf(std::uint64_t seed, const ChaosOptions& options = {}) {
  RandomStream random(seed);
  return RandomPlan(random, options);
}

TEST(Chaos, ASeedAlwaysGivesTheSamePlan) {
  // Chaos tests run other plans if the draws change: their trace hashes then change as well.
  EXPECT_EQ(PrintPlan(PlanOf(1, {.replicas = 3, .faults = 3})),
            "net-slow 40 ms on replica 0 from 3.03240616 s for 0.896360385 s\n"
            "disk-slow 128 KB/s on replica 2 from 1.987768095 s for 0.311979287 s\n"
            "partition on replicas 1 2 from 1.934250092 s for 0.788922619 s\n");
  EXPECT_EQ(PlanOf(2), PlanOf(2));
  EXPECT_NE(PlanOf(2), PlanOf(3));
}

TEST(Chaos, DrawsEveryKindAndEveryVictim) {
  std::set<FaultKind> kinds;
  std::set<PeerId> victims;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const Fault& fault : PlanOf(seed, {.replicas = 5})) {
      kinds.insert(fault.kind);
      victims.insert(fault.replicas.front());
    }
  }
  EXPECT_EQ(kinds,
            (std::set<FaultKind>{FaultKind::kCpuSlow, FaultKind::kDiskSlow, FaultKind::kNetSlow,
                                 FaultKind::kCrash, FaultKind::kPartition, FaultKind::kDrop,
                                 FaultKind::kDuplicate, FaultKind::kReorder}));
  EXPECT_EQ(victims, (std::set<PeerId>{0, 1, 2, 3, 4}));
}

TEST(Chaos, DrawsFromAMixAlone) {
  const std::vector<Strength> mix = {{FaultKind::kDiskError, 50}, {FaultKind::kLinkSlow, 7}};
  std::set<FaultKind> kinds;
  for (const Fault& fault : PlanOf(1, {.replicas = 3, .faults = 20, .mix = mix})) {
    kinds.insert(fault.kind);
    const bool on_link = fault.kind == FaultKind::kLinkSlow;
    EXPECT_EQ(fault.amount, on_link ? 7 : 50);
    const std::vector<PeerId> successor = {(fault.replicas.front() + 1) % 3};
    EXPECT_EQ(fault.receivers, on_link ? successor : std::vector<PeerId>());
  }
  EXPECT_EQ(kinds, (std::set<FaultKind>{FaultKind::kDiskError, FaultKind::kLinkSlow}));
}

TEST(Chaos, KeepsItsTimes) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const FaultPlan plan = PlanOf(seed, {.faults = 20, .begin = 2s, .length = 3s});
    EXPECT_EQ(plan.size(), 20U);
    for (const Fault& fault : plan) {
      EXPECT_GE(fault.start, 2s);
      EXPECT_LT(fault.start, 4s);
      EXPECT_GE(fault.duration, 100ms);
      EXPECT_LT(fault.duration, 1100ms);
    }
  }
}

TEST(Chaos, TheDiskIsAsSlowAsAskedAndNothingElseChanges) {
  const FaultPlan usual = PlanOf(4);
  const FaultPlan faster = PlanOf(4, {.disk_bytes_per_second = 4 << 20});
  ASSERT_EQ(usual.size(), faster.size());
  int disks = 0;
  for (std::size_t i = 0; i < usual.size(); ++i) {
    Fault expected = usual[i];
    if (expected.kind == FaultKind::kDiskSlow) {
      ++disks;
      EXPECT_EQ(expected.amount, 128 * 1024);
      expected.amount = 4 << 20;
    }
    EXPECT_EQ(faster[i], expected);
  }
  EXPECT_GT(disks, 0);
}

}  // namespace
}  // namespace depfast::faults
