// Runtime::Watch: a replica's detectors see its own windows, and findings become coroutines.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "depfast/rpc.h"
#include "depfast/timeout_event.h"
#include "depfast/verify/activity_probe.h"
#include "depfast/verify/detector.h"
#include "support/echo.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Replica;

constexpr Duration kWindow = ActivityProbe::kWindow;

// Keeps the windows, and finds something about each peer that was called.
class FindsCalls final : public Detector {
 public:
  explicit FindsCalls(std::vector<ActivityWindow>& windows) : windows_(windows) {}

  std::vector<Finding> OnWindow(const ActivityWindow& window) override {
    windows_.push_back(window);
    std::vector<Finding> findings;
    for (const PeerActivity& peer : window.peers) {
      findings.push_back({peer.peer, std::to_string(peer.calls) + " calls"});
    }
    return findings;
  }

 private:
  std::vector<ActivityWindow>& windows_;
};

RuntimeOptions ThreeReplicas() {
  RuntimeOptions options;
  options.replicas = 3;
  return options;
}

class WatchTest : public ::testing::Test {
 protected:
  void Watch(std::function<void(const Finding&)> on_finding) {
    replica_.In([&] {
      replica_.runtime.Watch(std::make_unique<FindsCalls>(windows_), std::move(on_finding));
    });
    replica_.Run();
  }

  void Call(PeerId peer) {
    replica_.In([&] { replica_.runtime.rpc().Call(peer, Echo{}); });
    replica_.Run();
  }

  std::vector<ActivityWindow> windows_;
  std::vector<Finding> found_;
  Replica replica_{ThreeReplicas()};
};

TEST_F(WatchTest, WithoutAWatchNoStepIsAskedFor) {
  Call(1);
  EXPECT_EQ(replica_.host.wake, kNever);
  EXPECT_FALSE(replica_.runtime.wants_usage());
}

TEST_F(WatchTest, EachWindowEndsInAStepOfTheReplica) {
  Watch([](const Finding&) {});
  EXPECT_TRUE(replica_.runtime.wants_usage());
  EXPECT_EQ(replica_.host.wake, kWindow);
  replica_.Advance(3 * kWindow);
  ASSERT_EQ(windows_.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(windows_[i].to_ns, (static_cast<std::int64_t>(i + 1) * kWindow).count());
    EXPECT_TRUE(windows_[i].coroutines.empty()) << "the watch is not a part of what it sees";
  }
}

TEST_F(WatchTest, AFindingRunsInACoroutineThatMayWait) {
  Watch([&](const Finding& finding) {
    replica_.runtime.Sleep(1ms);
    found_.push_back(finding);
  });
  Call(2);
  Call(2);
  replica_.Advance(kWindow);
  EXPECT_TRUE(found_.empty());
  replica_.Advance(1ms);
  ASSERT_EQ(found_.size(), 1U);
  EXPECT_EQ(found_[0].peer, 2);
  EXPECT_EQ(found_[0].what, "2 calls");
}

TEST_F(WatchTest, AllDetectorsSeeTheSameWindows) {
  std::vector<ActivityWindow> others;
  Watch([](const Finding&) {});
  replica_.In([&] {
    replica_.runtime.Watch(std::make_unique<FindsCalls>(others),
                           [&](const Finding& finding) { found_.push_back(finding); });
  });
  Call(1);
  replica_.Advance(2 * kWindow);
  EXPECT_EQ(windows_, others);
  EXPECT_EQ(found_.size(), 2U) << "the call is open in both windows";
}

TEST_F(WatchTest, AWatchMayBeginWhileThingsAreUnderWay) {
  std::shared_ptr<RpcEvent<TextReply>> call;
  replica_.Go([&] {
    call = replica_.runtime.rpc().Call(1, Echo{});
    call->Wait();
    found_.push_back({});
  });
  Watch([](const Finding&) {});
  const FrameHeader header{FrameKind::kReply, Echo::kMethod, call->id(), {}};
  replica_.runtime.DeliverFrame(1, EncodeFrame(header, TextReply{}));
  replica_.Advance(kWindow);
  EXPECT_EQ(found_.size(), 1U) << "the wait has ended";
  ASSERT_EQ(windows_.size(), 1U);
  EXPECT_TRUE(windows_[0].peers.empty()) << "only what began under the watch is counted";
}

TEST_F(WatchTest, AStepsCostIsInItsWindow) {
  Watch([](const Finding&) {});
  replica_.runtime.StepEnded({.began = 0ms, .cost = 3ms, .took = 8ms});
  replica_.Advance(kWindow);
  ASSERT_EQ(windows_.size(), 1U);
  EXPECT_EQ(windows_[0].cost_ns, Duration(3ms).count());
  EXPECT_EQ(windows_[0].took_ns, Duration(8ms).count());
}

}  // namespace
}  // namespace depfast
