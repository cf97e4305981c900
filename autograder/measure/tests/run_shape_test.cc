#include "run_shape.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace depfast::measure {
namespace {

const faults::Fault kFault = faults::CpuSlow({1}, 5);
constexpr Time kStart = 1s;

faults::FaultPlan PlanFrom(const std::string& shape) {
  return PlanOf(shape, kFault, WindowOf(shape, kStart));
}

TEST(RunShape, TheWindowBeginsAfterTheWarmUp) {
  for (const std::string& shape : ShapeNames()) {
    EXPECT_EQ(WindowOf(shape, kStart).start, kStart);
    EXPECT_EQ(WindowOf(shape, kStart).from, 1600ms) << "no run is recognised by its warm-up";
  }
  EXPECT_EQ(WindowOf("before", kStart).to, 3100ms);
  EXPECT_EQ(WindowOf("under", kStart).to, 3100ms);
  EXPECT_EQ(WindowOf("flapping", kStart).to, 4600ms);
  EXPECT_EQ(WindowOf("long", kStart).to, 11600ms);
}

TEST(RunShape, AFaultBeforeTheLoadLastsUntilTheEnd) {
  EXPECT_EQ(PlanFrom("before"), faults::FaultPlan{kFault.From(1s)});
  EXPECT_EQ(PlanFrom("long"), faults::FaultPlan{kFault.From(1s)});
}

TEST(RunShape, AFaultUnderLoadBeginsWithTheWindow) {
  EXPECT_EQ(PlanFrom("under"), faults::FaultPlan{kFault.From(1600ms)});
}

TEST(RunShape, AFlappingFaultComesAndGoes) {
  const faults::FaultPlan plan = PlanFrom("flapping");
  ASSERT_EQ(plan.size(), 5u);
  EXPECT_EQ(plan.front(), kFault.From(1600ms).For(300ms));
  EXPECT_EQ(plan[1].start, 2200ms);
  EXPECT_EQ(plan.back().end(), 4300ms) << "the window ends without it";
}

TEST(RunShape, AnUnknownOneIsRefused) {
  EXPECT_THROW(WindowOf("round", kStart), std::invalid_argument);
  EXPECT_THROW(PlanOf("round", kFault, {}), std::invalid_argument);
}

}  // namespace
}  // namespace depfast::measure
