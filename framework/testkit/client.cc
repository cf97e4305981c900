#include "testkit/client.h"

namespace depfast::testkit {

Client::Client(sim::Simulator& simulator)
    : simulator_(simulator),
      id_(simulator.AddClient([this](PeerId, const Bytes& bytes) { OnFrame(bytes); })) {}

void Client::Start(CallId call, Duration timeout, Finish finish) {
  waiting_.emplace(call, std::move(finish));
  if (timeout < kNever - simulator_.now()) {
    simulator_.At(simulator_.now() + timeout, [this, call] { End(call, nullptr); });
  }
}

void Client::OnFrame(const Bytes& bytes) {
  std::string error;
  const auto frame = DecodeFrame(*bytes, error);
  if (frame && frame->header.kind != FrameKind::kRequest) End(frame->header.call, &*frame);
}

void Client::End(CallId call, const DecodedFrame* frame) {
  const auto found = waiting_.find(call);
  if (found == waiting_.end()) return;  // answered before, or given up
  const Finish finish = std::move(found->second);
  waiting_.erase(found);
  finish(frame);
}

}  // namespace depfast::testkit
