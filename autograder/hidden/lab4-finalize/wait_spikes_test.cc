// Hidden tests of the wait-spike detector: spikes and changes of load of many shapes.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "depfast/host/random.h"
#include "testkit/environment.h"
#include "watch_runner.h"
#include "window_writer.h"

namespace depfast::lab4 {
namespace {

// From two to six peers. A wait of 0.2 ms is usual for some, one of 80 ms for others.
std::map<PeerId, Duration> DrawPeers(RandomStream& random) {
  constexpr Duration kUsual[] = {200us, 1ms, 2ms, 5ms, 20ms, 80ms};
  std::map<PeerId, Duration> usual;
  const PeerId peers = 2 + static_cast<PeerId>(random.Below(5));
  for (PeerId peer = 1; peer <= peers; ++peer) usual[peer] = kUsual[random.Below(6)];
  return usual;
}

const std::map<PeerId, Duration> kNearAndFar = {{1, 1ms}, {2, 80ms}};

// Minutes of half seconds: more windows than a detector may count before it forgets.
constexpr int kVeryLong = 400;

// Twelve spikes, one after another.
void AddSpikes(WindowWriter& writer, RandomStream& random, std::uint64_t peers) {
  constexpr std::int64_t kSizes[] = {500, 600, 1000, 3000, 10'000};
  constexpr int kLengths[] = {1, 2, 5, 10, 45};
  constexpr int kGaps[] = {1, 3, 15};
  for (int i = 0; i < 12; ++i) {
    const PeerId peer = 1 + static_cast<PeerId>(random.Below(peers));
    const std::int64_t size = kSizes[random.Below(5)];
    const int length = i == 0 ? kVeryLong : kLengths[random.Below(5)];
    writer.Add({.windows = length, .slow = {{peer, size}}});
    writer.Add({.windows = kGaps[random.Below(3)]});
  }
}

GRADED_TEST(
    WaitSpikeRules, HoldForEverySizeAndLength, "4b", 1,
    "Spikes of 5 to 100 times the usual wait are found in each of their windows, one or "
    "400, and at peers of every distance. Each detector learns from its own windows alone.") {
  WatchRunner runner(440);
  std::vector<WindowWriter> writers;
  for (std::uint64_t stream = 1; stream <= 4; ++stream) {
    RandomStream random(runner.seed(stream), 440);
    const auto usual = stream == 1 ? kNearAndFar : DrawPeers(random);
    writers.emplace_back(runner.seed(stream), usual);
    writers.back().Add({.windows = 10 + static_cast<int>(5 * stream)});
    AddSpikes(writers.back(), random, usual.size());
  }
  std::vector<const WindowWriter*> all;
  for (const WindowWriter& writer : writers) all.push_back(&writer);
  EXPECT_TRUE(runner.FindsTheSpikes(all));
}

// The wait for peer 3 is the way to it: no load changes it.
GRADED_TEST(WaitSpikeRules, HoldUnderEveryLoad, "4b", 1,
            "No change of load is a spike: at once or by and by, up or down, with more calls, "
            "longer waits or both, with more calls to one peer, and with a distant peer that it "
            "does not touch.") {
  WatchRunner runner(441);
  WindowWriter writer(runner.seed(1), {{1, 2ms}, {2, 3ms}, {3, 40ms}});
  const auto at = [&](std::int64_t load, int calls, int windows) {
    writer.Add({.windows = windows, .calls = calls, .load = load, .slow = {{3, 100 * 100 / load}}});
  };
  at(100, 60, 25);
  at(800, 60, 25);
  at(100, 60, 12);
  at(100, 900, 12);
  at(400, 300, 3);
  at(100, 60, 25);
  for (int load = 100; load <= 1000; load += 100) at(load, load, 1);
  at(1000, 1000, 30);
  at(50, 20, 30);
  writer.Add({.windows = 25});
  writer.Add({.windows = 3, .slow = {{2, 180}}});
  writer.Add({.windows = 3, .busy = {{2, 600}}});
  writer.Add({.windows = 10});
  EXPECT_TRUE(runner.FindsTheSpikes(writer));
}

GRADED_TEST(
    WaitSpikeRules, HoldForSilentPeers, "4b", 1,
    "A peer that stops answering has a spike, whether its calls stay open or are released, and "
    "whether it has answered before in the same window or not.") {
  WatchRunner runner(443);
  WindowWriter writer(runner.seed(1), {{1, 2ms}, {2, 5ms}, {3, 5ms}});
  writer.Add({.windows = 20});
  writer.Add({.windows = 1, .silent = {2}});
  writer.Add({.windows = 10});
  writer.Add({.windows = 30, .silent = {1}});
  writer.Add({.windows = 10});
  writer.Add({.windows = 30, .silent = {3}, .patience = 100ms});
  writer.Add({.windows = 10});
  for (const PeerId peer : {1, 2, 3}) {
    writer.Add({.lingering = {{peer, 7000}}});  // the mean is 7.9 times the usual one
    writer.Add({.windows = 10});
  }
  EXPECT_TRUE(runner.FindsTheSpikes(writer));
}

GRADED_TEST(
    WaitSpikeRules, NeedEvidence, "4b", 1,
    "Windows with few waits, without a wait, or with calls to one peer alone show no spike, "
    "and the usual wait stays what it was.") {
  WatchRunner runner(444);
  WindowWriter writer(runner.seed(1), {{1, 2ms}, {2, 4ms}, {3, 20ms}});
  writer.Add({.windows = 3});
  writer.Add({.windows = 10, .idle = {1, 2, 3}});
  writer.Add({.slow = {{2, 500}}});  // the fourth window with evidence: the warm-up goes on
  writer.Add({.windows = 20});
  writer.Add({.windows = kVeryLong, .idle = {1, 2, 3}});
  writer.Add({.windows = 2, .slow = {{2, 500}}});
  writer.Add({.windows = 30, .calls = 4, .load = 2000});
  writer.Add({.windows = 2, .slow = {{1, 500}}});
  writer.Add({.windows = 2});
  writer.Add({.windows = 20, .calls = 5});
  writer.Add({.windows = 2, .calls = 5, .slow = {{1, 5000}}});
  writer.Add({.windows = 30, .load = 1500, .idle = {1, 2}});
  writer.Add({.windows = 2, .slow = {{3, 500}}});
  writer.Add({.windows = 5});
  writer.Add({.windows = kVeryLong, .idle = {2}});
  writer.Add({.windows = 2, .slow = {{2, 500}}});
  writer.Add({.windows = 5});
  // The load grows, and the few calls to peer 2 do not wait longer.
  for (const int few : {1, 4}) {
    writer.Add({.windows = 2, .load = 600, .slow = {{2, 17}}, .busy = {{2, few}}});
    writer.Add({.windows = 5});
  }
  EXPECT_TRUE(runner.FindsTheSpikes(writer));
}

GRADED_TEST(WaitSpikeRules, HoldForSeveralAtOnce, "4b", 1,
            "Several peers may have a spike at the same time, also while the load changes: none "
            "hides another.") {
  WatchRunner runner(445);
  WindowWriter writer(runner.seed(1), {{1, 2ms}, {2, 2ms}, {3, 3ms}, {4, 40ms}});
  writer.Add({.windows = 20});
  writer.Add({.windows = 4, .slow = {{4, 500}}});
  writer.Add({.windows = 4, .slow = {{2, 10'000}, {4, 500}}});
  writer.Add({.windows = 4, .slow = {{1, 1000}, {2, 1000}}});
  writer.Add({.windows = 30});
  writer.Add({.windows = 25, .calls = 300, .load = 600, .slow = {{3, 600}}});
  writer.Add({.windows = 25, .calls = 300, .load = 600});
  writer.Add({.windows = 4, .calls = 300, .load = 600, .slow = {{1, 600}}});
  writer.Add({.windows = 10, .calls = 300, .load = 600});
  EXPECT_TRUE(runner.FindsTheSpikes(writer));
}

GRADED_TEST(
    WaitSpikeRules, FollowLastingChanges, "4b", 1,
    "After a lasting change of load, the usual wait is the new one within twenty windows.") {
  WatchRunner runner(446);
  WindowWriter writer(runner.seed(1), {{1, 2ms}, {2, 2ms}, {3, 5ms}});
  for (const std::int64_t load : {1500, 100, 1500, 100}) {
    writer.Add({.windows = 60, .load = load});
    writer.Add({.windows = 3, .load = load, .slow = {{1, 500}}});
    writer.Add({.windows = 1, .load = load});
    writer.Add({.windows = 2, .load = load, .slow = {{3, 700}}});
  }
  // The load has grown for good. Then it falls for two peers, and the third waits as usual.
  writer.Add({.windows = 25, .load = 650});
  writer.Add({.windows = 5, .load = 650, .slow = {{2, 15}, {3, 15}}});
  EXPECT_TRUE(runner.FindsTheSpikes(writer));
}

}  // namespace
}  // namespace depfast::lab4
