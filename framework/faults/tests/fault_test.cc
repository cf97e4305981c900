// The fault value: its builders, its end, and the cuts it makes.
#include "faults/fault.h"

#include <gtest/gtest.h>

#include <vector>

namespace depfast::faults {
namespace {

TEST(Fault, EndsNeverUnlessToldWhen) {
  EXPECT_EQ(CpuSlow({0}, 5).From(1s).end(), kNever);
  EXPECT_EQ(CpuSlow({0}, 5).From(1s).For(2s).end(), 3s);
  EXPECT_EQ(CpuSlow({0}, 5).From(1s).For(kNever - 1ns).end(), kNever);
}

TEST(Fault, EqualsAFaultWithTheSameFieldsOnly) {
  const Fault fault = DropFault({0}, 5).From(1s).For(2s);
  EXPECT_EQ(fault, DropFault({0}, 5).From(1s).For(2s));
  EXPECT_NE(fault, DuplicateFault({0}, 5).From(1s).For(2s));
  EXPECT_NE(fault, DropFault({1}, 5).From(1s).For(2s));
  EXPECT_NE(fault, DropFault({0}, 6).From(1s).For(2s));
  EXPECT_NE(fault, DropFault({0}, 5).From(2s).For(2s));
  EXPECT_NE(fault, DropFault({0}, 5).From(1s).For(1s));
  EXPECT_NE(CutFault({0}, {1}), CutFault({0}, {2}));
}

TEST(Fault, AmountsOutsideTheCatalogueAreRefused) {
  EXPECT_DEATH(CpuSlow({0}, 0), "amount");
  EXPECT_DEATH(CpuSlow({0}, 101), "amount");
  EXPECT_DEATH(DiskSlow({0}, 0), "amount");
  EXPECT_DEATH(NetSlow({0}, -1ns), "amount");
  EXPECT_DEATH(DropFault({0}, 1001), "amount");
  EXPECT_DEATH(CutFault({0}, {}), "receivers");
  EXPECT_DEATH(LinkSlow({0}, {}, 1ms), "receivers");
  EXPECT_DEATH(LateFault({0}, {}, 1ms), "receivers");
  EXPECT_DEATH(DiskFull({0}, -1), "amount");
}

TEST(Cuts, APartitionCutsBothDirections) {
  EXPECT_EQ(CutsOf(PartitionFault({0}), 3), (std::vector<Cut>{{0, 1}, {0, 2}, {1, 0}, {2, 0}}));
  EXPECT_EQ(CutsOf(PartitionFault({0, 2}), 3), CutsOf(PartitionFault({1}), 3));
  EXPECT_TRUE(CutsOf(PartitionFault({0, 1, 2}), 3).empty()) << "nobody is on the other side";
}

TEST(Cuts, ACutIsOneWay) {
  EXPECT_EQ(CutsOf(CutFault({0}, {1}), 3), (std::vector<Cut>{{0, 1}}));
  EXPECT_EQ(CutsOf(CutFault({0, 2}, {1}), 3), (std::vector<Cut>{{0, 1}, {2, 1}}));
  EXPECT_TRUE(CutsOf(CutFault({1}, {1}), 3).empty()) << "a replica always hears itself";
}

TEST(Cuts, OtherKindsCutNothing) {
  EXPECT_TRUE(CutsOf(DropFault({0}, 1000), 3).empty());
  EXPECT_TRUE(CutsOf(CrashFault({0}), 3).empty());
  EXPECT_TRUE(CutsOf(LinkSlow({0}, {1}, 1ms), 3).empty());
}

}  // namespace
}  // namespace depfast::faults
