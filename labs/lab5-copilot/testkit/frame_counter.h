// FrameCounter: how many requests of a kind the replicas send to each other. SentRequests: all of
// one kind, with their contents.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "depfast/host/frame.h"
#include "sim/observer.h"
#include "testkit/cluster.h"

namespace depfast::copilot {

// The request that leaves; nothing if the output is something else, or a message to a client.
inline std::optional<DecodedFrame> RequestIn(const sim::Output& output) {
  const auto* const sent = std::get_if<sim::SendFrame>(&output);
  if (sent == nullptr || sent->to >= kFirstClient) return std::nullopt;
  std::string error;
  const auto frame = DecodeFrame(*sent->bytes, error);
  return frame && frame->header.kind == FrameKind::kRequest ? frame : std::nullopt;
}

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
      if (const auto frame = RequestIn(output)) ++requests_[frame->header.method];
    }
  }

  std::map<MethodId, std::uint64_t> requests_;
  std::map<PeerId, std::uint64_t> steps_;
};

template <typename Request>
class SentRequests : private sim::Observer {
 public:
  struct Sent {
    PeerId from;
    Time when;
    Request request;
  };

  explicit SentRequests(testkit::Cluster& cluster) { cluster.simulator().AddObserver(this); }

  const std::vector<Sent>& all() const { return all_; }

 private:
  void OnOutputsLeave(PeerId from, Time now, const std::vector<sim::Output>& outputs) override {
    for (const sim::Output& output : outputs) {
      const auto frame = RequestIn(output);
      if (!frame || frame->header.method != Request::kMethod) continue;
      std::string error;
      if (const auto request = DecodeBody<Request>(frame->body, error)) {
        all_.push_back({from, now, *request});
      }
    }
  }

  std::vector<Sent> all_;
};

}  // namespace depfast::copilot
