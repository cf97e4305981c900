#include "depfast/verify/latency_histogram.h"

#include <gtest/gtest.h>

namespace depfast {
namespace {

TEST(LatencyHistogram, PercentilesAreAtMostASixteenthTooLarge) {
  for (const std::int64_t ns : {0L, 1L, 15L, 16L, 17L, 1000L, 123'456'789L, 3'600'000'000'000L}) {
    LatencyHistogram histogram;
    histogram.Add(Duration(ns));
    const std::int64_t read = histogram.Percentile(500).count();
    EXPECT_GE(read, ns);
    EXPECT_LE(read, ns + ns / 16);
  }
  LatencyHistogram longest;
  longest.Add(Duration::max());
  EXPECT_EQ(longest.Percentile(999), Duration::max());
}

TEST(LatencyHistogram, APercentileIsTheNearestRank) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.Percentile(500), Duration::zero());
  for (int ns = 1; ns <= 10; ++ns) histogram.Add(Duration(ns));
  EXPECT_EQ(histogram.Percentile(500), Duration(5));
  EXPECT_EQ(histogram.Percentile(501), Duration(6));
  EXPECT_EQ(histogram.Percentile(990), Duration(10));
  EXPECT_EQ(histogram.Percentile(1), Duration(1));
}

TEST(LatencyHistogram, MergesAddUp) {
  LatencyHistogram one;
  LatencyHistogram other;
  for (int i = 0; i < 9; ++i) one.Add(Duration(3));
  one.Add(Duration(7));
  other.Add(Duration(7));
  one.Merge(other);
  EXPECT_EQ(one.count(), 11U);
  EXPECT_EQ(one.Percentile(818), Duration(3)) << "nine of eleven";
  EXPECT_EQ(one.Percentile(819), Duration(7));
}

}  // namespace
}  // namespace depfast
