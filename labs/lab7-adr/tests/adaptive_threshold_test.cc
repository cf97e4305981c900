// The public tests of the detector: students see, run and replay them.
#include <gtest/gtest.h>

#include "asked_detector.h"
#include "testkit/environment.h"

namespace depfast::adr {
namespace {

constexpr std::int64_t kGap = Ns(1ms);

GRADED_TEST(AdaptiveThreshold, LearnsFromTheHistory, "7a", 1,
            "The threshold is the static one until the history is full. Then it is the 99th "
            "percentile (R1 to R3), and longer values that come seldom are warnings (R5).") {
  AskedDetector detector;
  StreamWriter writer = SaturatedWriter(701);
  Stretch stretch = kUsual;
  stretch.lasting = 10s;
  const auto early = writer.Add(stretch);
  stretch.lasting = 4s;
  const auto late = writer.Add(stretch);
  const auto fault = writer.Add(kFault);
  const auto seen = detector.Watch(writer, {.warn = 77ms});
  EXPECT_EQ(seen[early].threshold_ns, Duration(77ms).count()) << "after 10 s";
  EXPECT_TRUE(HasLearned(seen[late], kUsual)) << "after 14 s";
  EXPECT_GT(seen[fault].warnings, 0);
}

GRADED_TEST(AdaptiveThreshold, FindsASlowFault, "7a", 1,
            "Values that are long and come seldom are fatal within 1.3 s (R4 to R6). They are not "
            "any more 1.3 s after the fault's end (R9).") {
  AskedDetector detector;
  StreamWriter writer = SaturatedWriter(702);
  const auto well = writer.Add(kUsual);
  const auto bad = writer.Add({.lasting = 5s, .per_second = 200, .value = 10ms});
  writer.Add({.lasting = kFoundWithin, .per_second = 1000, .value = 2ms});
  const auto healed = writer.Add(kUsual);
  const auto seen = detector.Watch(writer);
  EXPECT_TRUE(IsQuiet(seen[well]));
  EXPECT_EQ(seen[well].warnings, 0);
  EXPECT_TRUE(FindsTheFault(writer, bad, seen));
  EXPECT_EQ(seen[healed].fatals, 0);
}

GRADED_TEST(AdaptiveThreshold, TellsALoadFromAFault, "7a", 1,
            "Three times the updates are a heavier load, and a third of them a lighter one: the "
            "detector begins anew, and nothing is fatal (R6). Then a fault has warnings (R5).") {
  AskedDetector detector;
  StreamWriter writer = SaturatedWriter(703);
  writer.Add(kUsual);
  const auto heavier = writer.Add({.lasting = 15s, .per_second = 3000, .value = 5ms});
  const auto lighter = writer.Add({.lasting = 15s, .per_second = 1000, .value = 2ms});
  const auto fault = writer.Add(kFault);
  const auto seen = detector.Watch(writer);
  EXPECT_EQ(seen[heavier].fatals, 0);
  EXPECT_GE(seen[heavier].resets, 1U);
  EXPECT_EQ(seen[lighter].fatals, 0);
  EXPECT_GE(seen[lighter].resets, 1U);
  EXPECT_TRUE(HasLearned(seen[lighter], kUsual));
  EXPECT_GT(seen[fault].warnings, 0);
}

GRADED_TEST(AdaptiveThreshold, KeepsTheStaticLimits, "7a", 1,
            "While the detector learns, a value above the first static threshold is a warning. One "
            "above the second is fatal at any time (R3, R8).") {
  AskedDetector detector;
  StreamWriter writer = SaturatedWriter(704);
  writer.Add({.lasting = 2s});
  const auto slow = writer.Add({{.gap_ns = kGap, .value_ns = Ns(150ms)}});
  const auto fatal = writer.Add({{.gap_ns = kGap, .value_ns = Ns(11s)}});
  writer.Add(kUsual);
  const auto later = writer.Add({{.gap_ns = kGap, .value_ns = Ns(11s)}});
  const auto after = writer.Add({.lasting = 1s});
  const auto seen = detector.Watch(writer);
  EXPECT_EQ(seen[slow].warnings, 1);
  EXPECT_EQ(seen[slow].fatals, 0);
  EXPECT_EQ(seen[fatal].fatals, 1);
  EXPECT_EQ(seen[later].fatals, 1);
  EXPECT_TRUE(IsQuiet(seen[after]));
}

GRADED_TEST(LoadsAndStalls, AnOpenLoopIsNoHidingPlace, "7b", 1,
            "Values that are long are found at an unchanged rate, too, unless the replica is "
            "saturated (R11). They are not learned (R7).") {
  AskedDetector detector;
  const Stretch slow = {.lasting = 3s, .value = 4ms};
  StreamWriter relaxed(testkit::SeedOf(705));
  relaxed.Add(kUsual);
  const auto found = relaxed.Add(slow);
  const auto after = relaxed.Add(Lasting(kUsual, kFoundWithin));
  StreamWriter saturated = SaturatedWriter(706);
  saturated.Add(kUsual);
  const auto queue = saturated.Add(slow);
  const auto seen = detector.WatchAll({relaxed, saturated});
  EXPECT_TRUE(FindsTheFault(relaxed, found, seen[0]));
  EXPECT_TRUE(HasLearned(seen[0][after], kUsual)) << "the fault has been learned";
  EXPECT_TRUE(IsQuiet(seen[1][queue]));
}

GRADED_TEST(LoadsAndStalls, GroupCommitIsALoad, "7b", 1,
            "A heavier load that makes larger rounds, and fewer, is no fault: a rate counts "
            "commands (R10).") {
  AskedDetector detector;
  StreamWriter writer(testkit::SeedOf(707));
  writer.Add(kUsual);
  const auto heavier = writer.Add({.lasting = 15s, .per_second = 400, .value = 6ms, .work = 12});
  const auto seen = detector.Watch(writer);
  EXPECT_EQ(seen[heavier].fatals, 0);
  EXPECT_GE(seen[heavier].resets, 1U);
}

GRADED_TEST(
    LoadsAndStalls, AStallIsFound, "7b", 1,
    "An operation that does not end is fatal within 1.3 s, though nothing is updated (R12). "
    "Without an operation there is no stall.") {
  AskedDetector detector;
  const Stretch idle = {.kind = PlantedRun::Kind::kIdleTicks, .lasting = 20s, .per_second = 10};
  StreamWriter stalled(testkit::SeedOf(708));
  stalled.Add(kUsual);
  const auto stall =
      stalled.Add({{.kind = PlantedRun::Kind::kStall, .times = 20, .gap_ns = Ns(100ms)}});
  StreamWriter resting(testkit::SeedOf(709));
  resting.Add(kUsual);
  const auto rest = resting.Add(idle);
  const auto seen = detector.WatchAll({stalled, resting});
  EXPECT_TRUE(FindsTheFault(stalled, stall, seen[0]));
  EXPECT_TRUE(IsQuiet(seen[1][rest]));
}

}  // namespace
}  // namespace depfast::adr
