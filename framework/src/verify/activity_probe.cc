#include "depfast/verify/activity_probe.h"

#include <cassert>

#include "depfast/host/codec.h"
#include "depfast/runtime.h"

namespace depfast {

ActivityProbe::ActivityProbe(Duration window) : length_(window) {
  assert(window > Duration::zero());
}

void ActivityProbe::Advance(Time now) {
  if (window_.to_ns == 0) {
    window_.from_ns = now.count();
    window_.to_ns = ((now / length_ + 1) * length_).count();
  }
  while (window_.to_ns <= now.count()) EndWindow();
}

void ActivityProbe::EndWindow() {
  const Time end{window_.to_ns};
  for (const auto& [call, since] : open_calls_) Peer(call.first).open.Add(end - since);
  for (const auto& [id, wait] : open_waits_) Waiter(wait).open.Add(end - wait.since);
  for (auto& [id, peer] : peers_) window_.peers.push_back(peer);
  for (auto& [key, waiter] : coroutines_) window_.coroutines.push_back(std::move(waiter));
  peers_.clear();
  coroutines_.clear();
  ended_.push_back(std::move(window_));
  if (ended_.size() > kWindowsMax) ended_.pop_front();
  window_ = {.from_ns = end.count(), .to_ns = (end + length_).count()};
}

PeerActivity& ActivityProbe::Peer(PeerId peer) {
  PeerActivity& activity = peers_[peer];
  activity.peer = peer;
  return activity;
}

CoroutineActivity& ActivityProbe::Waiter(const OpenWait& wait) {
  CoroutineActivity& activity = coroutines_[{wait.coroutine, wait.event}];
  activity.coroutine = wait.coroutine;
  activity.event = wait.event;
  return activity;
}

void ActivityProbe::OnStart(const Runtime& runtime) { Advance(runtime.Now()); }

void ActivityProbe::OnCall(const Runtime& runtime, const Task&, const RpcCall& call) {
  Advance(runtime.Now());
  ++Peer(call.peer()).calls;
  open_calls_[{call.peer(), call.id()}] = runtime.Now();
}

PeerActivity& ActivityProbe::EndCall(const Runtime& runtime, const RpcCall& call) {
  Advance(runtime.Now());
  const auto open = open_calls_.find({call.peer(), call.id()});
  assert(open != open_calls_.end());
  PeerActivity& peer = Peer(call.peer());
  peer.ended.Add(runtime.Now() - open->second);
  open_calls_.erase(open);
  return peer;
}

void ActivityProbe::OnReply(const Runtime& runtime, const RpcCall& call) {
  PeerActivity& peer = EndCall(runtime, call);
  if (call.error() == RpcError::kNone) {
    ++peer.replies;
  } else if (call.error() == RpcError::kTimedOut) {
    ++peer.timeouts;
  } else {
    ++peer.failures;
  }
}

void ActivityProbe::OnRelease(const Runtime& runtime, const RpcCall& call) {
  ++EndCall(runtime, call).released;
}

void ActivityProbe::OnWait(const Runtime& runtime, const Task& task, const Event& event) {
  Advance(runtime.Now());
  open_waits_[task.id] = {task.name, event.Label(), runtime.Now()};
}

void ActivityProbe::OnWaitEnd(const Runtime& runtime, const Task& task, const Event&,
                              Outcome outcome) {
  Advance(runtime.Now());
  const auto open = open_waits_.find(task.id);
  assert(open != open_waits_.end());
  CoroutineActivity& waiter = Waiter(open->second);
  waiter.ended.Add(runtime.Now() - open->second.since);
  if (outcome == Outcome::kTimedOut) ++waiter.timed_out;
  open_waits_.erase(open);
}

void ActivityProbe::OnStepEnd(const Runtime& runtime, const StepUsage& usage) {
  Advance(runtime.Now());
  ++window_.steps;
  window_.cost_ns += usage.cost.count();
  window_.took_ns += usage.took.count();
}

std::string ActivityProbe::Report(const Runtime& runtime) const {
  ActivityProbe copy = *this;
  copy.Advance(runtime.Now());
  std::string bytes;
  frame_internal::StringSink sink(bytes);
  msgpack::pack(sink, std::vector(copy.ended_.begin(), copy.ended_.end()));
  return bytes;
}

std::optional<std::vector<ActivityWindow>> ActivityProbe::Read(std::string_view report) {
  std::string error;
  return DecodeBody<std::vector<ActivityWindow>>(report, error);
}

}  // namespace depfast
