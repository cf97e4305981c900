#include "testkit/client.h"

namespace depfast::testkit {

Client::Client(sim::Simulator& simulator)
    : simulator_(simulator),
      id_(simulator.AddClient([this](PeerId from, const Bytes& bytes) { OnFrame(from, bytes); })) {}

void Client::Start(CallId call, Waiting waiting, Duration timeout) {
  waiting_.emplace(call, std::move(waiting));
  if (timeout >= kNever - simulator_.now()) return;
  deadlines_.push({simulator_.now() + timeout, call});
  ArmTimer();
}

void Client::ArmTimer() {
  while (!deadlines_.empty() && !waiting_.contains(deadlines_.top().second)) deadlines_.pop();
  if (deadlines_.empty() || deadlines_.top().first >= armed_) return;
  armed_ = deadlines_.top().first;
  simulator_.At(armed_, [this, when = armed_] {
    if (armed_ == when) armed_ = kNever;
    while (!deadlines_.empty() && deadlines_.top().first <= when) {
      const auto call = waiting_.find(deadlines_.top().second);
      deadlines_.pop();
      if (call != waiting_.end()) End(call, nullptr);
    }
    ArmTimer();
  });
}

void Client::OnFrame(PeerId from, const Bytes& bytes) {
  std::string error;
  const auto frame = DecodeFrame(*bytes, error);
  if (!frame || frame->header.kind == FrameKind::kRequest) return;
  const auto call = waiting_.find(frame->header.call);
  if (call == waiting_.end()) return;  // answered before, or given up
  const bool was_asked =
      call->second.replica == from && call->second.method == frame->header.method;
  if (was_asked) End(call, &*frame);
}

void Client::End(Calls::iterator call, const DecodedFrame* frame) {
  const Finish finish = std::move(call->second.finish);
  waiting_.erase(call);
  while (!deadlines_.empty() && !waiting_.contains(deadlines_.top().second)) deadlines_.pop();
  finish(frame);
}

}  // namespace depfast::testkit
