// A hidden test: all faults at once.
#include <gtest/gtest.h>

#include "saucr_chaos.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

GRADED_TEST(Chaos, SurvivesAnything, "6d", 2,
            "Crashes, slow disks and links, partitions: no rule is broken. Then commands are "
            "committed within 4 s, if a majority is up and a minority has its data.") {
  const ChaosMet met = SurviveChaos(681, 3, {});
  // Large commands: replicas restore snapshots.
  const ChaosMet large = SurviveChaos(691, 2, {.commands = 2, .bytes = 32 << 10});
  EXPECT_GT(met.coverage.fast, 0U);
  EXPECT_GT(met.coverage.slow, 0U);
  EXPECT_GT(met.coverage.recoveries, 0U);
  EXPECT_GT(met.served, 0);
  EXPECT_GT(large.coverage.restored, 0U);
}

}  // namespace
}  // namespace depfast::saucr
