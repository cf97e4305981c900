// Effects: the strongest fault of a kind counts, on the replicas that it names.
#include "sim/effects.h"

#include <gtest/gtest.h>

#include <functional>

namespace depfast::sim {
namespace {

using namespace faults;  // NOLINT: tests of plans read like plans

TEST(Effects, OfFaultsOfOneKindTheStrongestCountsInAnyOrder) {
  const auto of = [](const Fault& weak, const Fault& strong, const auto& field) {
    Effects effects(1);
    effects.Set({weak, strong}, 1);
    const auto value = std::invoke(field, effects.of(0));
    effects.Set({strong, weak}, 1);
    EXPECT_EQ(std::invoke(field, effects.of(0)), value) << strong.Describe();
    return value;
  };
  using E = ReplicaEffects;
  const auto share = [](int percent) {
    return faults::MakeFault({faults::FaultKind::kMemoryShare, percent}, {0});
  };
  EXPECT_EQ(of(CpuSlow({0}, 50), CpuSlow({0}, 5), &E::cpu_percent), 5);
  EXPECT_EQ(of(CpuContention({0}, 50), CpuContention({0}, 6), &E::cpu_quota_percent), 6);
  EXPECT_EQ(of(DiskContention({0}, 50), DiskContention({0}, 10), &E::disk_quota_percent), 10);
  EXPECT_EQ(of(DiskSlow({0}, 9), DiskSlow({0}, 5), &E::disk_bytes_per_second), 5);
  EXPECT_EQ(of(share(9), share(5), &E::memory_percent), 5);
  EXPECT_EQ(of(MemoryContention({0}, 9), MemoryContention({0}, 5), &E::memory_limit_bytes), 5);
  EXPECT_EQ(of(FsDelay({0}, 1ms), FsDelay({0}, 2ms), &E::operation_delay), 2ms);
  EXPECT_EQ(of(NetSlow({0}, 1ms), NetSlow({0}, 2ms), &E::extra_delay), 2ms);
  EXPECT_EQ(of(NetJitter({0}, 1ms), NetJitter({0}, 2ms), &E::jitter), 2ms);
  EXPECT_EQ(of(PacketLoss({0}, 10), PacketLoss({0}, 20), &E::packet_loss_permille), 20);
  const auto errors = [](const E& effects) { return effects.disk_trouble.error_permille; };
  EXPECT_EQ(of(DiskError({0}, 10), DiskError({0}, 20), errors), 20);
  const auto capacity = [](const E& effects) { return effects.disk_trouble.capacity_bytes; };
  EXPECT_EQ(of(DiskFull({0}, 5), DiskFull({0}, 0), capacity), 0);
  const auto links = of(LinkSlow({0}, {0}, 1ms), LinkSlow({0}, {0}, 2ms), &E::link_delay);
  EXPECT_EQ(links.at(0), 2ms);
}

TEST(Effects, AreThoseOfTheNamedReplicas) {
  Effects effects(3);
  effects.Set({CpuContention({0, 2}, 6), FsDelay({1}, 1ms)}, 3);
  EXPECT_EQ(effects.of(0).cpu_quota_percent, 6);
  EXPECT_EQ(effects.of(1).cpu_quota_percent, 100);
  EXPECT_EQ(effects.of(2).cpu_quota_percent, 6);
  EXPECT_EQ(effects.of(0).operation_delay, 0ms);
  EXPECT_EQ(effects.of(1).operation_delay, 1ms);
  EXPECT_TRUE(effects.of(1).link_delay.empty());
  EXPECT_FALSE(effects.of(1).disk_trouble.any());
  EXPECT_EQ(effects.of(1).disk_bytes_per_second, 0);
  EXPECT_TRUE(effects.of(1).on_frames.empty());
  effects.Set({}, 3);
  EXPECT_EQ(effects.of(0).cpu_quota_percent, 100);
  EXPECT_EQ(effects.of(1).operation_delay, 0ms);
}

}  // namespace
}  // namespace depfast::sim
