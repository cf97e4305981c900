// A host on which nothing happens.
#pragma once

#include "depfast/host/host.h"

namespace depfast {

class IdleHost final : public Host {
 public:
  Time Now() override { return Time{0}; }
  std::uint64_t Random() override { return 4; }
  FrameId Send(PeerId, Bytes) override { return ++last_frame_; }
  void Release(PeerId, FrameId) override {}
  std::size_t HeldBytes(PeerId) override { return 0; }
  void Submit(IoRequest) override {}
  void WakeAt(Time) override {}
  void Observe(const Observation&) override {}

 private:
  FrameId last_frame_ = 0;
};

}  // namespace depfast
