// Detectors: their registration, and those that come with the runtime.
#include "depfast/verify/detector.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "depfast/verify/builtin_detectors.h"

namespace depfast {
namespace {

ActivityWindow StepsThatTook(Duration cost, Duration took) {
  ActivityWindow window;
  window.steps = 10;
  window.cost_ns = cost.count();
  window.took_ns = took.count();
  return window;
}

// One coroutine, "writer", whose longest wait for "disk" has this length; `open`: it has not ended.
ActivityWindow WaitsForDisk(Duration worst, bool open = false) {
  CoroutineActivity waits{.coroutine = "writer", .event = "disk"};
  (open ? waits.open : waits.ended).Add(worst);
  CoroutineActivity other{.coroutine = "writer", .event = "work"};
  other.ended.Add(10s);
  ActivityWindow window;
  window.coroutines = {waits, other};
  return window;
}

// Finds something about peer 7 in every window.
class Alarmist final : public Detector {
 public:
  std::vector<Finding> OnWindow(const ActivityWindow& window) override {
    return {{7, "a window until " + std::to_string(window.to_ns)}};
  }
};

TEST(DetectorsTest, EachHearsOfEachWindowOnce) {
  Detectors detectors;
  detectors.Register("first", std::make_unique<Alarmist>());
  detectors.Register("second", std::make_unique<Alarmist>());
  ActivityWindow window;
  window.from_ns = 5;
  window.to_ns = 9;
  const auto findings = detectors.OnWindow(window);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].detector, "first");
  EXPECT_EQ(findings[1].detector, "second");
  EXPECT_EQ(findings[1].from_ns, 5);
  EXPECT_EQ(findings[1].to_ns, 9);
  EXPECT_EQ(findings[1].finding.peer, 7);
  EXPECT_EQ(findings[1].finding.what, "a window until 9");
}

TEST(DetectorsTest, ANameIsTakenOnce) {
  Detectors detectors;
  detectors.Register("spikes", std::make_unique<Alarmist>());
  EXPECT_THROW(detectors.Register("spikes", std::make_unique<Alarmist>()), std::invalid_argument);
  EXPECT_EQ(detectors.OnWindow({}).size(), 1U);
}

TEST(OccupancyDetectorTest, FindsAProcessorThatRunsTheReplicaForLessThanHalfTheTime) {
  OccupancyDetector detector;
  EXPECT_TRUE(detector.OnWindow(StepsThatTook(100ms, 100ms)).empty());
  EXPECT_TRUE(detector.OnWindow(StepsThatTook(50ms, 100ms)).empty());
  const auto findings = detector.OnWindow(StepsThatTook(49ms, 100ms));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].peer, kNobody);
  EXPECT_EQ(findings[0].what, "the processor ran the replica for 49 % of the time of its steps");
}

TEST(OccupancyDetectorTest, SaysNothingOfAWindowWithLittleWork) {
  OccupancyDetector detector;
  EXPECT_TRUE(detector.OnWindow({}).empty());
  EXPECT_TRUE(detector.OnWindow(StepsThatTook(0ms, 999us)).empty());
  EXPECT_FALSE(detector.OnWindow(StepsThatTook(0ms, 1ms)).empty());
}

TEST(EventSpikeDetectorTest, FindsAWaitThatIsMuchLongerThanThoseBefore) {
  EventSpikeDetector detector("disk");
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(detector.OnWindow(WaitsForDisk(2ms)).empty());
  EXPECT_TRUE(detector.OnWindow(WaitsForDisk(3ms)).empty());
  EXPECT_TRUE(detector.OnWindow(WaitsForDisk(12ms)).empty()) << "four times the longest";
  const auto findings = detector.OnWindow(WaitsForDisk(48'100us));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].what, "writer waited for disk for 48.1 ms");
}

TEST(EventSpikeDetectorTest, AWaitThatHasNotEndedCounts) {
  EventSpikeDetector detector("disk");
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(detector.OnWindow(WaitsForDisk(2ms)).empty());
  EXPECT_FALSE(detector.OnWindow(WaitsForDisk(9ms, true)).empty());
}

TEST(EventSpikeDetectorTest, SaysNothingInTheFirstWindows) {
  EventSpikeDetector detector("disk");
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(detector.OnWindow(WaitsForDisk(2ms)).empty());
  EXPECT_TRUE(detector.OnWindow({}).empty()) << "a window without a wait is none of the first five";
  EXPECT_TRUE(detector.OnWindow(WaitsForDisk(100ms)).empty());
}

TEST(EventSpikeDetectorTest, ForgetsTheLongestWaitAfterTwentyWindows) {
  EventSpikeDetector detector("disk");
  EXPECT_TRUE(detector.OnWindow(WaitsForDisk(100ms)).empty());
  for (int i = 0; i < 19; ++i) EXPECT_TRUE(detector.OnWindow(WaitsForDisk(2ms)).empty());
  EXPECT_TRUE(detector.OnWindow(WaitsForDisk(9ms)).empty());
  EXPECT_FALSE(detector.OnWindow(WaitsForDisk(37ms)).empty());
}

TEST(EventThresholdDetectorTest, FindsALimitThatIsBrokenSeveralTimesInARow) {
  EventThresholdDetector detector("disk", 5ms, 3);
  EXPECT_TRUE(detector.OnWindow(WaitsForDisk(6ms)).empty());
  EXPECT_TRUE(detector.OnWindow(WaitsForDisk(6ms)).empty());
  EXPECT_TRUE(detector.OnWindow(WaitsForDisk(5ms)).empty()) << "within the limit";
  EXPECT_TRUE(detector.OnWindow(WaitsForDisk(6ms)).empty());
  EXPECT_TRUE(detector.OnWindow(WaitsForDisk(6ms, true)).empty());
  const auto findings = detector.OnWindow(WaitsForDisk(7ms));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].what, "writer waited for disk for 7.0 ms, in 3 windows in a row");
}

}  // namespace
}  // namespace depfast
