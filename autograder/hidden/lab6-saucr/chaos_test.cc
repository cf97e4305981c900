// A hidden test: all faults at once.
#include <gtest/gtest.h>

#include "saucr_chaos.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

GRADED_TEST(Chaos, SurvivesAnything, "6d", 4,
            "Crashes, slow disks and links, partitions: no rule is broken. Then the replicas make "
            "progress within 4 s, if a majority has lost nothing or knows what.") {
  const auto met = SurviveChaos(681, 4, {});
  EXPECT_GT(met.coverage.fast, 0U);
  EXPECT_GT(met.coverage.slow, 0U);
  EXPECT_GT(met.coverage.recoveries, 0U);
}

}  // namespace
}  // namespace depfast::saucr
