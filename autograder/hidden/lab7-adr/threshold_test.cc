// Hidden tests of the learned threshold.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "adr_options.h"
#include "asked_detector.h"
#include "sealed/sealed_backend.h"
#include "testkit/environment.h"

namespace depfast::adr {
namespace {

constexpr StaticLimits kLimits = {.warn = 77ms};

GRADED_TEST(Threshold, IsStaticUntilTheHistoryIsFull, "7a", 1,
            "The history is full when it holds ten times the updates of the last second, which it "
            "does not hold, or 8,192. The first second is not in it. Until then the threshold is "
            "the static one. Then a fault is found.") {
  AskedDetector detector;
  for (const int per_second : {100, 400, 2000}) {
    StreamWriter writer = SaturatedWriter(710);
    const auto nothing = writer.Add({{.kind = PlantedRun::Kind::kIdleTicks}});
    Stretch stretch = kUsual;
    stretch.per_second = per_second;
    const Duration full = 2 * kSecond + std::min<Duration>(10s, kSecond * 8192 / per_second);
    const auto early = writer.Add(Lasting(stretch, full - 300ms));
    const auto late = writer.Add(Lasting(stretch, 600ms));
    const auto fault = writer.Add({.lasting = 3s, .per_second = per_second / 5, .value = 10ms});
    const auto seen = detector.Watch(writer, kLimits);
    EXPECT_EQ(seen[nothing].threshold_ns, Ns(kForever)) << "before the first update";
    EXPECT_EQ(seen[early].threshold_ns, Ns(kLimits.warn)) << per_second << " updates a second";
    EXPECT_TRUE(HasLearned(seen[late], stretch)) << per_second << " updates a second";
    EXPECT_TRUE(FindsTheFault(writer, fault, seen)) << per_second << " updates a second";
  }
}

GRADED_TEST(Threshold, IsThe99thPercentile, "7a", 1,
            "If one value of 50 is long, the threshold is long; if one of 200 is, it is not. Then "
            "values between the two that come seldom are a fault.") {
  AskedDetector detector;
  for (const int one_in : {50, 200}) {
    StreamWriter writer = SaturatedWriter(711);
    const auto stretch = writer.Add({{.times = one_in - 1, .gap_ns = Ns(1ms), .value_ns = Ns(2ms)},
                                     {.gap_ns = Ns(1ms), .value_ns = Ns(20ms)}},
                                    15'000 / one_in);
    const auto between = writer.Add(kFault);
    const auto seen = detector.Watch(writer);
    EXPECT_TRUE(HasLearned(seen[stretch], {.value = one_in == 50 ? 20ms : 2ms, .noise = 0}))
        << "one of " << one_in;
    EXPECT_EQ(seen[between].fatals > 0, one_in == 200) << "one of " << one_in;
  }
}

GRADED_TEST(Threshold, FollowsADrift, "7a", 1,
            "Values that grow by a percent a second for two minutes are usual. So a lighter load "
            "with them is no fault. Once it is learned, a fault is found.") {
  AskedDetector detector;
  StreamWriter writer = SaturatedWriter(712);
  Stretch stretch = {.per_second = 400};
  for (int second = 0; second < 120; ++second) {
    writer.Add(stretch);
    stretch.value += stretch.value / 100;
  }
  const auto drifted = writer.stream().ends.size();
  stretch.per_second = 200;
  const auto lighter = writer.Add(Lasting(stretch, 15s));
  const auto fault =
      writer.Add({.lasting = 3s, .per_second = 40, .value = 5 * stretch.value, .noise = 0});
  const auto seen = detector.Watch(writer);
  for (std::size_t second = 0; second < drifted; ++second) {
    ASSERT_TRUE(IsQuiet(seen[second])) << "in second " << second;
  }
  EXPECT_EQ(seen[lighter].fatals, 0);
  EXPECT_GE(seen[lighter].resets, 1U);
  EXPECT_TRUE(FindsTheFault(writer, fault, seen));
}

GRADED_TEST(Threshold, HasNoUnit, "7a", 1,
            "All values and both static thresholds times 0.01 to 1,000 have the same answers.") {
  AskedDetector detector;
  StreamWriter writer = SaturatedWriter(713);
  const auto add = [&](Duration lasting, int per_second, Duration value) {
    return writer.Add({.lasting = lasting, .per_second = per_second, .value = value, .noise = 0});
  };
  add(15s, 1000, 2ms);
  const auto fault = add(3s, 500, 3ms);
  add(15s, 1000, 2ms);
  add(15s, 3000, 4ms);
  add(1s, 300, 200ms);
  const auto base = detector.Watch(writer);
  EXPECT_TRUE(FindsTheFault(writer, fault, base));
  for (const int thousandths : {10, 100, 10'000, 1'000'000}) {
    StreamWriter scaled = writer;
    scaled.Scale(thousandths);
    const auto limit = [&](Duration time) { return time * thousandths / 1000; };
    const StaticLimits usual;
    const auto seen = detector.Watch(scaled, {limit(usual.warn), limit(usual.fatal)});
    for (std::size_t i = 0; i < base.size(); ++i) {
      const auto answers = [](const StretchReport& report) {
        return std::tuple(report.warnings, report.fatals, report.first_fatal_ns, report.resets);
      };
      EXPECT_EQ(answers(seen[i]), answers(base[i]))
          << "stretch " << i << ", values times " << thousandths << "/1000";
    }
  }
}

GRADED_TEST(Threshold, FollowsTheRate, "7a", 2,
            "The history's length follows the rate: from 1,000 updates a second to 100 and back, "
            "each load is learned within 15 s.") {
  AskedDetector detector;
  StreamWriter writer = SaturatedWriter(714);
  const Stretch light = {.lasting = 15s, .per_second = 100, .value = 1ms};
  writer.Add(kUsual);
  const auto lighter = writer.Add(light);
  const auto heavier = writer.Add(Lasting(kUsual, 15s));
  const auto fault = writer.Add(kFault);
  const auto seen = detector.Watch(writer);
  EXPECT_TRUE(HasLearned(seen[lighter], light));
  EXPECT_TRUE(HasLearned(seen[heavier], kUsual));
  EXPECT_TRUE(FindsTheFault(writer, fault, seen));
}

// The heap of a replica that is not in a process of its own is unknown: then this cannot fail.
GRADED_TEST(Threshold, NeedsLessThanAMegabyte, "7a", 2,
            "After a million updates, 10,000 in each second, a detector holds less than 1 MiB.") {
  AskedDetector detector;
  // The heap is known before a step. So a question comes behind the one that matters; the same
  // question is not asked twice.
  const auto ask_something = [&detector](Duration value) {
    StreamWriter writer = SaturatedWriter(715);
    writer.Add({{.gap_ns = Ns(1ms), .value_ns = Ns(value)}});
    detector.Watch(writer);
  };
  ask_something(1ms);
  ask_something(2ms);
  const std::uint64_t before = detector.heap_bytes_max();
  std::vector<PlantedRun> cycle;
  for (int i = 0; i < 50; ++i) {
    cycle.push_back({.times = 2, .gap_ns = Ns(100us), .value_ns = Ns(2ms + i * 10us)});
  }
  // The process keeps the memory of its largest message: one as large comes first, without updates.
  std::vector<PlantedRun> idle = cycle;
  for (PlantedRun& run : idle) run.kind = PlantedRun::Kind::kIdleTicks;
  StreamWriter quiet = SaturatedWriter(716);
  quiet.Add(idle, 10'000);
  detector.Watch(quiet);
  const std::size_t resident = detector.resident_bytes();
  StreamWriter large = SaturatedWriter(717);
  large.Add(cycle, 10'000);
  const auto fault = large.Add({.lasting = 3s, .per_second = 1000, .value = 20ms});
  const auto seen = detector.Watch(large);
  EXPECT_TRUE(HasLearned(seen[0], {.value = 2490us, .noise = 0}));
  EXPECT_TRUE(FindsTheFault(large, fault, seen));
  ask_something(3ms);
  constexpr std::uint64_t kMegabyte = 1 << 20;
  EXPECT_LT(detector.heap_bytes_max(), before + kMegabyte)
      << "heap of the replica, before: " << before;
  // 4 MiB; a sanitizer needs more.
  EXPECT_LT(detector.resident_bytes(), resident + sealed::kResidentBytesMax / 128)
      << "memory of the replica's process, also what no heap counts, before: " << resident;
}

GRADED_TEST(Threshold, SharesNothing, "7a", 1,
            "Two detectors that are updated in turn have their own thresholds and rates.") {
  AskedDetector detector;
  const Stretch far = {.lasting = 15s, .per_second = 1000, .value = 40ms};
  StreamWriter near_one = SaturatedWriter(719);
  StreamWriter far_one = SaturatedWriter(720);
  near_one.Add(kUsual);
  far_one.Add(far);
  const auto fault = near_one.Add(kFault);
  const auto well = far_one.Add(Lasting(far, 4s));
  const auto seen = detector.WatchAll({near_one, far_one}, {.warn = 1s});
  EXPECT_TRUE(HasLearned(seen[0][0], kUsual));
  EXPECT_TRUE(HasLearned(seen[1][0], far));
  EXPECT_TRUE(FindsTheFault(near_one, fault, seen[0]));
  EXPECT_TRUE(IsQuiet(seen[1][well]));
}

GRADED_TEST(Threshold, UnlearnsAnEarlyFault, "7a", 1,
            "A fault while the detector learns is not learned for ever: when it has ended, what is "
            "usual is learned, and the next fault is found.") {
  AskedDetector detector;
  StreamWriter writer = SaturatedWriter(721);
  writer.Add(Lasting(kUsual, 5s));
  writer.Add(Lasting(kFault, 20s));
  const auto healed = writer.Add(Lasting(kUsual, 15s));
  const auto next = writer.Add(kFault);
  const auto seen = detector.Watch(writer);
  EXPECT_TRUE(HasLearned(seen[healed], kUsual));
  EXPECT_TRUE(FindsTheFault(writer, next, seen));
}

}  // namespace
}  // namespace depfast::adr
