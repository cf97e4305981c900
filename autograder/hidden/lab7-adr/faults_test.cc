// Hidden tests: what is a slow fault, and what is a load.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "asked_detector.h"
#include "testkit/environment.h"

namespace depfast::adr {
namespace {

GRADED_TEST(Faults, AreNoOutliers, "7a", 1,
            "One value of a hundred times the usual one is no fault, once or ten times.") {
  AskedDetector detector;
  StreamWriter writer = SaturatedWriter(730);
  writer.Add(kUsual);
  const auto outliers = writer.Add({{.gap_ns = Ns(150ms), .value_ns = Ns(200ms)},
                                    {.times = 2000, .gap_ns = Ns(1ms), .value_ns = Ns(2ms)}},
                                   10);
  const auto fault = writer.Add(kFault);
  const auto seen = detector.Watch(writer);
  EXPECT_TRUE(FindsTheFault(writer, fault, seen));
  EXPECT_TRUE(HasLearned(seen[outliers], {.value = 2ms, .noise = 0}));
  EXPECT_TRUE(IsQuiet(seen[outliers]));
}

GRADED_TEST(
    Faults, AreNoArrivals, "7a", 2,
    "Regular, jittered, Poisson and bursty arrivals of one rate: no warning, no fatal level "
    "and no reset in 120 s.") {
  AskedDetector detector;
  constexpr int kWorlds = 3;
  const std::vector<Arrivals> kinds = {Arrivals::kRegular, Arrivals::kJittered, Arrivals::kPoisson,
                                       Arrivals::kBursts};
  std::vector<StreamWriter> writers;
  for (const Arrivals arrivals : kinds) {
    for (std::uint64_t world = 0; world < kWorlds; ++world) {
      writers.push_back(SaturatedWriter(731 + world));
      writers.back().Add({.lasting = 120s, .per_second = 400, .arrivals = arrivals});
      // A rate that is lower by chance as the fault begins would be a load (R6).
      writers.back().Add({.lasting = 2s, .per_second = 400});
      writers.back().Add({.lasting = 3s, .per_second = 80, .value = 10ms, .arrivals = arrivals});
    }
  }
  const auto seen = detector.WatchAll(writers);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_TRUE(IsQuiet(seen[i][0])) << "arrivals " << i / kWorlds;
    EXPECT_EQ(seen[i][0].warnings, 0) << "arrivals " << i / kWorlds;
    EXPECT_TRUE(FindsTheFault(writers[i], 2, seen[i])) << "arrivals " << i / kWorlds;
  }
}

GRADED_TEST(Faults, AreFoundInBatches, "7a", 1,
            "Updates of one instant count, each of them: a fault that makes batches come seldom is "
            "found.") {
  AskedDetector detector;
  StreamWriter writer = SaturatedWriter(736);
  Stretch stretch = kUsual;
  stretch.arrivals = Arrivals::kBursts;
  const auto well = writer.Add(stretch);
  stretch = kFault;
  stretch.arrivals = Arrivals::kBursts;
  const auto bad = writer.Add(stretch);
  const auto seen = detector.Watch(writer);
  EXPECT_TRUE(IsQuiet(seen[well]));
  EXPECT_TRUE(FindsTheFault(writer, bad, seen));
}

// Ten updates are recent. The rate is lower from the third long gap on.
GRADED_TEST(Faults, AreMoreThanHalf, "7a", 1,
            "Five slow updates of ten recent ones are no fault. Six are one.") {
  AskedDetector detector;
  const PlantedRun usual = {.times = 300, .gap_ns = Ns(100ms), .value_ns = Ns(2ms)};
  for (const int slow : {5, 6}) {
    StreamWriter writer = SaturatedWriter(737);
    writer.Add({usual});
    const auto half =
        writer.Add({{.times = 2 + slow, .gap_ns = Ns(300ms), .value_ns = Ns(20ms)}, usual});
    const auto seen = detector.Watch(writer);
    EXPECT_EQ(seen[half].fatals > 0, slow == 6) << slow << " slow updates";
  }
}

GRADED_TEST(
    Faults, AreInTheLastSecond, "7a", 1,
    "A fault is found within 1.3 s after any number of good seconds: they do not dilute it.") {
  AskedDetector detector;
  std::vector<StreamWriter> writers;
  for (const Duration lasting : {15s, 30s, 120s}) {
    writers.push_back(SaturatedWriter(738));
    writers.back().Add(Lasting(kUsual, lasting));
    writers.back().Add(kFault);
  }
  const auto seen = detector.WatchAll(writers);
  for (std::size_t i = 0; i < writers.size(); ++i) {
    EXPECT_TRUE(FindsTheFault(writers[i], 1, seen[i]));
  }
}

// The load becomes `load`, and another threshold is learned from nothing. Then `fault` is found.
void ExpectLearnsAnew(std::uint64_t seed, const Stretch& load, const Stretch& fault_of_load) {
  AskedDetector detector;
  StreamWriter writer = SaturatedWriter(seed);
  writer.Add(kUsual);
  const auto begin = writer.Add(Lasting(load, 2s));
  const auto later = writer.Add(load);
  const auto fault = writer.Add(fault_of_load);
  const auto seen = detector.Watch(writer);
  EXPECT_EQ(seen[begin].threshold_ns, Ns(StaticLimits().warn));
  EXPECT_TRUE(HasLearned(seen[later], load));
  EXPECT_EQ(seen[begin].fatals + seen[later].fatals, 0);
  EXPECT_TRUE(FindsTheFault(writer, fault, seen));
}

GRADED_TEST(Faults, AreNoHeavierLoad, "7a", 1,
            "When the rate is continuously higher, all windows are empty again: the threshold is "
            "the static one, until the new load is learned.") {
  ExpectLearnsAnew(739, {.lasting = 13s, .per_second = 2000, .value = 4ms},
                   {.lasting = 3s, .per_second = 400, .value = 20ms});
}

GRADED_TEST(
    Faults, AreNoLighterLoad, "7a", 1,
    "When the rate is continuously lower and the values are not slow, all windows are empty "
    "again: values that are then longer for good are no fault.") {
  ExpectLearnsAnew(740, {.lasting = 15s, .per_second = 400, .value = 1ms},
                   {.lasting = 3s, .per_second = 80, .value = 5ms});
}

GRADED_TEST(Faults, DoNotBecomeUsual, "7a", 2,
            "A fault of 60 s is fatal to its end. It is not learned, and the level is well again "
            "1.3 s after it.") {
  AskedDetector detector;
  StreamWriter writer = SaturatedWriter(741);
  writer.Add(kUsual);
  writer.Add(Lasting(kFault, kFoundWithin));
  const auto fault = writer.Add({{.times = 12'000, .gap_ns = Ns(5ms), .value_ns = Ns(10ms)}});
  writer.Add(Lasting(kUsual, kFoundWithin));
  const auto healed = writer.Add(kUsual);
  const auto next = writer.Add(kFault);
  const auto seen = detector.Watch(writer);
  EXPECT_EQ(seen[fault].fatals, 12'000);
  EXPECT_EQ(seen[fault].resets, 0U);
  EXPECT_EQ(seen[healed].fatals, 0);
  EXPECT_TRUE(HasLearned(seen[healed], kUsual));
  EXPECT_TRUE(FindsTheFault(writer, next, seen));
}

}  // namespace
}  // namespace depfast::adr
