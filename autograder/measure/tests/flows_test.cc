// Flows: the messages that count, and those that do not.
#include "flows.h"

#include <gtest/gtest.h>

namespace depfast::measure {
namespace {

using sim::FrameStage;

TEST(Flows, CountWhatReplicasSendToEachOther) {
  Flows flows;
  const Bytes frame = MakeBytes("12345");
  flows.OnFrame(FrameStage::kQueued, 0, 1, 1ms, frame);
  flows.OnFrame(FrameStage::kQueued, 0, 1, 1ms, frame);
  flows.OnFrame(FrameStage::kQueued, 0, 1, 1ms, frame);
  flows.OnFrame(FrameStage::kReleased, 0, 1, 1ms, frame);
  flows.OnFrame(FrameStage::kOnWire, 0, 1, 1ms, frame);
  flows.OnFrame(FrameStage::kOnWire, 0, 1, 2ms, frame);
  flows.OnFrame(FrameStage::kArrived, 0, 1, 3ms, frame);
  flows.OnFrame(FrameStage::kOnWire, 0, 0, 3ms, frame);
  flows.OnFrame(FrameStage::kOnWire, 0, kFirstClient, 3ms, frame);
  flows.OnFrame(FrameStage::kQueued, kFirstClient, 0, 3ms, frame);
  ASSERT_EQ(flows.by_link().size(), 1u);
  const auto& [link, flow] = *flows.by_link().begin();
  EXPECT_EQ(link, (std::pair<PeerId, PeerId>{0, 1}));
  EXPECT_EQ(flow.queued.frames, 3u);
  EXPECT_EQ(flow.queued.bytes, 15u);
  EXPECT_EQ(flow.released.frames, 1u);
  EXPECT_EQ(flow.wire.frames, 2u);
  EXPECT_EQ(flow.wire.bytes, 10u);
}

TEST(Flows, TellWhenTheyStopped) {
  Flows flows;
  const Bytes frame = MakeBytes("12345");
  flows.OnFrame(FrameStage::kOnWire, 0, 1, 1ms, frame);
  flows.Clear(1s);
  EXPECT_TRUE(flows.by_link().empty());
  flows.OnFrame(FrameStage::kOnWire, 0, 1, 1s, frame);
  flows.OnFrame(FrameStage::kOnWire, 0, 1, 1099ms, frame);
  flows.OnFrame(FrameStage::kOnWire, 0, 1, 1200ms, frame);
  EXPECT_EQ(flows.by_link().begin()->second.slots, (std::vector<std::uint64_t>{10, 0, 5}));
}

}  // namespace
}  // namespace depfast::measure
