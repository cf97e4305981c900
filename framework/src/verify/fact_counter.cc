#include "verify/fact_counter.h"

#include <algorithm>
#include <utility>

#include "core/scheduler.h"
#include "depfast/runtime.h"

namespace depfast {
namespace {

// A request without an answer for this number of windows is forgotten: it never gets one.
constexpr int kForgetAfterWindows = 12;

// The number of a peer's votes that counted.
std::uint64_t& CountedOf(QuorumFacts& quorums, PeerId peer) {
  auto& voters = quorums.voters;
  auto voter = std::lower_bound(voters.begin(), voters.end(), peer,
                                [](const QuorumVoter& each, PeerId id) { return each.peer < id; });
  if (voter == voters.end() || voter->peer != peer) voter = voters.insert(voter, {peer, 0});
  return voter->counted;
}

std::uint32_t SlotOf(Time now) {
  const auto slot = now % kVerificationWindow / (kVerificationWindow / kPresenceSlots);
  return static_cast<std::uint32_t>(slot);
}

}  // namespace

// ---- windows ----

WindowFacts FactCounter::FactsUntil(const Runtime& runtime, Time end) const {
  WindowRows all = rows_;
  for (const auto& [key, call] : calls_) {
    if (!IsLeftBehind(call)) continue;
    OpenCall copy = call;
    LeftBehind(all, copy, key.peer);
  }
  runtime.scheduler().ForEachWait([&](const RuntimeProbe::Task& task, const Event& event) {
    if (task.waits_since >= end) return;
    WaitFacts& row = all.WaitsOf(task, event.Label(), event.DescribeWait());
    row.open.Add(end - task.waits_since);
    row.open_on_path |= paths_.IsOnPath(task.id, task.dependency.id);
  });
  WindowFacts facts;
  facts.replica = runtime.self();
  facts.replicas = runtime.replicas();
  facts.begin_ns = window_begin_.count();
  facts.end_ns = end.count();
  all.AppendTo(facts);
  return facts;
}

void FactCounter::BeginWindow(Time begin) {
  for (auto& [key, call] : calls_) {
    if (IsLeftBehind(call)) call.counted = true;
  }
  window_begin_ = begin;
  rows_ = {};
  paths_.ForgetBefore(begin - kForgetAfterWindows * kVerificationWindow);
}

// ---- calls ----

void FactCounter::CountOne(const CallRecord& call) {
  WindowRows::Calls& row = rows_.CallsOf(call.method, call.key.peer);
  switch (call.work) {
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
  row.entries.Sent(call.carried);
  calls_[call.key] = {latest_, call.task};
  if (call.task != 0) calls_of_task_[call.task].push_back(call.key);
}

void FactCounter::CountOne(const CallEndRecord& end) {
  const PeerId peer = end.key.peer;
  WindowRows::Calls& row = rows_.CallsOf(end.method, peer);
  const auto open = calls_.find(end.key);
  const bool is_open = open != calls_.end();
  if (end.error == RpcError::kReleased) {
    ++row.facts.released;
  } else if (end.answered && is_open) {
    const Duration latency = latest_ - open->second.sent;
    ++row.facts.answered;
    row.facts.latency.Add(latency);
    rows_.AddAnswer(peer, SlotOf(latest_), latency, !end.carried.empty());
  } else {
    ++row.facts.failed;
  }
  if (!is_open) return;
  const bool given_up = end.error == RpcError::kReleased || end.error == RpcError::kTimedOut;
  if (given_up && open->second.sent >= window_begin_) row.entries.GivenUp(end.carried);
  if (IsLeftBehind(open->second)) LeftBehind(rows_, open->second, peer);
  Detach(open->second.task, end.key);
  calls_.erase(open);
}

void FactCounter::LeftBehind(WindowRows& to, OpenCall& call, PeerId peer) {
  if (std::exchange(call.counted, true)) return;
  WindowRows::FanOuts& row = to.FanOutsOf(call.coroutine);
  row.tasks.insert(call.task);
  row.peers.insert(peer);
}

void FactCounter::Detach(std::uint64_t task, const CallKey& call) {
  const auto of_task = calls_of_task_.find(task);
  if (of_task == calls_of_task_.end()) return;
  std::erase(of_task->second, call);
}

// The calls live on: the grace of Finalize outlives the coroutine.
void FactCounter::CountOne(const TaskEndRecord& end) {
  calls_of_task_.erase(end.task);
  gave_up_.erase(end.task);
}

void FactCounter::BeginGrace(const WaitEndRecord& end) {
  const auto of_task = calls_of_task_.find(end.task.id);
  if (of_task == calls_of_task_.end()) return;
  for (const CallKey& key : of_task->second) {
    OpenCall& call = calls_.at(key);
    const bool is_awaited = std::any_of(end.wait.peers.begin(), end.wait.peers.end(),
                                        [&](const auto& peer) { return peer.id == key.peer; });
    if (!is_awaited || call.leave_by != kNever) continue;
    call.leave_by = latest_ + kFinalizedWithin;
    call.coroutine = end.task.name;
    call.quorum = end.event;
  }
  if (end.outcome != Outcome::kReady) gave_up_.insert(end.task.id);
}

// The task waits for the same quorum again: its earlier wait has timed out.
void FactCounter::EndGrace(const WaitRecord& wait) {
  if (!gave_up_.contains(wait.task.id)) return;
  const auto of_task = calls_of_task_.find(wait.task.id);
  if (of_task == calls_of_task_.end()) return;
  for (const CallKey& key : of_task->second) {
    OpenCall& call = calls_.at(key);
    if (call.quorum == wait.event && !call.counted) call.leave_by = kNever;
  }
}

// ---- waits ----

void FactCounter::CountOne(const RequestRecord& request) {
  paths_.Add(request.peer, request.dependency, latest_);
}

void FactCounter::CountOne(const AnswerRecord& answer) {
  const Time came = paths_.Answer(answer.peer, answer.dependency, latest_);
  if (came != kNever && answer.peer >= kFirstClient) {
    rows_.ClientOf(answer.peer).answered.Add(latest_ - came);
  }
}

void FactCounter::CountOne(const WaitRecord& wait) {
  if (wait.task.dependency.kind == Dependency::Kind::kClient) {
    paths_.BeginWait(wait.task.id, wait.task.dependency.id);
  }
  EndGrace(wait);
}

void FactCounter::CountOne(const WaitEndRecord& end) {
  const RuntimeProbe::Task& task = end.task;
  WaitFacts& row = rows_.WaitsOf(task, end.label, end.wait);
  row.ended.Add(latest_ - task.waits_since);
  const Duration on_path = paths_.EndWait(task.id, task.dependency.id, task.waits_since, latest_);
  if (on_path > Duration::zero()) row.on_path.Add(on_path);
  if (end.wait.total <= 1 || end.wait.peers.empty()) return;
  if (end.outcome == Outcome::kReady) AddHistory(end);
  BeginGrace(end);
}

void FactCounter::AddHistory(const WaitEndRecord& end) {
  if (end.wait.needed >= end.wait.total) return;
  QuorumFacts& row = rows_.QuorumsOf(end.task.name, end.label, end.wait);
  ++row.ready;
  for (const auto& peer : end.wait.peers) {
    if (peer.vote == Vote::kYes) ++CountedOf(row, peer.id);
  }
}

}  // namespace depfast
