#include "run_shape.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <stdexcept>

namespace depfast::measure {
namespace {

const faults::Fault kFault = faults::CpuSlow({1}, 5);
constexpr Time kStart = 1s;

faults::FaultPlan PlanFrom(const std::string& shape) {
  return PlanOf(shape, kFault, WindowOf(shape, kStart));
}

TEST(RunShape, TheWindowBeginsAfterTheWarmUp) {
  for (const char* shape : {"before", "under", "flapping", "long", "onset", "changing"}) {
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

TEST(RunShape, AnOnsetsFaultBeginsAndEndsInTheWindow) {
  std::set<Time> begins;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const testkit::LoadWindow window = WindowOf("onset", kStart, seed);
    const faults::FaultPlan plan = PlanOf("onset", kFault, window);
    ASSERT_EQ(plan.size(), 1u);
    EXPECT_GE(plan[0].start, window.from + 13s) << "a detector has learned by then";
    EXPECT_LE(plan[0].start, window.from + 20s);
    EXPECT_EQ(plan[0].end(), plan[0].start + 10s);
    EXPECT_EQ(window.to, plan[0].end() + 3s);
    begins.insert(plan[0].start);
  }
  EXPECT_GT(begins.size(), 10u) << "the moment is drawn";
  const testkit::LoadWindow longer = WindowOf("return", kStart, 1);
  EXPECT_EQ(longer.to, PlanOf("return", kFault, longer)[0].end() + kReturn + 3s);
  EXPECT_TRUE(HasStages("long-onset") && !IsOfSweep("long-onset"));
}

TEST(RunShape, AShiftedFaultBeginsLaterThanAnyOneLook) {
  std::set<Duration> times;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const testkit::LoadWindow window = WindowOf("shift", kStart, seed);
    const Time begin = PlanOf("shift", kFault, window).at(0).start;
    EXPECT_EQ(ShiftOf("shift", window), begin - 13500ms) << "a detector learns what is usual now";
    EXPECT_EQ(window.to, begin + 13s);
    times.insert(begin - window.from);
  }
  EXPECT_GE(*times.begin(), 23500ms);
  EXPECT_LE(*times.begin(), 24s) << "most are early";
  EXPECT_GE(*times.rbegin(), 34s) << "the tail is long";
  EXPECT_EQ(ShiftOf("onset", WindowOf("onset", kStart, 1)), std::nullopt);
}

TEST(RunShape, AFaultBetweenStagesEndsInTheWindow) {
  const std::string shape = "stages:2000,4000,3000";
  EXPECT_TRUE(HasStages(shape) && IsOfSweep(shape) && !HasStages("before"));
  EXPECT_EQ(WindowOf(shape, kStart).from, 1600ms);
  EXPECT_EQ(WindowOf(shape, kStart).to, 10600ms);
  EXPECT_EQ(PlanFrom(shape), faults::FaultPlan{kFault.From(3600ms).For(4s)});
}

TEST(RunShape, AnUnknownOneIsRefused) {
  EXPECT_THROW(WindowOf("round", kStart), std::invalid_argument);
  EXPECT_THROW(PlanOf("round", kFault, {}), std::invalid_argument);
}

}  // namespace
}  // namespace depfast::measure
