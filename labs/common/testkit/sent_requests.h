// Watch: the outputs of replicas. SentRequests: their requests of one kind to each other.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "depfast/host/frame.h"
#include "frame_bodies.h"
#include "sim/observer.h"
#include "testkit/cluster.h"

namespace depfast {

// Calls `see` with each output of a replica, as it leaves.
class Watch : private sim::Observer {
 public:
  using See = std::function<void(PeerId from, Time now, const sim::Output& output)>;

  Watch(testkit::Cluster& cluster, See see) : see_(std::move(see)) {
    cluster.simulator().AddObserver(this);
  }

 private:
  void OnOutputsLeave(PeerId from, Time now, const std::vector<sim::Output>& outputs) override {
    for (const sim::Output& output : outputs) see_(from, now, output);
  }

  const See see_;
};

// The frame that an output sends to a replica; nothing if it sends none.
inline std::optional<DecodedFrame> FrameIn(const sim::Output& output) {
  const auto* const sent = std::get_if<sim::SendFrame>(&output);
  if (sent == nullptr || sent->to >= kFirstClient) return std::nullopt;
  std::string error;
  return DecodeFrame(*sent->bytes, error);
}

// In order.
template <typename Request>
class SentRequests {
 public:
  struct Sent {
    PeerId from;
    PeerId to;
    Time when;
    Request request;
  };

  explicit SentRequests(testkit::Cluster& cluster)
      : watch_(cluster, [this](PeerId from, Time now, const sim::Output& output) {
          const auto frame = FrameIn(output);
          if (!frame || frame->header.kind != FrameKind::kRequest) return;
          const PeerId to = std::get<sim::SendFrame>(output).to;
          VisitBody<Request>(
              *frame, [&](const Request& request) { all_.push_back({from, to, now, request}); });
        }) {}

  const std::vector<Sent>& all() const { return all_; }
  void Forget() { all_.clear(); }

 private:
  std::vector<Sent> all_;
  Watch watch_;
};

}  // namespace depfast
