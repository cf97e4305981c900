// Flows: the messages that replicas put on the wires, counted by sender and receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "sim/observer.h"

namespace depfast::measure {

class Flows : public sim::Observer {
 public:
  struct Flow {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
  };
  using ByLink = std::map<std::pair<PeerId, PeerId>, Flow>;  // (sender, receiver)

  // Of the replicas' messages to other replicas since the latest Clear.
  const ByLink& by_link() const { return by_link_; }
  void Clear() { by_link_.clear(); }

  void OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time, const Bytes& frame) override {
    const bool between_replicas = from < kFirstClient && to < kFirstClient && from != to;
    if (stage != sim::FrameStage::kOnWire || !between_replicas) return;
    Flow& flow = by_link_[{from, to}];
    ++flow.frames;
    flow.bytes += frame->size();
  }

 private:
  ByLink by_link_;
};

}  // namespace depfast::measure
