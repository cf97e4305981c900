// The detector of lab 4 in the field: it reads the windows of a leader under load, whose follower
// becomes slow. The graded tests plant windows; this one shows that real ones are like them.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "depfast/verify/activity_probe.h"
#include "finalize_world.h"
#include "testkit/environment.h"
#include "watch_runner.h"

namespace depfast::lab4 {
namespace {

using Windows = WatchRunner::Windows;

FinalizeWorld WatchedWorld(std::uint64_t seed) {
  return FinalizeWorld({.replicas = 3,
                        .seed = seed,
                        .profile = sim::Profile::TeachingRealistic(),
                        .probes = {ActivityProbe::kName}});
}

Windows WindowsOf(FinalizeWorld& world, PeerId replica) {
  auto windows =
      ActivityProbe::Read(world.cluster.simulator().Report(replica, ActivityProbe::kName));
  return std::move(windows).value_or(Windows());
}

// The peers found in each window, of one stream.
WatchRunner::Findings FindingsIn(const Windows& windows) {
  auto found = WatchRunner(470).Watch({windows});
  return found ? std::move(found->front()) : WatchRunner::Findings();
}

// 500 SETs a second, 1,000, 50, none, large ones.
TEST(DetectionTest, AHealthyClusterHasNoSpike) {
  for (std::uint64_t seed = 471; seed < 473; ++seed) {
    FinalizeWorld world = WatchedWorld(seed);
    const PeerId leader = world.WaitForProposer();
    ASSERT_NE(leader, kNobody);
    world.Write(leader, 4s, {.interval = 2ms});
    world.Write(leader, 3s, {.interval = 1ms});
    world.Write(leader, 3s, {.interval = 20ms});
    world.cluster.RunFor(3s);
    world.Write(leader, 3s, {.interval = 2ms, .bytes = 2000});
    const Windows windows = WindowsOf(world, leader);
    ASSERT_GT(windows.size(), 30U);
    const auto found = FindingsIn(windows);
    ASSERT_EQ(found.size(), windows.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i].empty()) << "window " << i;
  }
}

// Within two windows after the beginning, and no more in the third one after the end.
TEST(DetectionTest, ASlowFollowerIsFoundWhileItIsSlow) {
  for (const faults::Fault& kind :
       {faults::NetSlow({0}, 40ms), faults::NetSlow({0}, 400ms), faults::DiskContention({0}, 1)}) {
    FinalizeWorld world = WatchedWorld(475);
    const PeerId leader = world.WaitForProposer();
    ASSERT_NE(leader, kNobody);
    world.Write(leader, 5s, {.interval = 2ms});
    faults::Fault fault = kind;
    const PeerId slow = world.Others(leader)[0];
    fault.replicas = {slow};
    const std::int64_t begun = world.cluster.now().count();
    world.cluster.Begin(fault);
    world.Write(leader, 4s, {.interval = 2ms});
    world.cluster.End(fault);
    const std::int64_t ended = world.cluster.now().count();
    world.Write(leader, 5s, {.interval = 2ms});
    const Windows windows = WindowsOf(world, leader);
    const auto found = FindingsIn(windows);
    ASSERT_EQ(found.size(), windows.size());
    constexpr std::int64_t kWindow = ActivityProbe::kWindow.count();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const ActivityWindow& window = windows[i];
      SCOPED_TRACE(fault.Describe() + ", window until " + std::to_string(window.to_ns));
      if (window.to_ns <= begun || window.from_ns > ended + 4 * kWindow) {
        EXPECT_TRUE(found[i].empty());
      } else if (window.from_ns > begun + kWindow && window.to_ns < begun + 4 * kWindow) {
        EXPECT_EQ(found[i], std::vector<PeerId>{slow});
      }
    }
  }
}

}  // namespace
}  // namespace depfast::lab4
