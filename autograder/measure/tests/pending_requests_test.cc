// PendingRequests: when a request begins and ends to be pending.
#include "pending_requests.h"

#include <gtest/gtest.h>

#include <string>

#include "depfast/host/codec.h"

namespace depfast::measure {
namespace {

using sim::FrameStage;

Bytes Frame(FrameKind kind, CallId call) {
  return MakeBytes(EncodeFrame(FrameHeader{kind, 1, call, {}}, std::string("body")));
}

class PendingRequestsTest : public ::testing::Test {
 protected:
  void Ask(CallId call) {
    pending_.OnFrame(FrameStage::kQueued, 0, 1, 1ms, Frame(FrameKind::kRequest, call));
  }
  void Read(PeerId from, FrameKind kind, CallId call) {
    sim::StepInput input;
    input.frames.push_back({from, Frame(kind, call)});
    pending_.OnStep(0, input, {});
  }

  PendingRequests pending_;
};

TEST_F(PendingRequestsTest, EndWhenTheAnswerIsRead) {
  Ask(1);
  Ask(2);
  Ask(3);
  EXPECT_EQ(pending_.CountOf(0), 3u);
  EXPECT_EQ(pending_.CountOf(1), 0u);
  Read(1, FrameKind::kReply, 1);
  Read(1, FrameKind::kError, 2);
  EXPECT_EQ(pending_.CountOf(0), 1u);
  Read(1, FrameKind::kRequest, 3);
  Read(2, FrameKind::kReply, 3);
  EXPECT_EQ(pending_.CountOf(0), 1u) << "a request, and an answer of another replica";
}

TEST_F(PendingRequestsTest, EndWhenTheFrameIsGone) {
  Ask(1);
  Ask(2);
  Ask(3);
  pending_.OnFrame(FrameStage::kReleased, 0, 1, 2ms, Frame(FrameKind::kRequest, 1));
  pending_.OnFrame(FrameStage::kLost, 0, 1, 2ms, Frame(FrameKind::kRequest, 2));
  pending_.OnFrame(FrameStage::kOnWire, 0, 1, 2ms, Frame(FrameKind::kRequest, 3));
  EXPECT_EQ(pending_.CountOf(0), 1u);
  pending_.OnRestart(0, 3ms);
  EXPECT_EQ(pending_.CountOf(0), 0u);
}

TEST_F(PendingRequestsTest, AreThoseOfReplicasToOthers) {
  const Bytes request = Frame(FrameKind::kRequest, 1);
  pending_.OnFrame(FrameStage::kQueued, kFirstClient, 0, 1ms, request);
  pending_.OnFrame(FrameStage::kQueued, 0, kFirstClient, 1ms, request);
  pending_.OnFrame(FrameStage::kQueued, 0, 0, 1ms, request);
  pending_.OnFrame(FrameStage::kQueued, 0, 1, 1ms, Frame(FrameKind::kReply, 1));
  pending_.OnFrame(FrameStage::kQueued, 0, 1, 1ms, MakeBytes("no frame"));
  EXPECT_EQ(pending_.CountOf(0), 0u);
}

}  // namespace
}  // namespace depfast::measure
