// Loads against a world where every operation takes a known time.
#include "testkit/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "sim/simulator.h"

namespace depfast::testkit {
namespace {

// ---- LatencyRecorder ----

LatencyRecorder Recorded(const std::vector<int>& samples) {
  LatencyRecorder recorder;
  for (const int sample : samples) recorder.Add(Duration(sample));
  return recorder;
}

TEST(LatencyRecorder, IsZeroWithoutSamples) {
  const LatencyRecorder none;
  EXPECT_EQ(none.count(), 0U);
  EXPECT_EQ(none.Mean(), 0ns);
  EXPECT_EQ(none.Percentile(500), 0ns);
  EXPECT_EQ(none.Variation(), 0.0);
}

TEST(LatencyRecorder, PercentilesAreOfTheNearestRank) {
  const LatencyRecorder ten = Recorded({50, 10, 100, 30, 70, 20, 90, 40, 80, 60});
  EXPECT_EQ(ten.Percentile(0), 10ns);
  EXPECT_EQ(ten.Percentile(1), 10ns);
  EXPECT_EQ(ten.Percentile(100), 10ns);
  EXPECT_EQ(ten.Percentile(101), 20ns);
  EXPECT_EQ(ten.Percentile(500), 50ns);
  EXPECT_EQ(ten.Percentile(501), 60ns);
  EXPECT_EQ(ten.Percentile(990), 100ns);
  EXPECT_EQ(ten.Percentile(1000), 100ns);
  EXPECT_EQ(Recorded({7}).Percentile(500), 7ns);
  EXPECT_EQ(Recorded({1, 2, 3}).Percentile(500), 2ns);
}

TEST(LatencyRecorder, MeanAndVariation) {
  EXPECT_EQ(Recorded({10, 20, 40}).Mean(), 23ns);
  EXPECT_EQ(Recorded({5, 5, 5}).Variation(), 0.0);
  EXPECT_DOUBLE_EQ(Recorded({90, 110}).Variation(), 0.1);
}

// ---- loops ----

// Nothing in it costs anything: replicas never start.
struct EmptyWorld {
  EmptyWorld()
      : simulator(
            {1, 1, sim::Profile::Lab(), [](const sim::ReplicaConfig&) { return nullptr; }, {}}) {}

  // Takes `service` each, any number at a time; every `fail_every`-th fails (0: none).
  Operation Service(Duration service, int fail_every = 0) {
    return [this, service, fail_every](std::function<void(bool)> done) {
      begun.push_back(simulator.now());
      const bool ok = fail_every == 0 || begun.size() % static_cast<std::size_t>(fail_every) != 0;
      simulator.At(simulator.now() + service, [done = std::move(done), ok] { done(ok); });
    };
  }

  sim::Simulator simulator;
  std::vector<Time> begun;
};

TEST(ClosedLoop, EachClientStartsItsNextWhenItsLastHasEnded) {
  EmptyWorld world;
  const ClosedLoop loop(world.simulator, world.Service(10ms), 3, {100ms, 200ms, 300ms});
  world.simulator.RunUntil(1s);
  // Three clients, every 10 ms from 100 ms on, the last at 290 ms.
  EXPECT_EQ(world.begun.size(), 3U * 20U);
  EXPECT_EQ(world.begun.front(), 100ms);
  EXPECT_EQ(world.begun.back(), 290ms);
  const LoadResult result = loop.ResultAt(1s);
  // Endings at 200, 210 ... 290 are in the window; that at 300 is not.
  EXPECT_EQ(result.completed, 3U * 10U);
  EXPECT_EQ(loop.completed(), result.completed);
  EXPECT_EQ(result.offered, 3U * 10U) << "begun at 200, 210 ... 290";
  EXPECT_EQ(result.latencies.Mean(), 10ms);
  EXPECT_EQ(result.unanswered, 0U);
}

TEST(ClosedLoop, GoesOnAfterAFailure) {
  EmptyWorld world;
  const ClosedLoop loop(world.simulator, world.Service(10ms, 4), 1, {0ms, 0ms, 400ms});
  world.simulator.RunUntil(1s);
  const LoadResult result = loop.ResultAt(1s);
  EXPECT_EQ(result.offered, 40U);
  EXPECT_EQ(result.completed, 30U);
  EXPECT_EQ(result.unanswered, 10U);
}

TEST(OpenLoop, ArrivalsComeAtTheRateWhateverTheServiceTakes) {
  EmptyWorld world;
  const OpenLoop loop(world.simulator, world.Service(1s), 1ms, {100ms, 200ms, 1100ms},
                      RandomStream(1));
  world.simulator.RunUntil(5s);
  ASSERT_GE(world.begun.size(), 999U);
  ASSERT_LE(world.begun.size(), 1000U);
  for (std::size_t i = 0; i < world.begun.size(); ++i) {
    const Time earliest = 100ms + static_cast<int>(i) * 1ms;
    EXPECT_GE(world.begun[i], earliest);
    EXPECT_LE(world.begun[i], earliest + 1ms);
  }
  EXPECT_TRUE(std::is_sorted(world.begun.begin(), world.begun.end()));
}

TEST(OpenLoop, TheJitterUsesTheWholeInterval) {
  EmptyWorld world;
  const OpenLoop loop(world.simulator, world.Service(1ms), 1ms, {0ms, 0ms, 1s}, RandomStream(1));
  world.simulator.RunUntil(5s);
  Duration least = 1h;
  Duration most{0};
  for (std::size_t i = 0; i < world.begun.size(); ++i) {
    const Duration offset = world.begun[i] - static_cast<int>(i) * 1ms;
    least = std::min(least, offset);
    most = std::max(most, offset);
  }
  EXPECT_LT(least, 20us);
  EXPECT_GT(most, 980us);
}

TEST(OpenLoop, EqualStreamsMeanEqualArrivals) {
  const auto arrivals = [](std::uint64_t seed) {
    EmptyWorld world;
    const OpenLoop loop(world.simulator, world.Service(1ms), 1ms, {0ms, 0ms, 100ms},
                        RandomStream(seed));
    world.simulator.RunUntil(1s);
    return world.begun;
  };
  EXPECT_EQ(arrivals(1), arrivals(1));
  EXPECT_NE(arrivals(1), arrivals(2));
}

// ---- results ----

// A recorder with the window [100 ms, 350 ms) whose operations end when the test says.
struct ByHand {
  ByHand()
      : recorder(world.simulator,
                 [this](std::function<void(bool)> done) { ends.push_back(std::move(done)); },
                 {0ms, 100ms, 350ms}) {}

  void BeginAt(Time when) {
    world.simulator.RunUntil(when);
    recorder.Begin(nullptr);
  }
  // Ends the operation that was the `number`-th to begin, from 0.
  void EndAt(Time when, std::size_t number, bool ok) {
    world.simulator.RunUntil(when);
    ends[number](ok);
  }
  LoadResult ResultAt(Time end) {
    world.simulator.RunUntil(std::max(end, world.simulator.now()));
    return recorder.ResultAt(end);
  }

  EmptyWorld world;
  std::vector<std::function<void(bool)>> ends;
  LoadRecorder recorder;
};

TEST(LoadRecorder, AMeanIsOfWhatBeganInItsSlot) {
  ByHand load;
  for (const Time when : {100ms, 190ms, 200ms}) load.BeginAt(when);
  load.EndAt(200ms, 0, true);
  load.EndAt(210ms, 1, true);
  load.EndAt(220ms, 2, false);
  EXPECT_EQ(load.ResultAt(1s).means, (std::vector<Duration>{60ms, 800ms, 0ms}))
      << "one that took no effect lasts until the end";
}

TEST(LoadRecorder, MeasuresWhatBeganInTheWindow) {
  ByHand load;
  for (const Time when : {99ms, 100ms, 349ms, 350ms}) load.BeginAt(when);
  for (std::size_t i = 0; i < 4; ++i) load.EndAt(400ms, i, true);
  const LoadResult result = load.ResultAt(1s);
  EXPECT_EQ(result.offered, 2U);
  EXPECT_EQ(result.latencies.Percentile(0), 51ms);
  EXPECT_EQ(result.latencies.Percentile(1000), 300ms) << "it ended after the window, and counts";
}

TEST(LoadRecorder, AnUnansweredOperationCountsFromItsBeginToTheEnd) {
  ByHand load;
  load.BeginAt(100ms);
  load.BeginAt(150ms);
  load.BeginAt(200ms);
  load.EndAt(300ms, 1, false);
  load.EndAt(600ms, 2, true);
  const LoadResult result = load.ResultAt(500ms);
  EXPECT_EQ(result.offered, 3U);
  EXPECT_EQ(result.unanswered, 3U) << "no answer, a failure, and an answer after the end";
  EXPECT_EQ(result.latencies.Percentile(1000), 400ms);
  EXPECT_EQ(result.latencies.Mean(), 350ms);
  EXPECT_EQ(result.passed_over, 0U);
  EXPECT_EQ(load.ResultAt(600ms).unanswered, 2U) << "an answer at the end is in time";
  EXPECT_EQ(load.ResultAt(600ms).passed_over, 2U) << "the third was answered";
}

TEST(LoadRecorder, CountsCompletionsPerSlotWheneverTheyBegan) {
  ByHand load;
  for (int i = 0; i < 6; ++i) load.BeginAt(50ms);
  const Time ends[] = {99ms, 100ms, 199ms, 250ms, 349ms, 350ms};
  for (std::size_t i = 0; i < 6; ++i) load.EndAt(ends[i], i, /*ok=*/ends[i] != 250ms);
  const LoadResult result = load.ResultAt(1s);
  EXPECT_EQ(result.offered, 0U);
  EXPECT_EQ(result.completed, 3U);
  EXPECT_EQ(result.completions, (std::vector<std::uint64_t>{2, 0, 1})) << "the last slot is short";
  EXPECT_EQ(ByHand().ResultAt(350ms).completions, (std::vector<std::uint64_t>{0, 0, 0}));
}

}  // namespace
}  // namespace depfast::testkit
