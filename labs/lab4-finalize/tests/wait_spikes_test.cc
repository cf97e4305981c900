// The public tests of the wait-spike detector: students see, run and replay them.
#include <gtest/gtest.h>

#include "testkit/environment.h"
#include "watch_runner.h"
#include "window_writer.h"

namespace depfast::lab4 {
namespace {

// Peer 3 is far away: 40 ms are usual there.
GRADED_TEST(
    WaitSpikes, AreFound, "4b", 1,
    "A spike is found in each of its windows, and only there, with the peer that is slow.") {
  WatchRunner runner(430);
  WindowWriter writer(runner.seed(1), {{1, 2ms}, {2, 3ms}, {3, 40ms}, {4, 2ms}});
  writer.Add({.windows = 30});
  writer.Add({.windows = 3, .slow = {{2, 1000}}});
  writer.Add({.windows = 10});
  writer.Add({.windows = 1, .slow = {{3, 800}}});
  writer.Add({.windows = 10});
  EXPECT_TRUE(runner.FindsTheSpikes(writer));
}

GRADED_TEST(WaitSpikes, AreNoChangesOfLoad, "4b", 1,
            "When more calls come and the waits for all peers grow, no peer has a spike.") {
  WatchRunner runner(431);
  WindowWriter writer(runner.seed(1), {{1, 2ms}, {2, 2ms}, {3, 3ms}});
  writer.Add({.windows = 25});
  writer.Add({.windows = 25, .calls = 400, .load = 600});
  writer.Add({.windows = 25});
  EXPECT_TRUE(runner.FindsTheSpikes(writer));
}

// Peer 4 is called for the first time in the 31st window. Both peers are slow once in their first
// five windows.
GRADED_TEST(WaitSpikes, AreUnknownDuringTheWarmUp, "4b", 1,
            "The first five windows with calls to a peer show no spike of it. In the sixth one it "
            "is found.") {
  WatchRunner runner(432);
  WindowWriter writer(runner.seed(1), {{1, 2ms}, {2, 2ms}, {3, 3ms}, {4, 2ms}});
  writer.Add({.windows = 2, .idle = {4}});
  writer.Add({.windows = 1, .slow = {{1, 600}}, .idle = {4}});
  writer.Add({.windows = 2, .idle = {4}});
  writer.Add({.windows = 2, .slow = {{1, 2000}}, .idle = {4}});
  writer.Add({.windows = 23, .idle = {4}});
  writer.Add({.windows = 3});
  writer.Add({.windows = 1, .slow = {{2, 1000}, {4, 600}}});
  writer.Add({.windows = 1});
  writer.Add({.windows = 2, .slow = {{4, 2000}}});
  writer.Add({.windows = 10});
  EXPECT_TRUE(runner.FindsTheSpikes(writer));
}

GRADED_TEST(WaitSpikeRules, LookAtTheMean, "4b", 1,
            "One wait of 100 ms among sixty of 2 ms is no spike; it does not hide one, either. Nor "
            "do a few open waits, or a few that are usually open.") {
  WatchRunner runner(442);
  WindowWriter writer(runner.seed(1), {{1, 2ms}, {2, 2ms}, {3, 2ms}, {4, 2ms}});
  writer.Add({.windows = 10});
  for (int i = 0; i < 6; ++i) {
    writer.Add({.outliers = {{1 + i % 3, 100ms}}});
    writer.Add({.windows = 4});
    writer.Add({.slow = {{1 + i % 3, 500}}, .outliers = {{1 + (i + 1) % 3, 100ms}}});
    writer.Add({.windows = 4});
    writer.Add({.lingering = {{1 + i % 3, 900}}});  // the mean is 1.8 times the usual one
    writer.Add({.windows = 4});
  }
  writer.Add({.windows = 25, .lingering = {{2, 900}}});
  writer.Add({.windows = 2, .slow = {{2, 900}}});
  EXPECT_TRUE(runner.FindsTheSpikes(writer));
}

}  // namespace
}  // namespace depfast::lab4
