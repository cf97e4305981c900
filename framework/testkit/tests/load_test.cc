// Loads against a world where every operation takes a known time.
#include "testkit/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sim/simulator.h"

namespace depfast::testkit {
namespace {

// ---- LatencyRecorder ----

LatencyRecorder Recorded(std::vector<int> samples) {
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
  // Endings at 200, 210 ... 290 are in the window; that at 300 is not.
  EXPECT_EQ(loop.result().completed, 3U * 10U);
  // Of these, the ones that ended at 200 had begun before it.
  EXPECT_EQ(loop.result().latencies.count(), 3U * 9U);
  EXPECT_EQ(loop.result().latencies.Mean(), 10ms);
  EXPECT_EQ(loop.result().failed, 0U);
}

TEST(ClosedLoop, FailuresAreCountedAndNotMeasured) {
  EmptyWorld world;
  const ClosedLoop loop(world.simulator, world.Service(10ms, 4), 1, {0ms, 0ms, 400ms});
  world.simulator.RunUntil(1s);
  EXPECT_EQ(world.begun.size(), 40U);
  EXPECT_EQ(loop.result().failed, 10U);
  EXPECT_EQ(loop.result().completed, 30U - 0U);
  EXPECT_EQ(loop.result().latencies.count(), 30U);
}

TEST(OpenLoop, ArrivalsComeAtTheRateWhateverTheServiceTakes) {
  EmptyWorld world;
  const OpenLoop loop(world.simulator, world.Service(1s), 1000, {100ms, 200ms, 1100ms},
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
  EXPECT_EQ(loop.result().latencies.count(), 0U) << "none began and ended in the window";
  EXPECT_EQ(loop.result().completed, 0U);
}

TEST(OpenLoop, TheJitterUsesTheWholeInterval) {
  EmptyWorld world;
  const OpenLoop loop(world.simulator, world.Service(1ms), 1000, {0ms, 0ms, 1s}, RandomStream(1));
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

TEST(OpenLoop, MeasuresWhatBeganAndEndedInTheWindow) {
  EmptyWorld world;
  const OpenLoop loop(world.simulator, world.Service(10ms), 100, {0ms, 100ms, 200ms},
                      RandomStream(2));
  world.simulator.RunUntil(5s);
  std::size_t ended = 0;
  std::size_t measured = 0;
  for (const Time begun : world.begun) {
    const bool inside = begun + 10ms >= 100ms && begun + 10ms < 200ms;
    ended += inside ? 1 : 0;
    measured += inside && begun >= 100ms ? 1 : 0;
  }
  EXPECT_EQ(loop.result().completed, ended);
  EXPECT_EQ(loop.result().latencies.count(), measured);
  EXPECT_NEAR(static_cast<double>(ended), 10, 1);
  EXPECT_LT(measured, ended);
  EXPECT_EQ(loop.result().latencies.Percentile(1000), 10ms);
}

TEST(OpenLoop, EqualStreamsMeanEqualArrivals) {
  const auto arrivals = [](std::uint64_t seed) {
    EmptyWorld world;
    const OpenLoop loop(world.simulator, world.Service(1ms), 1000, {0ms, 0ms, 100ms},
                        RandomStream(seed));
    world.simulator.RunUntil(1s);
    return world.begun;
  };
  EXPECT_EQ(arrivals(1), arrivals(1));
  EXPECT_NE(arrivals(1), arrivals(2));
}

}  // namespace
}  // namespace depfast::testkit
