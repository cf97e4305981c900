// The text form of faults, both ways.
#include "faults/text.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "depfast/host/random.h"
#include "faults/random_plan.h"

namespace depfast::faults {
namespace {

TEST(Describe, SaysKindAmountReplicasAndTimes) {
  EXPECT_EQ(CpuSlow({2}, 5).From(1s).For(3s).Describe(),
            "cpu-slow 5% on replica 2 from 1.000 s for 3.000 s");
  EXPECT_EQ(DiskSlow({0}, 128 * 1024).Describe(), "disk-slow 128 KB/s on replica 0 from 0.000 s");
  EXPECT_EQ(DiskSlow({0}, 1000).Describe(), "disk-slow 1000 B/s on replica 0 from 0.000 s");
  EXPECT_EQ(NetSlow({0, 1}, 400ms).From(12'345ms).Describe(),
            "net-slow 400 ms on replicas 0 1 from 12.345 s");
  EXPECT_EQ(NetSlow({0}, 1500us).Describe(), "net-slow 1500000 ns on replica 0 from 0.000 s");
  EXPECT_EQ(CrashFault({4}).For(20ms).Describe(), "crash on replica 4 from 0.000 s for 0.020 s");
  EXPECT_EQ(PartitionFault({0, 2}).Describe(), "partition on replicas 0 2 from 0.000 s");
  EXPECT_EQ(DropFault({1}, 250).Describe(), "drop 25% on replica 1 from 0.000 s");
  EXPECT_EQ(DuplicateFault({1}, 5).Describe(), "duplicate 0.5% on replica 1 from 0.000 s");
  EXPECT_EQ(ReorderFault({1}, 7).Describe(), "reorder 0.7% on replica 1 from 0.000 s");
  EXPECT_EQ(CutFault({0}, {1, 2}).Describe(), "cut on replica 0 to 1 2 from 0.000 s");
  EXPECT_EQ(CpuContention({2}, 6).Describe(), "cpu-contention 6% on replica 2 from 0.000 s");
  EXPECT_EQ(DiskContention({2}, 10).Describe(), "disk-contention 10% on replica 2 from 0.000 s");
  EXPECT_EQ(FsDelay({2}, 100ms).Describe(), "fs-delay 100 ms on replica 2 from 0.000 s");
  EXPECT_EQ(NetJitter({2}, 40ms).Describe(), "net-jitter 40 ms on replica 2 from 0.000 s");
  EXPECT_EQ(MemoryContention({2}, 50 << 20).Describe(),
            "memory-contention 50 MB on replica 2 from 0.000 s");
  EXPECT_EQ(MemoryContention({2}, 1024).Describe(),
            "memory-contention 1024 B on replica 2 from 0.000 s");
  EXPECT_EQ(LinkSlow({2}, {0, 1}, 40ms).Describe(),
            "link-slow 40 ms on replica 2 to 0 1 from 0.000 s");
  EXPECT_EQ(LateFault({2}, {0}, 5ms).Describe(), "late 5 ms on replica 2 to 0 from 0.000 s");
  EXPECT_EQ(DiskError({2}, 50).Describe(), "disk-error 5% on replica 2 from 0.000 s");
  EXPECT_EQ(DiskFull({2}, 1 << 20).Describe(), "disk-full 1 MB on replica 2 from 0.000 s");
  EXPECT_EQ(BitFlip({2}, 500).Describe(), "bit-flip 50% on replica 2 from 0.000 s");
  EXPECT_EQ(PacketLoss({2}, 10).Describe(), "packet-loss 1% on replica 2 from 0.000 s");
}

TEST(Print, IsExactWhereADescriptionIsCutOff) {
  const Fault fault = CpuSlow({2}, 5).From(1'000'999'999ns).For(1500us);
  EXPECT_EQ(fault.Describe(), "cpu-slow 5% on replica 2 from 1.000 s for 0.001 s");
  EXPECT_EQ(Print(fault), "cpu-slow 5% on replica 2 from 1.000999999 s for 0.0015 s");
}

const FaultPlan& EveryKind() {
  static const FaultPlan plan = {CpuSlow({2}, 5).From(1s).For(3s),
                                 DiskSlow({0}, 128 * 1024),
                                 DiskSlow({0}, 1),
                                 NetSlow({0, 1}, 40ms).From(1ns).For(kNever - 1ns),
                                 NetSlow({0}, 0ns),
                                 CrashFault({4}).From(123'456'789'012ns),
                                 PartitionFault({0, 2}).For(1ns),
                                 DropFault({1}, 0),
                                 DuplicateFault({1}, 1000),
                                 ReorderFault({1}, 7),
                                 CutFault({0, 3}, {1, 2}).From(5ms),
                                 CpuContention({1}, 100),
                                 DiskContention({1, 2}, 1).From(2s),
                                 FsDelay({3}, 3'600s).For(1s),
                                 NetJitter({0}, 1ns),
                                 PacketLoss({0}, 1000),
                                 LinkSlow({1, 2}, {0}, 40ms).For(1s),
                                 LateFault({1}, {0, 2}, 1ns).From(1s).For(1ns),
                                 DiskError({0}, 1000),
                                 DiskFull({0, 1}, 0).From(1s),
                                 BitFlip({2}, 999).From(1ms),
                                 MemoryContention({2}, 50 << 20),
                                 MemoryContention({2}, kAmountMax - 1)};
  return plan;
}

TEST(Parse, ReadsWhatPrintWrites) {
  const FaultPlan plan = EveryKind();
  ASSERT_FALSE(plan.empty());
  for (const Fault& fault : plan) EXPECT_EQ(Parse(Print(fault)), fault) << Print(fault);
}

TEST(Parse, ReadsRandomPlansBack) {
  RandomStream random(7);
  for (int i = 0; i < 50; ++i) {
    const FaultPlan plan = RandomPlan(random, {.replicas = 5});
    EXPECT_EQ(ParsePlan(PrintPlan(plan)), plan) << PrintPlan(plan);
  }
}

TEST(Parse, TimesMayBeLeftOutAndSpacesAdded) {
  EXPECT_EQ(Parse("crash on replica 1"), CrashFault({1}));
  EXPECT_EQ(Parse("  crash  on replicas 1  for 2 s "), CrashFault({1}).For(2s));
  EXPECT_EQ(Parse("cut on replica 1 to 0 from 0.5 s"), CutFault({1}, {0}).From(500ms));
}

// The reason why `text` is refused.
std::string Refusal(const std::string& text) {
  try {
    ParsePlan(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Parse, NamesTheErrorInOneLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"warp on replica 1",
       "one of cpu-slow disk-slow net-slow crash partition drop duplicate reorder cut "
       "cpu-contention disk-contention fs-delay net-jitter packet-loss "
       "memory-contention memory-share link-slow disk-error disk-full bit-flip late should stand "
       "where "
       "'warp' is"},
      {"cpu-slow 0% on replica 1", "cpu-slow takes 1 to 100"},
      {"cpu-slow 101% on replica 1", "cpu-slow takes 1 to 100"},
      {"cpu-slow on replica 1", "a percentage such as 5% should stand where 'on' is"},
      {"cpu-slow x% on replica 1", "an amount should stand where 'x' is"},
      {"cpu-slow -5% on replica 1", "an amount should stand where '-5' is"},
      {"cpu-contention 0% on replica 1", "cpu-contention takes 1 to 100"},
      {"disk-contention 101% on replica 1", "disk-contention takes 1 to 100"},
      {"fs-delay 3600001 ms on replica 1", "fs-delay takes 0 to 3600000000000"},
      {"net-jitter 3600001 ms on replica 1", "net-jitter takes 0 to 3600000000000"},
      {"packet-loss 100.1% on replica 1", "packet-loss takes 0 to 1000"},
      {"packet-loss 1.05% on replica 1",
       "a percentage with at most one digit after the point should stand where '1.05' is"},
      {"packet-loss 7 on replica 1", "a percentage such as 0.5% should stand where '7' is"},
      {"memory-contention 0 B on replica 1", "memory-contention takes 1 to 1125899906842624"},
      {"memory-contention 9 KB on replica 1", "'MB' should stand where 'KB' is"},
      {"disk-slow 128 MB/s on replica 1", "'KB/s' should stand where 'MB/s' is"},
      {"net-slow 9000000000000000 ms on replica 1",
       "an amount should stand where "
       "'9000000000000000' is"},
      {"net-slow 900000000000000 ms on replica 1", "the amount is too large"},
      {"drop 5 on replica 1", "a percentage such as 0.5% should stand where '5' is"},
      {"crash 5 on replica 1", "'on' should stand where '5' is"},
      {"crash on replica", "a replica's number should stand where the end is"},
      {"crash on replica -1", "a replica's number should stand where '-1' is"},
      {"cut on replica 1", "'to' should stand where the end is"},
      {"link-slow 1 ms on replica 1", "'to' should stand where the end is"},
      {"crash on replica 1 from 1", "'s' should stand where the end is"},
      {"crash on replica 1 from 1. s", "a number of seconds should stand where '1.' is"},
      {"crash on replica 1 from 0.0000000001 s",
       "a number of seconds should stand where '0.0000000001' is"},
      {"crash on replica 1 from 9223372037 s",
       "a number of seconds should stand where '9223372037' is"},
      {"crash on replica 1 for 1 s from 1 s", "unexpected 'from'"},
  };
  for (const auto& [text, why] : cases) {
    EXPECT_EQ(Refusal(text), "line 1: '" + text + "' is not a fault: " + why);
  }
}

TEST(Plan, LeavesOutEmptyLinesAndRemarks) {
  EXPECT_EQ(ParsePlan(""), FaultPlan());
  EXPECT_EQ(ParsePlan("# a plan\n\n  # of one\ncrash on replica 1\n"), FaultPlan{CrashFault({1})});
  EXPECT_EQ(Refusal("crash on replica 1\n\nfire").substr(0, 7), "line 3:");
}

}  // namespace
}  // namespace depfast::faults
