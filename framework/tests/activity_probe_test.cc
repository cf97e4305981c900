// The windows of activity that the probe makes.
#include "depfast/verify/activity_probe.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "depfast/rpc.h"
#include "depfast/value_event.h"
#include "depfast/verify/probes.h"
#include "support/echo.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Replica;

constexpr Duration kWindow = 10ms;

std::int64_t Ns(Duration time) { return time.count(); }

class ActivityProbeTest : public ::testing::Test {
 protected:
  using Call = std::shared_ptr<RpcEvent<TextReply>>;

  ActivityProbeTest() {
    replica_.runtime.Start([] {});
  }

  // The windows that a report has.
  std::vector<ActivityWindow> Windows() const {
    return ActivityProbe::Read(probe_.Report(replica_.runtime)).value();
  }

  Call Ask(PeerId peer, Duration timeout = kForever) {
    Call call;
    replica_.In([&] { call = replica_.runtime.rpc().Call(peer, Echo{}, timeout); });
    return call;
  }

  void Answer(PeerId peer, const Call& call) {
    const FrameHeader header{FrameKind::kReply, Echo::kMethod, call->id(), {}};
    replica_.runtime.DeliverFrame(peer, EncodeFrame(header, TextReply{}));
  }

  ActivityProbe probe_{kWindow};
  Replica replica_{RuntimeOptions{.replicas = 4, .probes = {&probe_}}};
};

TEST_F(ActivityProbeTest, WindowsAdjoinAndNoneIsLeftOut) {
  replica_.Advance(37ms);
  const auto windows = Windows();
  ASSERT_EQ(windows.size(), 3U) << "the fourth one has not ended";
  for (std::size_t i = 0; i < windows.size(); ++i) {
    ActivityWindow empty;
    empty.from_ns = Ns(kWindow) * static_cast<std::int64_t>(i);
    empty.to_ns = empty.from_ns + Ns(kWindow);
    EXPECT_EQ(windows[i], empty);
  }
}

TEST_F(ActivityProbeTest, CallsAreCountedByPeerAndByTheirEnd) {
  const Call answered = Ask(1);
  const Call released = Ask(1);
  const Call failed = Ask(3);
  Ask(3, 4ms);
  replica_.Run();  // the host is asked for the time of the timeout
  replica_.Advance(2ms);
  Answer(1, answered);
  const FrameHeader error{FrameKind::kError, Echo::kMethod, failed->id(), {}};
  replica_.runtime.DeliverFrame(
      3, EncodeFrame(error, static_cast<std::uint32_t>(RpcError::kRejected)));
  replica_.Advance(3ms);
  replica_.In([&] { replica_.runtime.rpc().Release(*released); });
  replica_.Advance(5ms);
  const auto windows = Windows();
  ASSERT_EQ(windows.size(), 1U);
  PeerActivity first{.peer = 1, .calls = 2, .replies = 1, .released = 1};
  first.ended = {2, Ns(7ms), Ns(5ms)};
  PeerActivity third{.peer = 3, .calls = 2, .timeouts = 1, .failures = 1};
  third.ended = {2, Ns(6ms), Ns(4ms)};
  EXPECT_EQ(windows[0].peers, (std::vector<PeerActivity>{first, third}));
}

TEST_F(ActivityProbeTest, ACallIsOpenInEachWindowUntilItEnds) {
  replica_.Advance(4ms);
  const Call call = Ask(2);
  replica_.Advance(21ms);
  Answer(2, call);
  replica_.Advance(5ms);
  const auto windows = Windows();
  ASSERT_EQ(windows.size(), 3U);
  PeerActivity peer{.peer = 2, .calls = 1};
  peer.open = {1, Ns(6ms), Ns(6ms)};
  EXPECT_EQ(windows[0].peers, std::vector<PeerActivity>{peer});
  peer.calls = 0;
  peer.open = {1, Ns(16ms), Ns(16ms)};
  EXPECT_EQ(windows[1].peers, std::vector<PeerActivity>{peer});
  peer.open = {};
  peer.replies = 1;
  peer.ended = {1, Ns(21ms), Ns(21ms)};
  EXPECT_EQ(windows[2].peers, std::vector<PeerActivity>{peer});
}

TEST_F(ActivityProbeTest, WaitsAreCountedByCoroutineAndEvent) {
  const auto event = replica_.Make<IntEvent>("votes", 1);
  replica_.Spawn("voter", [&] { event->Wait(); });
  replica_.Spawn("voter", [&] { event->Wait(3ms); });
  replica_.Spawn("asker", [&] { event->Wait(); });
  replica_.Run();
  replica_.Advance(15ms);
  replica_.Do([&] { event->Set(1); });
  replica_.Advance(5ms);
  const auto windows = Windows();
  ASSERT_EQ(windows.size(), 2U);
  CoroutineActivity asker{.coroutine = "asker", .event = "votes"};
  asker.open = {1, Ns(10ms), Ns(10ms)};
  CoroutineActivity voter{.coroutine = "voter", .event = "votes", .timed_out = 1};
  voter.ended = {1, Ns(3ms), Ns(3ms)};
  voter.open = {1, Ns(10ms), Ns(10ms)};
  EXPECT_EQ(windows[0].coroutines, (std::vector<CoroutineActivity>{asker, voter}));
  asker.open = voter.open = {};
  asker.ended = voter.ended = {1, Ns(15ms), Ns(15ms)};
  voter.timed_out = 0;
  EXPECT_EQ(windows[1].coroutines, (std::vector<CoroutineActivity>{asker, voter}));
}

TEST_F(ActivityProbeTest, StepsAreCountedWithTheirCostAndTheirTime) {
  replica_.runtime.StepEnded({0ms, 1ms, 2ms});
  replica_.runtime.StepEnded({2ms, 2ms, 5ms});
  replica_.Advance(10ms);
  const auto windows = Windows();
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].steps, 2U);
  EXPECT_EQ(windows[0].cost_ns, Ns(3ms));
  EXPECT_EQ(windows[0].took_ns, Ns(7ms));
}

TEST_F(ActivityProbeTest, TheLatestWindowsAreKept) {
  replica_.Advance(kWindow * static_cast<std::int64_t>(ActivityProbe::kWindowsMax + 5));
  const auto windows = Windows();
  ASSERT_EQ(windows.size(), ActivityProbe::kWindowsMax);
  EXPECT_EQ(windows.front().from_ns, Ns(kWindow * 5));
}

TEST_F(ActivityProbeTest, AMalformedReportIsRefused) {
  EXPECT_FALSE(ActivityProbe::Read("").has_value());
  EXPECT_FALSE(ActivityProbe::Read("\x93\x01\x02").has_value());
}

TEST_F(ActivityProbeTest, TheProbeIsMadeByName) {
  EXPECT_NE(dynamic_cast<ActivityProbe*>(MakeProbe(ActivityProbe::kName).get()), nullptr);
}

}  // namespace
}  // namespace depfast
