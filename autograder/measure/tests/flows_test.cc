// Flows: the messages that count, and those that do not.
#include "flows.h"

#include <gtest/gtest.h>

namespace depfast::measure {
namespace {

using sim::FrameStage;

TEST(Flows, CountWhatReplicasPutOnTheWireForEachOther) {
  Flows flows;
  const Bytes frame = MakeBytes("12345");
  flows.OnFrame(FrameStage::kQueued, 0, 1, 1ms, frame);
  flows.OnFrame(FrameStage::kOnWire, 0, 1, 1ms, frame);
  flows.OnFrame(FrameStage::kOnWire, 0, 1, 2ms, frame);
  flows.OnFrame(FrameStage::kArrived, 0, 1, 3ms, frame);
  flows.OnFrame(FrameStage::kOnWire, 0, 0, 3ms, frame);
  flows.OnFrame(FrameStage::kOnWire, 0, kFirstClient, 3ms, frame);
  flows.OnFrame(FrameStage::kOnWire, kFirstClient, 0, 3ms, frame);
  ASSERT_EQ(flows.by_link().size(), 1u);
  const auto& [link, flow] = *flows.by_link().begin();
  EXPECT_EQ(link, (std::pair<PeerId, PeerId>{0, 1}));
  EXPECT_EQ(flow.frames, 2u);
  EXPECT_EQ(flow.bytes, 10u);
  flows.Clear();
  EXPECT_TRUE(flows.by_link().empty());
}

}  // namespace
}  // namespace depfast::measure
