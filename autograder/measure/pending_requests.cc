#include "pending_requests.h"

#include <optional>
#include <string>

namespace depfast::measure {
namespace {

std::optional<FrameHeader> HeaderOf(const Bytes& frame) {
  std::string error;
  const auto decoded = DecodeFrame(*frame, error);
  return decoded ? std::optional(decoded->header) : std::nullopt;
}

}  // namespace

std::size_t PendingRequests::CountOf(PeerId replica) const {
  std::size_t count = 0;
  for (const auto& [link, calls] : by_link_) {
    if (link.first == replica) count += calls.size();
  }
  return count;
}

void PendingRequests::OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time,
                              const Bytes& frame) {
  if (from >= kFirstClient || to >= kFirstClient || from == to) return;
  const bool begins = stage == sim::FrameStage::kQueued;
  const bool ends = stage == sim::FrameStage::kReleased || stage == sim::FrameStage::kLost;
  if (!begins && !ends) return;
  const auto header = HeaderOf(frame);
  if (!header || header->kind != FrameKind::kRequest) return;
  if (begins) by_link_[{from, to}].insert(header->call);
  if (ends) by_link_[{from, to}].erase(header->call);
}

void PendingRequests::OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput&) {
  for (const sim::FrameArrival& arrival : input.frames) {
    if (arrival.from >= kFirstClient) continue;
    const auto header = HeaderOf(arrival.bytes);
    if (!header || header->kind == FrameKind::kRequest) continue;
    by_link_[{replica, arrival.from}].erase(header->call);
  }
}

void PendingRequests::OnRestart(PeerId replica, Time) {
  for (auto& [link, calls] : by_link_) {
    if (link.first == replica) calls.clear();
  }
}

}  // namespace depfast::measure
