#include "depfast/verify/fact_collector.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "depfast/host/codec.h"
#include "depfast/runtime.h"
#include "verify/fact_counter.h"
#include "verify/fact_log.h"

namespace depfast {

struct FactCollector::State {
  explicit State(OnWindow callback) : on_window(std::move(callback)) {}

  void Start(const Runtime& runtime);
  template <typename Record>
  void Write(const Runtime& runtime, Record&& record);
  void CountUpTo(Time now);
  // The window is over, and a step at `now` begins.
  void Close(const Runtime& runtime, Time now);

  const OnWindow on_window;
  FactLog log;  // what is not counted
  // Requests for clients less answers. While it is more than 0, somebody waits for the replica.
  std::int64_t unanswered = 0;
  std::optional<FactCounter> counter{std::in_place};
  Time window_end = kNever;
  std::deque<WindowFacts> closed;  // the latest kWindowsMax, if there is no on_window
};

FactCollector::FactCollector(OnWindow on_window)
    : state_(std::make_unique<State>(std::move(on_window))) {}

FactCollector::~FactCollector() = default;

// ---- windows ----

void FactCollector::OnStart(const Runtime& runtime) { state_->Start(runtime); }

void FactCollector::State::Start(const Runtime& runtime) {
  const Time now = runtime.Now();
  log.CountAll([](Time, const auto&) {});  // of a runtime that is gone, as its calls and waits are
  unanswered = 0;
  counter.emplace();
  counter->BeginWindow(now);
  window_end = (now / kVerificationWindow + 1) * kVerificationWindow;
}

template <typename Record>
void FactCollector::State::Write(const Runtime& runtime, Record&& record) {
  const Time now = runtime.Now();
  if (now >= window_end) [[unlikely]] {
    Close(runtime, now);
  }
  log.Write(now, std::forward<Record>(record));
  if (log.full()) CountUpTo(now);
}

void FactCollector::State::CountUpTo(Time now) {
  log.CountAll([this](Time at, const auto& record) { counter->Count(at, record); });
  counter->Advance(now);
}

void FactCollector::State::Close(const Runtime& runtime, Time now) {
  CountUpTo(now);
  WindowFacts facts = counter->FactsUntil(runtime, window_end);
  const Time begin = now / kVerificationWindow * kVerificationWindow;
  counter->BeginWindow(begin);
  window_end = begin + kVerificationWindow;
  if (on_window) {
    on_window(facts);
    return;
  }
  closed.push_back(std::move(facts));
  if (closed.size() > kWindowsMax) closed.pop_front();
}

std::string FactCollector::Report(const Runtime& runtime) const {
  const Time now = runtime.Now();
  if (now >= state_->window_end) state_->Close(runtime, now);
  state_->CountUpTo(now);
  std::vector<WindowFacts> all(state_->closed.begin(), state_->closed.end());
  all.push_back(state_->counter->FactsUntil(runtime, now));
  std::string bytes;
  frame_internal::StringSink sink(bytes);
  msgpack::pack(sink, all);
  return bytes;
}

std::optional<std::vector<WindowFacts>> FactCollector::Read(std::string_view report) {
  std::string error;
  auto windows = DecodeBody<std::vector<WindowFacts>>(report, error);
  if (windows && !std::ranges::all_of(*windows, IsPlausible)) return std::nullopt;
  return windows;
}

// A replica that owes nothing counts now, so that no command waits until a full log is counted.
void FactCollector::OnIdle(const Runtime& runtime) {
  if (state_->unanswered <= 0 && state_->log.half_full()) state_->CountUpTo(runtime.Now());
}

// ---- records ----

void FactCollector::OnEnd(const Runtime& runtime, const Task& task) {
  state_->Write(runtime, TaskEndRecord{task.id});
}

void FactCollector::OnCall(const Runtime& runtime, const Task& caller, const RpcCall& call) {
  state_->Write(runtime, CallRecord{CallKey::Of(call), call.Label(), call.carried(), caller.id,
                                    caller.dependency.kind});
}

void FactCollector::OnReply(const Runtime& runtime, const RpcCall& call) {
  state_->Write(runtime, CallEndRecord{CallKey::Of(call), call.Label(), call.carried(),
                                       call.IsReady(), call.error()});
}

void FactCollector::OnRelease(const Runtime& runtime, const RpcCall& call) {
  OnReply(runtime, call);
}

void FactCollector::OnRequest(const Runtime& runtime, PeerId peer, const Dependency& dependency) {
  if (dependency.kind != Dependency::Kind::kClient) return;
  ++state_->unanswered;
  state_->Write(runtime, RequestRecord{peer, dependency.id});
}

void FactCollector::OnAnswer(const Runtime& runtime, PeerId peer, const Dependency& dependency) {
  if (dependency.kind != Dependency::Kind::kClient) return;
  --state_->unanswered;
  state_->Write(runtime, AnswerRecord{peer, dependency.id});
}

void FactCollector::OnWait(const Runtime& runtime, const Task& task, const Event& event) {
  state_->Write(runtime, WaitRecord{task, &event});
}

// The wait is described now, not in OnWait: calls may have been added to a quorum meanwhile.
void FactCollector::OnWaitEnd(const Runtime& runtime, const Task& task, const Event& event,
                              Outcome outcome) {
  state_->Write(runtime, WaitEndRecord{task, &event, event.Label(), event.DescribeWait(), outcome});
}

}  // namespace depfast
