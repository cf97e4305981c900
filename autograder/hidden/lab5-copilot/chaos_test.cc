// Hidden tests: all faults at once, then progress is required.
#include <gtest/gtest.h>

#include "copilot_chaos.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

GRADED_TEST(
    CopilotChaos, SurvivesAnything, "5d", 1,
    "Under slow, dead and cut off replicas no rule is broken. Then a majority makes progress "
    "within 8 s.") {
  const auto met = SurviveChaos(561, 6, {});
  EXPECT_GT(met.fast, 0U);
  EXPECT_GT(met.accepted, 0U);
}

GRADED_TEST(
    CopilotChaos, SnapshotsSurviveAnything, "5d", 1,
    "Under random faults and large commands, logs are cut and replicas restore snapshots, and "
    "no rule is broken.") {
  const auto met = SurviveChaos(571, 2, {.commands = 2, .bytes = 32 << 10});
  EXPECT_GT(met.fast, 0U);
}

}  // namespace
}  // namespace depfast::copilot
