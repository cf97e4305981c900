// A public test: all faults at once, then progress is required.
#include <gtest/gtest.h>

#include "copilot_chaos.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

GRADED_TEST(CopilotChaos, IsSurvived, "5d", 1,
            "Under slow, dead and cut off replicas no rule is broken. Then a majority makes "
            "progress within 8 s. More seeds try more.") {
  const auto met = SurviveChaos(581, 2, {});
  EXPECT_GT(met.fast, 0U);
  EXPECT_GT(met.accepted, 0U);
}

}  // namespace
}  // namespace depfast::copilot
