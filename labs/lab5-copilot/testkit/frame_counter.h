// FrameCounter: how many requests of a kind the replicas send to each other.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sent_requests.h"

namespace depfast::copilot {

class FrameCounter : private sim::Observer {
 public:
  explicit FrameCounter(testkit::Cluster& cluster) { cluster.simulator().AddObserver(this); }

  template <typename Request>
  std::uint64_t requests() const {
    const auto found = requests_.find(Request::kMethod);
    return found == requests_.end() ? 0 : found->second;
  }
  // Steps that a replica has made.
  std::uint64_t steps(PeerId replica) const {
    const auto found = steps_.find(replica);
    return found == steps_.end() ? 0 : found->second;
  }

 private:
  void OnStep(PeerId replica, const sim::StepInput&, const sim::StepOutput&) override {
    ++steps_[replica];
  }
  void OnOutputsLeave(PeerId, Time, const std::vector<sim::Output>& outputs) override {
    for (const sim::Output& output : outputs) {
      const auto frame = FrameIn(output);
      if (frame && frame->header.kind == FrameKind::kRequest) ++requests_[frame->header.method];
    }
  }

  std::map<MethodId, std::uint64_t> requests_;
  std::map<PeerId, std::uint64_t> steps_;
};

}  // namespace depfast::copilot
