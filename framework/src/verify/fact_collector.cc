#include "depfast/verify/fact_collector.h"

#include <algorithm>
#include <memory_resource>
#include <optional>
#include <utility>

#include "depfast/host/frame.h"
#include "depfast/host/random.h"
#include "depfast/runtime.h"
#include "verify/open_requests.h"
#include "verify/window_rows.h"

namespace depfast {
namespace {

// A request without an answer for so many windows is forgotten: it never gets one.
constexpr int kForgetAfterWindows = 12;

// A call, by the peer and the id.
struct CallKey {
  PeerId peer;
  CallId call;

  friend bool operator==(const CallKey&, const CallKey&) = default;
};

// The number of a peer's votes that counted.
std::uint64_t& CountedOf(QuorumFacts& quorums, PeerId peer) {
  auto& voters = quorums.voters;
  auto voter = std::lower_bound(voters.begin(), voters.end(), peer,
                                [](const QuorumVoter& each, PeerId id) { return each.peer < id; });
  if (voter == voters.end() || voter->peer != peer) voter = voters.insert(voter, {peer, 0});
  return voter->counted;
}

struct CallKeyHash {
  std::size_t operator()(const CallKey& key) const {
    return RandomStream::Mix(key.call ^ (static_cast<std::uint64_t>(key.peer) << 40));
  }
};

// A call that is not decided.
struct OpenCall {
  Time sent{0};
  std::uint64_t task = 0;  // that issued it; 0: none
  // Since the latest end of a wait of the task for a quorum with this peer; else unused.
  Time leave_by = kNever;           // left behind after this time
  const char* coroutine = nullptr;  // the name of the task
  const void* quorum = nullptr;     // the event that was waited on; only compared
  bool counted = false;             // as left behind
};

// A wait that has not ended.
struct OpenWait {
  RuntimeProbe::Task task;
  std::weak_ptr<const Event> event;  // expired once the replica has stopped
  Time since{0};
  bool on_path = false;  // at its begin
};

// A dependency for which a coroutine began a wait while a request with it was open: on a client's
// path.
struct Path {
  int waits = 0;           // open ones
  Time answered = kNever;  // when a request with it was answered last
};

}  // namespace

struct FactCollector::State {
  explicit State(OnWindow callback) : on_window(std::move(callback)) {}

  // --- windows ---
  void Start(const Runtime& runtime);
  // Something happens. Closes the window if it is over.
  void Roll(Time now) {
    if (now == latest) return;
    before = std::exchange(latest, now);
    if (now >= window_end) Close(now);
  }
  void Close(Time now);
  // The facts of the window up to `end`.
  WindowFacts FactsUntil(Time end) const;
  void Forget();
  std::uint32_t SlotOf(Time now) const;

  // --- calls ---
  void Decided(const RpcCall& call);
  // Whether a call is outstanding for too long. A replica that was itself held up is not blamed: it
  // must have had a step after the time was over.
  bool IsLeftBehind(const OpenCall& call) const { return call.leave_by < before; }
  void LeftBehind(WindowRows& to, OpenCall& call, PeerId peer) const;
  void Detach(std::uint64_t task, const CallKey& call);
  void BeginGrace(const RuntimeProbe::Task& task, const Event& quorum, const WaitDescription& wait,
                  Time now);
  void EndGrace(const RuntimeProbe::Task& task, const Event& quorum);

  // --- waits ---
  // The part of a wait during which a client waited.
  Duration OnPath(const OpenWait& wait, Time now) const;
  void LeavePath(const OpenWait& wait);
  void AddHistory(const RuntimeProbe::Task& task, const Event& quorum, const WaitDescription& wait);

  const OnWindow on_window;
  PeerId self = kNobody;
  int replicas = 0;
  Time window_begin{0};
  Time window_end = kNever;
  Time latest{0};                  // of the latest step with an event for this probe
  Time before{0};                  // of the one before it
  std::deque<WindowFacts> closed;  // the latest kWindowsMax, if there is no on_window
  WindowRows rows;

  // Each call and each wait adds an element and removes it: the pool keeps the memory.
  std::pmr::unsynchronized_pool_resource pool;
  std::pmr::unordered_map<CallKey, OpenCall, CallKeyHash> calls{&pool};
  std::pmr::unordered_map<std::uint64_t, std::pmr::vector<CallKey>> calls_of_task{&pool};  // open
  std::pmr::unordered_map<std::uint64_t, OpenWait> waits{&pool};  // by task
  std::pmr::unordered_map<std::uint64_t, Path> paths{&pool};      // by dependency
  OpenRequests requests;                                          // with a client's dependency
};

// ---- windows ----

void FactCollector::State::Start(const Runtime& runtime) {
  self = runtime.self();
  replicas = runtime.replicas();
  window_begin = runtime.Now();
  window_end = (window_begin / kVerificationWindow + 1) * kVerificationWindow;
}

void FactCollector::State::Close(Time now) {
  WindowFacts facts = FactsUntil(window_end);
  for (auto& [key, call] : calls) {
    if (IsLeftBehind(call)) call.counted = true;
  }
  window_begin = now / kVerificationWindow * kVerificationWindow;
  window_end = window_begin + kVerificationWindow;
  rows = {};
  Forget();
  if (on_window) {
    on_window(facts);
    return;
  }
  closed.push_back(std::move(facts));
  if (closed.size() > kWindowsMax) closed.pop_front();
}

WindowFacts FactCollector::State::FactsUntil(Time end) const {
  WindowRows all = rows;
  for (const auto& [key, call] : calls) {
    if (!IsLeftBehind(call)) continue;
    OpenCall copy = call;
    LeftBehind(all, copy, key.peer);
  }
  for (const auto& [id, wait] : waits) {
    const auto event = wait.event.lock();
    if (event == nullptr || wait.since >= end) continue;
    WaitFacts& row = all.WaitsOf(wait.task, *event, event->DescribeWait());
    row.open.Add(end - wait.since);
    row.open_on_path |= wait.on_path && requests.Has(wait.task.dependency.id);
  }
  WindowFacts facts;
  facts.replica = self;
  facts.replicas = replicas;
  facts.begin_ns = window_begin.count();
  facts.end_ns = end.count();
  all.AppendTo(facts);
  return facts;
}

void FactCollector::State::Forget() {
  requests.ForgetBefore(window_begin - kForgetAfterWindows * kVerificationWindow);
}

std::uint32_t FactCollector::State::SlotOf(Time now) const {
  const auto slot = now % kVerificationWindow / (kVerificationWindow / kPresenceSlots);
  return static_cast<std::uint32_t>(slot);
}

FactCollector::FactCollector(OnWindow on_window)
    : state_(std::make_unique<State>(std::move(on_window))) {}

FactCollector::~FactCollector() = default;

void FactCollector::OnStart(const Runtime& runtime) { state_->Start(runtime); }

std::string FactCollector::Report(const Runtime& runtime) const {
  state_->Roll(runtime.Now());
  std::vector<WindowFacts> all(state_->closed.begin(), state_->closed.end());
  all.push_back(state_->FactsUntil(runtime.Now()));
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

// ---- calls ----

void FactCollector::OnCall(const Runtime& runtime, const Task& caller, const RpcCall& call) {
  State& state = *state_;
  const Time now = runtime.Now();
  state.Roll(now);
  WindowRows::Calls& row = state.rows.CallsOf(call.Label(), call.peer());
  switch (caller.dependency.kind) {
    case Dependency::Kind::kNone:
      ++row.facts.background;
      break;
    case Dependency::Kind::kClient:
      ++row.facts.for_clients;
      break;
    case Dependency::Kind::kHeartbeat:
      ++row.facts.for_heartbeats;
      break;
  }
  row.entries.Sent(call.carried());
  const CallKey key{call.peer(), call.id()};
  state.calls[key] = {now, caller.id};
  if (caller.id != 0) state.calls_of_task[caller.id].push_back(key);
}

void FactCollector::OnReply(const Runtime& runtime, const RpcCall& call) {
  const Time now = runtime.Now();
  state_->Roll(now);
  CallFacts& facts = state_->rows.CallsOf(call.Label(), call.peer()).facts;
  const auto open = state_->calls.find({call.peer(), call.id()});
  if (call.IsReady() && open != state_->calls.end()) {
    const Duration latency = now - open->second.sent;
    ++facts.answered;
    facts.latency.Add(latency);
    state_->rows.AddAnswer(call.peer(), state_->SlotOf(now), latency);
  } else {
    ++facts.failed;
  }
  state_->Decided(call);
}

void FactCollector::OnRelease(const Runtime& runtime, const RpcCall& call) {
  const Time now = runtime.Now();
  state_->Roll(now);
  ++state_->rows.CallsOf(call.Label(), call.peer()).facts.released;
  state_->Decided(call);
}

void FactCollector::State::Decided(const RpcCall& call) {
  const auto open = calls.find({call.peer(), call.id()});
  if (open == calls.end()) return;
  const bool given_up = call.error() == RpcError::kReleased || call.error() == RpcError::kTimedOut;
  if (given_up && open->second.sent >= window_begin) {
    rows.CallsOf(call.Label(), call.peer()).entries.GivenUp(call.carried());
  }
  if (IsLeftBehind(open->second)) LeftBehind(rows, open->second, call.peer());
  Detach(open->second.task, open->first);
  calls.erase(open);
}

void FactCollector::State::LeftBehind(WindowRows& to, OpenCall& call, PeerId peer) const {
  if (std::exchange(call.counted, true)) return;
  WindowRows::FanOuts& row = to.FanOutsOf(call.coroutine);
  row.tasks.insert(call.task);
  row.peers.insert(peer);
}

void FactCollector::State::Detach(std::uint64_t task, const CallKey& call) {
  const auto of_task = calls_of_task.find(task);
  if (of_task == calls_of_task.end()) return;
  std::erase(of_task->second, call);
}

// The calls live on: the grace of Finalize outlives the coroutine.
void FactCollector::OnEnd(const Runtime&, const Task& task) {
  state_->calls_of_task.erase(task.id);
}

void FactCollector::State::BeginGrace(const RuntimeProbe::Task& task, const Event& quorum,
                                      const WaitDescription& wait, Time now) {
  const auto of_task = calls_of_task.find(task.id);
  if (of_task == calls_of_task.end()) return;
  for (const CallKey& key : of_task->second) {
    OpenCall& call = calls.at(key);
    const bool is_awaited = std::any_of(wait.peers.begin(), wait.peers.end(),
                                        [&](const auto& peer) { return peer.id == key.peer; });
    if (!is_awaited || call.leave_by != kNever) continue;
    call.leave_by = now + kFinalizedWithin;
    call.coroutine = task.name;
    call.quorum = &quorum;
  }
}

// The task waits for the same quorum again: its earlier wait has timed out.
void FactCollector::State::EndGrace(const RuntimeProbe::Task& task, const Event& quorum) {
  const auto of_task = calls_of_task.find(task.id);
  if (of_task == calls_of_task.end()) return;
  for (const CallKey& key : of_task->second) {
    OpenCall& call = calls.at(key);
    if (call.quorum == &quorum && !call.counted) call.leave_by = kNever;
  }
}

// ---- waits ----

void FactCollector::OnRequest(const Runtime& runtime, PeerId peer, const Dependency& dependency) {
  if (dependency.kind != Dependency::Kind::kClient) return;
  const Time now = runtime.Now();
  state_->Roll(now);
  state_->requests.Add(peer, dependency.id, now);
}

void FactCollector::OnAnswer(const Runtime& runtime, PeerId peer, const Dependency& dependency) {
  if (dependency.kind != Dependency::Kind::kClient) return;
  const Time now = runtime.Now();
  state_->Roll(now);
  const std::optional<Time> came = state_->requests.Answer(peer, dependency.id);
  if (!came) return;
  if (peer >= kFirstClient) state_->rows.ClientOf(peer).answered.Add(now - *came);
  const auto path = state_->paths.find(dependency.id);
  if (path != state_->paths.end()) path->second.answered = now;
}

void FactCollector::OnWait(const Runtime& runtime, const Task& task, const Event& event) {
  const Time now = runtime.Now();
  state_->Roll(now);
  OpenWait wait{task, event.weak_from_this(), now};
  wait.on_path =
      task.dependency.kind == Dependency::Kind::kClient && state_->requests.Has(task.dependency.id);
  if (wait.on_path) ++state_->paths[task.dependency.id].waits;
  state_->waits[task.id] = std::move(wait);
  state_->EndGrace(task, event);
}

// The wait is described now, not in OnWait: calls may have been added to a quorum meanwhile.
void FactCollector::OnWaitEnd(const Runtime& runtime, const Task& task, const Event& event,
                              Outcome outcome) {
  const Time now = runtime.Now();
  state_->Roll(now);
  const auto open = state_->waits.find(task.id);
  const WaitDescription wait = event.DescribeWait();
  WaitFacts& row = state_->rows.WaitsOf(task, event, wait);
  row.ended.Add(now - open->second.since);
  const Duration on_path = state_->OnPath(open->second, now);
  if (on_path > Duration::zero()) row.on_path.Add(on_path);
  state_->LeavePath(open->second);
  state_->waits.erase(open);
  if (wait.total <= 1 || wait.peers.empty()) return;
  if (outcome == Outcome::kReady) state_->AddHistory(task, event, wait);
  state_->BeginGrace(task, event, wait, now);
}

Duration FactCollector::State::OnPath(const OpenWait& wait, Time now) const {
  if (!wait.on_path) return Duration::zero();
  const std::uint64_t dependency = wait.task.dependency.id;
  return (requests.Has(dependency) ? now : std::min(now, paths.at(dependency).answered)) -
         wait.since;
}

void FactCollector::State::LeavePath(const OpenWait& wait) {
  if (!wait.on_path) return;
  const auto path = paths.find(wait.task.dependency.id);
  if (--path->second.waits == 0) paths.erase(path);
}

void FactCollector::State::AddHistory(const RuntimeProbe::Task& task, const Event& quorum,
                                      const WaitDescription& wait) {
  if (wait.needed >= wait.total) return;
  QuorumFacts& row = rows.QuorumsOf(task.name, quorum, wait);
  ++row.ready;
  for (const auto& peer : wait.peers) {
    if (peer.vote == Vote::kYes) ++CountedOf(row, peer.id);
  }
}

}  // namespace depfast
