#include "script.h"

#include <algorithm>

namespace depfast::lab1 {
namespace {

constexpr std::int32_t kSetup = 0;

std::int64_t Ns(Duration duration) { return duration == kForever ? kForeverNs : duration.count(); }

// A plan in which `peer` does as told, whatever the others would do.
std::vector<PeerPlan> PlanFor(int peer, PeerPlan plan) {
  std::vector<PeerPlan> plans(static_cast<std::size_t>(peer) + 1);
  plans.back() = plan;
  return plans;
}

std::string DescribePlan(const PeerPlan& plan) {
  static constexpr const char* kAnswers[] = {
      "yes", "no", "an error", "nothing", "garbled bytes", "unknown method"};
  return std::string(kAnswers[static_cast<int>(plan.answer)]) + " after " +
         Milliseconds(plan.delay_ns);
}

}  // namespace

std::string Milliseconds(std::int64_t ns) {
  if (ns == kForeverNs) return "for ever";
  constexpr std::int64_t kNsPerMs = 1'000'000;
  std::string text = std::to_string(ns / kNsPerMs);
  if (ns % kNsPerMs != 0) {
    std::string fraction = std::to_string(kNsPerMs + ns % kNsPerMs).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text += "." + fraction;
  }
  return text + " ms";
}

// ---- Script ----

std::int32_t Script::CoroutineNumber(const std::string& name) {
  const auto found = std::find(coroutines_.begin(), coroutines_.end(), name);
  if (found == coroutines_.end()) {
    coroutines_.push_back(name);
    return static_cast<std::int32_t>(coroutines_.size()) - 1;
  }
  return static_cast<std::int32_t>(found - coroutines_.begin());
}

Script::Coroutine Script::In(const std::string& name) {
  return Coroutine(*this, CoroutineNumber(name));
}

std::size_t Script::Append(Step step) {
  steps_.push_back(std::move(step));
  expectations_.emplace_back();
  return steps_.size() - 1;
}

Id Script::Quorum(int needed, int total) {
  const Id id = Reserve();
  Coroutine(*this, kSetup).Makes(Op::kMakeQuorum, id, needed, total);
  return id;
}

Id Script::Majority(int total) {
  const Id id = Reserve();
  Coroutine(*this, kSetup).Makes(Op::kMakeMajority, id, total);
  return id;
}

Id Script::Value() {
  const Id id = Reserve();
  Coroutine(*this, kSetup).Makes(Op::kMakeValue, id);
  return id;
}

Id Script::Promise() {
  const Id id = Reserve();
  Coroutine(*this, kSetup).Makes(Op::kMakePromise, id);
  return id;
}

Id Script::Timer(Duration delay) {
  const Id id = Reserve();
  Coroutine(*this, kSetup).Makes(Op::kMakeTimer, id, delay.count());
  return id;
}

Id Script::Call(int peer, PeerPlan plan, Duration timeout) {
  const Id id = Reserve();
  Coroutine(*this, kSetup).Calls(id, peer, plan, timeout);
  return id;
}

Id Script::And() {
  const Id id = Reserve();
  Coroutine(*this, kSetup).Makes(Op::kMakeAnd, id);
  return id;
}

Id Script::Or() {
  const Id id = Reserve();
  Coroutine(*this, kSetup).Makes(Op::kMakeOr, id);
  return id;
}

std::string Script::NameOf(Id event) const {
  std::string kind = "event";
  for (const Step& step : steps_) {
    if (step.event != event || step.op > Op::kBroadcast) continue;
    static constexpr const char* kKinds[] = {"quorum", "quorum", "value", "promise",  "timer",
                                             "call",   "and",    "or",    "broadcast"};
    kind = kKinds[static_cast<int>(step.op)];
  }
  constexpr Id kLetters = 26;
  const std::string round = event < kLetters ? "" : std::to_string(event / kLetters + 1);
  return kind + " " + static_cast<char>('A' + event % kLetters) + round;
}

std::string Script::Describe(std::size_t number) const {
  const Step& step = steps_[number];
  std::string out = coroutines_[static_cast<std::size_t>(step.coroutine)] + ": ";
  if (step.at_ns != kAtOnce) out += "at " + Milliseconds(step.at_ns) + ", ";
  return out + DescribeOperation(step);
}

std::string Script::DescribeOperation(const Step& step) const {
  const std::string event = NameOf(step.event);
  const std::string voter = "voter " + std::to_string(step.a) + " of " + event;
  switch (step.op) {
    case Op::kMakeQuorum:
      return "make " + event + ", QuorumEvent(" + std::to_string(step.a) + ", " +
             std::to_string(step.b) + ")";
    case Op::kMakeMajority:
      return "make " + event + ", QuorumEvent::Majority(" + std::to_string(step.a) + ")";
    case Op::kMakeTimer:
      return "make " + event + ", ready after " + Milliseconds(step.a);
    case Op::kMakeValue:
    case Op::kMakePromise:
    case Op::kMakeAnd:
    case Op::kMakeOr:
      return "make " + event;
    case Op::kMakeCall:
      return "make " + event + " to replica " + std::to_string(step.a) + ", which answers " +
             DescribePlan(step.plan.back()) +
             (step.b == kForeverNs ? "" : "; timeout " + Milliseconds(step.b));
    case Op::kBroadcast: {
      std::string out = event + " to all peers, their calls are children of " + NameOf(step.other);
      for (std::size_t peer = 1; peer < step.plan.size(); ++peer) {
        out +=
            (peer == 1 ? " (" : ", ") + std::to_string(peer) + ": " + DescribePlan(step.plan[peer]);
      }
      return out + ")";
    }
    case Op::kAdd: {
      static constexpr const char* kAccepts[] = {
          "", ", accept returns true", ", accept returns false", ", accept: the reply says yes"};
      return "add " + (step.other == kNoEvent ? "a null child" : NameOf(step.other)) + " to " +
             event + kAccepts[step.a];
    }
    case Op::kVoteYes:
      return voter + " says yes";
    case Op::kVoteNo:
      return voter + " says no";
    case Op::kVoteLost:
      return voter + " is lost";
    case Op::kSet:
      return "set " + event + " to " + std::to_string(step.a);
    case Op::kKeep:
      return "make " + event + " ready";
    case Op::kBreak:
      return "let " + event + " fail";
    case Op::kRelease:
      return "release " + event;
    case Op::kWait:
      return "wait for " + event +
             (step.a == kForeverNs ? "" : " for at most " + Milliseconds(step.a));
    case Op::kLook:
      return "look at " + event;
    case Op::kAccepts:
      return "count the calls of accept for " + event;
    case Op::kDrop:
      return "drop the last reference to " + event;
    case Op::kIsFreed:
      return "look whether " + event + " has been destroyed";
    case Op::kNote:
      return "come here";
  }
  return "?";
}

// ---- Coroutine ----

using Coroutine = Script::Coroutine;

Coroutine& Coroutine::At(Duration when) {
  at_ns_ = when.count();
  return *this;
}

Coroutine& Coroutine::Append(Op op, Id event, Id other, std::int64_t a, std::int64_t b) {
  step_ = script_.Append({number_, std::exchange(at_ns_, kAtOnce), op, event, other, a, b, {}});
  return *this;
}

Coroutine& Coroutine::Makes(Op op, Id event, std::int64_t a, std::int64_t b) {
  return Append(op, event, kNoEvent, a, b);
}

Coroutine& Coroutine::Calls(Id event, int peer, PeerPlan plan, Duration timeout) {
  Append(Op::kMakeCall, event, kNoEvent, peer, Ns(timeout));
  script_.steps_[step_].plan = PlanFor(peer, plan);
  return *this;
}

Coroutine& Coroutine::Broadcasts(Id broadcast, Id quorum, std::vector<PeerPlan> plan) {
  Append(Op::kBroadcast, broadcast, quorum);
  script_.steps_[step_].plan = std::move(plan);
  return *this;
}

Coroutine& Coroutine::Adds(Id parent, Id child, Accept accept) {
  return Append(Op::kAdd, parent, child, static_cast<std::int64_t>(accept));
}

Coroutine& Coroutine::Yes(Id quorum, int voter) {
  return Append(Op::kVoteYes, quorum, kNoEvent, voter);
}
Coroutine& Coroutine::No(Id quorum, int voter) {
  return Append(Op::kVoteNo, quorum, kNoEvent, voter);
}
Coroutine& Coroutine::Loses(Id quorum, int voter) {
  return Append(Op::kVoteLost, quorum, kNoEvent, voter);
}
Coroutine& Coroutine::Votes(Id quorum, int voter, Vote vote) {
  if (vote == Vote::kYes) return Yes(quorum, voter);
  return vote == Vote::kNo ? No(quorum, voter) : Loses(quorum, voter);
}
Coroutine& Coroutine::Sets(Id value, std::int64_t to) {
  return Append(Op::kSet, value, kNoEvent, to);
}
Coroutine& Coroutine::Keeps(Id promise) { return Append(Op::kKeep, promise); }
Coroutine& Coroutine::Breaks(Id promise) { return Append(Op::kBreak, promise); }
Coroutine& Coroutine::Releases(Id broadcast) { return Append(Op::kRelease, broadcast); }
Coroutine& Coroutine::Notes() { return Append(Op::kNote, kNoEvent); }

Coroutine& Coroutine::WaitsFor(Id event, Duration timeout) {
  return Append(Op::kWait, event, kNoEvent, Ns(timeout));
}

Coroutine& Coroutine::Sees(Id event, Expected expected) {
  Append(Op::kLook, event);
  expectation().look = std::move(expected);
  return *this;
}

Coroutine& Coroutine::SeesAccepts(Id child, int calls) {
  Append(Op::kAccepts, child);
  expectation().value = calls;
  return *this;
}

Coroutine& Coroutine::Drops(Id event) { return Append(Op::kDrop, event); }

Coroutine& Coroutine::SeesFreed(Id event) {
  Append(Op::kIsFreed, event);
  expectation().value = 1;
  return *this;
}

Coroutine& Coroutine::Until(Result result, Duration from, Duration to) {
  expectation().result = result;
  expectation().from = from;
  expectation().to = to;
  return *this;
}

Coroutine& Coroutine::Throws(Result error) {
  expectation().result = error;
  return *this;
}

}  // namespace depfast::lab1
