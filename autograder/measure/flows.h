// Flows: the messages of replicas to other replicas, counted by sender and receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/observer.h"

namespace depfast::measure {

class Flows : public sim::Observer {
 public:
  static constexpr Duration kSlot = std::chrono::milliseconds(100);

  struct Count {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
  };
  struct Flow {
    Count queued;                      // given to the connection
    Count released;                    // of `queued`, taken back before they were on the wire
    Count wire;                        // put on the wire
    std::vector<std::uint64_t> slots;  // wire.bytes, for each kSlot; up to the last that has any
  };
  using ByLink = std::map<std::pair<PeerId, PeerId>, Flow>;  // (sender, receiver)

  const ByLink& by_link() const { return by_link_; }
  // Forgets all, and counts from `now` on.
  void Clear(Time now) {
    by_link_.clear();
    from_ = now;
  }

  void OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time now,
               const Bytes& frame) override {
    if (from >= kFirstClient || to >= kFirstClient || from == to) return;
    if (stage == sim::FrameStage::kQueued) Add(by_link_[{from, to}].queued, frame);
    if (stage == sim::FrameStage::kReleased) Add(by_link_[{from, to}].released, frame);
    if (stage == sim::FrameStage::kOnWire) AddToWire(by_link_[{from, to}], now, frame);
  }

 private:
  static void Add(Count& count, const Bytes& frame) {
    ++count.frames;
    count.bytes += frame->size();
  }

  void AddToWire(Flow& flow, Time now, const Bytes& frame) const {
    Add(flow.wire, frame);
    const auto slot = static_cast<std::size_t>((now - from_) / kSlot);
    if (slot >= flow.slots.size()) flow.slots.resize(slot + 1);
    flow.slots[slot] += frame->size();
  }

  ByLink by_link_;
  Time from_{0};
};

}  // namespace depfast::measure
