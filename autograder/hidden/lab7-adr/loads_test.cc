// Hidden tests: loads that change, open loops, batches and stalls.
#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "adr_options.h"
#include "asked_detector.h"
#include "testkit/environment.h"

namespace depfast::adr {
namespace {

using Kind = PlantedRun::Kind;

// Values that differ from those of kUsual, at the same rate.
Stretch Taking(Duration value, Duration lasting) {
  return {.lasting = lasting, .per_second = 1000, .value = value};
}

GRADED_TEST(Loads, ChangeWithGroupCommit, "7b", 3,
            "From 8 clients to 64 and back, with fewer and larger rounds under the heavier load: "
            "each change begins anew, and none is fatal.") {
  AskedDetector detector;
  StreamWriter writer(testkit::SeedOf(750));
  const Stretch many = {
      .lasting = 15s, .per_second = 400, .value = 8ms, .arrivals = Arrivals::kPoisson, .work = 32};
  Stretch few = kUsual;
  few.arrivals = Arrivals::kPoisson;
  few.work = 4;
  writer.Add(few);
  const auto heavier = writer.Add(many);
  const auto lighter = writer.Add(few);
  const auto seen = detector.Watch(writer);
  EXPECT_EQ(seen[heavier].fatals, 0);
  EXPECT_GE(seen[heavier].resets, 1U);
  EXPECT_EQ(seen[lighter].fatals, 0);
  EXPECT_GE(seen[lighter].resets, 1U);
}

GRADED_TEST(
    Loads, OfOpenLoopsHideNoFault, "7b", 3,
    "In an open loop the rate stays: operations that take 1.5 to 40 times as long are fatal "
    "within 1.3 s, with 50 or 2,000 in a second.") {
  AskedDetector detector;
  std::vector<StreamWriter> writers;
  for (const int per_second : {50, 2000}) {
    for (const int tenths : {15, 30, 400}) {
      writers.emplace_back(testkit::SeedOf(751));
      Stretch stretch = kUsual;
      stretch.per_second = per_second;
      writers.back().Add(stretch);
      stretch.value = stretch.value * tenths / 10;
      writers.back().Add(Lasting(stretch, 3s));
    }
  }
  const auto seen = detector.WatchAll(writers);
  for (std::size_t i = 0; i < writers.size(); ++i) {
    EXPECT_TRUE(IsQuiet(seen[i][0]));
    EXPECT_TRUE(FindsTheFault(writers[i], 1, seen[i]));
  }
}

GRADED_TEST(Loads, MayGrowAQueue, "7b", 3,
            "An overload grows a queue of a saturated replica: values grow a hundred times, and "
            "nothing is fatal. A fault after it is found.") {
  AskedDetector detector;
  StreamWriter writer(testkit::SeedOf(752));
  writer.Add(kUsual);
  writer.Saturate();
  Stretch queue = {.lasting = 1s, .per_second = 1050, .value = 4ms};
  for (; queue.value < 200ms; queue.value += queue.value / 4) writer.Add(queue);
  const auto overloads = writer.stream().ends.size();
  writer.Relax();
  writer.Add(kUsual);
  const auto fault = writer.Add(Taking(6ms, 3s));
  const auto seen = detector.Watch(writer);
  for (std::size_t i = 0; i < overloads; ++i) ASSERT_TRUE(IsQuiet(seen[i])) << "stretch " << i;
  EXPECT_TRUE(FindsTheFault(writer, fault, seen));
}

GRADED_TEST(Loads, MayStall, "7b", 2,
            "An operation that does not end for 20 s is fatal within 1.3 s and as long as it "
            "lasts, with 20 or 2,000 updates in a second before it.") {
  AskedDetector detector;
  for (const int per_second : {20, 2000}) {
    const auto usual = [per_second](int seconds) {
      return std::pair(
          std::vector<PlantedRun>{
              {.times = per_second / 10, .gap_ns = Ns(kSecond / per_second), .value_ns = Ns(2ms)},
              {.kind = Kind::kTicks, .value_ns = Ns(1ms)}},
          10 * seconds);
    };
    StreamWriter writer(testkit::SeedOf(753));
    const auto well = writer.Add(usual(20).first, usual(20).second);
    const auto stall = writer.Add({{.kind = Kind::kStall, .times = 13, .gap_ns = Ns(100ms)}});
    const auto ages =
        writer.Add({{.kind = Kind::kTicks, .times = 187, .gap_ns = Ns(100ms), .value_ns = Ns(5s)}});
    writer.Add(usual(2).first, usual(2).second);
    const auto after = writer.Add(usual(10).first, usual(10).second);
    const auto seen = detector.Watch(writer);
    EXPECT_TRUE(IsQuiet(seen[well])) << per_second << " updates a second";
    EXPECT_TRUE(FindsTheFault(writer, stall, seen)) << per_second << " updates a second";
    EXPECT_EQ(seen[ages].fatals, 187) << per_second << " updates a second";
    EXPECT_EQ(seen[after].fatals, 0) << per_second << " updates a second";
  }
}

GRADED_TEST(Loads, MayPause, "7b", 1,
            "A minute without an operation is no stall, and neither is its end.") {
  AskedDetector detector;
  StreamWriter writer(testkit::SeedOf(754));
  writer.Add(kUsual);
  const auto pause = writer.Add({{.kind = Kind::kIdleTicks, .times = 600, .gap_ns = Ns(100ms)}});
  const auto after = writer.Add(kUsual);
  const auto seen = detector.Watch(writer);
  EXPECT_TRUE(IsQuiet(seen[pause]));
  EXPECT_EQ(seen[after].fatals, 0);
  EXPECT_TRUE(HasLearned(seen[after], kUsual));
}

GRADED_TEST(Loads, MayBeNothing, "7b", 1,
            "Updates without work have a rate of zero, which is normal. One of much work in a "
            "second has a rate like any other. Slow ones among them are found.") {
  AskedDetector detector;
  StreamWriter writer(testkit::SeedOf(755));
  Stretch stretch = kUsual;
  stretch.work = 0;
  const auto well = writer.Add(stretch);
  stretch.value = 10ms;
  const auto bad = writer.Add(Lasting(stretch, 3s));
  const auto seen = detector.Watch(writer);
  EXPECT_TRUE(IsQuiet(seen[well]));
  EXPECT_TRUE(FindsTheFault(writer, bad, seen));
  // The recent updates' work is five thousand million.
  StreamWriter seldom(testkit::SeedOf(758));
  const Stretch usual = {.lasting = 150s, .per_second = 1, .work = 500'000'000};
  seldom.Add(usual);
  const auto slow =
      seldom.Add({.lasting = 30s, .per_second = 1, .value = 20ms, .work = usual.work / 5});
  const StretchReport found = detector.Watch(seldom)[slow];
  EXPECT_GT(found.fatals, 0);
  EXPECT_EQ(found.resets, 0U);
}

GRADED_TEST(Loads, KeepTheirLongestValues, "7b", 2,
            "About one value in a hundred is above the threshold. These stay usual: after ten "
            "minutes there are no more of them.") {
  AskedDetector detector;
  StreamWriter writer(testkit::SeedOf(756));
  Stretch stretch = kUsual;
  stretch.per_second = 100;
  writer.Add(Lasting(stretch, 600s));
  const auto late = writer.Add(Lasting(stretch, 30s));
  const auto seen = detector.Watch(writer);
  EXPECT_TRUE(IsQuiet(seen[0]));
  EXPECT_TRUE(IsQuiet(seen[late]));
  EXPECT_LE(seen[late].warnings, 150) << "of 3,000 values";
  EXPECT_TRUE(HasLearned(seen[late], stretch));
}

GRADED_TEST(Loads, DoNotLearnAFault, "7b", 2,
            "A fault of 60 s at an unchanged rate is fatal to its end, and does not become usual: "
            "the next one is found.") {
  AskedDetector detector;
  StreamWriter writer(testkit::SeedOf(757));
  writer.Add(kUsual);
  writer.Add(Taking(6ms, kFoundWithin));
  const auto fault = writer.Add({{.times = 60'000, .gap_ns = Ns(1ms), .value_ns = Ns(6ms)}});
  writer.Add(Lasting(kUsual, kFoundWithin));
  const auto healed = writer.Add(Lasting(kUsual, 2s));
  const auto next = writer.Add(Taking(6ms, 3s));
  const auto seen = detector.Watch(writer);
  EXPECT_EQ(seen[fault].fatals, 60'000);
  EXPECT_EQ(seen[healed].fatals, 0);
  EXPECT_TRUE(HasLearned(seen[healed], kUsual));
  EXPECT_TRUE(FindsTheFault(writer, next, seen));
}

}  // namespace
}  // namespace depfast::adr
