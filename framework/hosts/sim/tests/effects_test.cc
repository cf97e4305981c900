// Effects: the strongest fault of a kind counts, on the replicas that it names.
#include "sim/effects.h"

#include <gtest/gtest.h>

namespace depfast::sim {
namespace {

using namespace faults;  // NOLINT: tests of plans read like plans

TEST(Effects, OfFaultsOfOneKindTheStrongestCounts) {
  const auto of = [](const Fault& a, const Fault& b) {
    Effects effects(1);
    effects.Set({a, b}, 1);
    return effects.of(0);
  };
  EXPECT_EQ(of(CpuSlow({0}, 50), CpuSlow({0}, 5)).cpu_percent, 5);
  EXPECT_EQ(of(CpuSlow({0}, 5), CpuSlow({0}, 50)).cpu_percent, 5);
  EXPECT_EQ(of(CpuContention({0}, 50), CpuContention({0}, 6)).cpu_quota_percent, 6);
  EXPECT_EQ(of(CpuContention({0}, 6), CpuContention({0}, 50)).cpu_quota_percent, 6);
  EXPECT_EQ(of(DiskContention({0}, 50), DiskContention({0}, 10)).disk_quota_percent, 10);
  EXPECT_EQ(of(DiskContention({0}, 10), DiskContention({0}, 50)).disk_quota_percent, 10);
  EXPECT_EQ(of(DiskSlow({0}, 9), DiskSlow({0}, 5)).disk_bytes_per_second, 5);
  EXPECT_EQ(of(DiskSlow({0}, 5), DiskSlow({0}, 9)).disk_bytes_per_second, 5);
  const auto share = [](int percent) {
    return faults::MakeFault({faults::FaultKind::kMemoryShare, percent}, {0});
  };
  EXPECT_EQ(of(share(9), share(5)).memory_percent, 5);
  EXPECT_EQ(of(share(5), share(9)).memory_percent, 5);
  EXPECT_EQ(of(MemoryContention({0}, 9), MemoryContention({0}, 5)).memory_limit_bytes, 5);
  EXPECT_EQ(of(MemoryContention({0}, 5), MemoryContention({0}, 9)).memory_limit_bytes, 5);
  EXPECT_EQ(of(FsDelay({0}, 1ms), FsDelay({0}, 2ms)).operation_delay, 2ms);
  EXPECT_EQ(of(FsDelay({0}, 2ms), FsDelay({0}, 1ms)).operation_delay, 2ms);
  EXPECT_EQ(of(NetSlow({0}, 1ms), NetSlow({0}, 2ms)).extra_delay, 2ms);
  EXPECT_EQ(of(NetSlow({0}, 2ms), NetSlow({0}, 1ms)).extra_delay, 2ms);
  EXPECT_EQ(of(NetJitter({0}, 1ms), NetJitter({0}, 2ms)).jitter, 2ms);
  EXPECT_EQ(of(NetJitter({0}, 2ms), NetJitter({0}, 1ms)).jitter, 2ms);
  EXPECT_EQ(of(PacketLoss({0}, 10), PacketLoss({0}, 20)).packet_loss_permille, 20);
  EXPECT_EQ(of(PacketLoss({0}, 20), PacketLoss({0}, 10)).packet_loss_permille, 20);
  EXPECT_EQ(of(DiskError({0}, 10), DiskError({0}, 20)).disk_trouble.error_permille, 20);
  EXPECT_EQ(of(DiskError({0}, 20), DiskError({0}, 10)).disk_trouble.error_permille, 20);
  EXPECT_EQ(of(DiskFull({0}, 0), DiskFull({0}, 5)).disk_trouble.capacity_bytes, 0);
  EXPECT_EQ(of(DiskFull({0}, 5), DiskFull({0}, 0)).disk_trouble.capacity_bytes, 0);
  EXPECT_EQ(of(LinkSlow({0}, {0}, 1ms), LinkSlow({0}, {0}, 2ms)).link_delay.at(0), 2ms);
  EXPECT_EQ(of(LinkSlow({0}, {0}, 2ms), LinkSlow({0}, {0}, 1ms)).link_delay.at(0), 2ms);
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
  effects.Set({}, 3);
  EXPECT_EQ(effects.of(0).cpu_quota_percent, 100);
  EXPECT_EQ(effects.of(1).operation_delay, 0ms);
}

}  // namespace
}  // namespace depfast::sim
