#include "interpreter.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "depfast/timeout_event.h"

namespace depfast::lab1 {
namespace {

// The script is wrong, not the code under test.
class NoSuchEvent : public std::exception {};

// Calls that go wrong on purpose: a method whose replies cannot be decoded, and one nobody serves.
struct AskGarbled : Ask {
  static constexpr MethodId kMethod = 3;
  static constexpr const char* kName = "AskGarbled";
};
struct AskNobody : Ask {
  static constexpr MethodId kMethod = 4;
  static constexpr const char* kName = "AskNobody";
};

Duration ToDuration(std::int64_t ns) { return ns == kForeverNs ? kForever : Duration(ns); }

Result ToResult(Outcome outcome) {
  switch (outcome) {
    case Outcome::kReady:
      return Result::kReady;
    case Outcome::kFailed:
      return Result::kFailed;
    case Outcome::kTimedOut:
      return Result::kTimedOut;
  }
  return Result::kThrew;
}

std::shared_ptr<RpcEvent<Answer>> StartCall(Runtime& runtime, const Step& step) {
  const auto peer = static_cast<PeerId>(step.a);
  const Duration timeout = ToDuration(step.b);
  const auto index = static_cast<std::size_t>(peer);
  const auto answer = index < step.plan.size() ? step.plan[index].answer : PeerPlan::Answer::kYes;
  Ask ask;
  ask.plan = step.plan;
  if (answer == PeerPlan::Answer::kGarbled) {
    return runtime.rpc().Call(peer, AskGarbled{ask}, timeout);
  }
  if (answer == PeerPlan::Answer::kUnknown) {
    return runtime.rpc().Call(peer, AskNobody{ask}, timeout);
  }
  return runtime.rpc().Call(peer, ask, timeout);
}

}  // namespace

Interpreter::Interpreter(Runtime& runtime, RunScript script)
    : runtime_(runtime), script_(std::move(script)), start_(runtime.Now()) {}

ScriptLog Interpreter::Run() {
  std::set<std::int32_t> coroutines;
  for (const Step& step : script_.steps) coroutines.insert(step.coroutine);
  ended_ = std::make_shared<IntEvent>("script", static_cast<std::int64_t>(coroutines.size()));
  for (const std::int32_t coroutine : coroutines) {
    runtime_.Spawn("script", [self = shared_from_this(), coroutine] {
      self->RunCoroutine(coroutine);
      self->ended_->Add();
    });
  }
  ended_->Wait(ToDuration(script_.give_up_ns));
  return log_;
}

void Interpreter::RunCoroutine(std::int32_t coroutine) {
  for (std::uint32_t i = 0; i < script_.steps.size(); ++i) {
    if (script_.steps[i].coroutine == coroutine) Perform(i);
  }
}

void Interpreter::Perform(std::uint32_t number) {
  const Step& step = script_.steps[number];
  const Duration until = start_ + Duration(step.at_ns) - runtime_.Now();
  if (step.at_ns != kAtOnce && until > Duration::zero()) runtime_.Sleep(until);
  LogLine line;
  line.step = number;
  try {
    Do(step, line);
  } catch (const NoSuchEvent&) {
    line.result = Result::kNoSuchEvent;
  } catch (const std::invalid_argument& error) {
    line.result = Result::kInvalidArgument;
    line.text = error.what();
  } catch (const std::out_of_range& error) {
    line.result = Result::kOutOfRange;
    line.text = error.what();
  } catch (const std::exception& error) {
    line.result = Result::kThrew;
    line.text = error.what();
  }
  line.time_ns = (runtime_.Now() - start_).count();
  log_.lines.push_back(std::move(line));
}

void Interpreter::Do(const Step& step, LogLine& line) {
  if (step.op < Op::kBroadcast) {
    Make(step);
  } else {
    Act(step, line);
  }
}

void Interpreter::Make(const Step& step) {
  EventPtr& made = events_[step.event];
  switch (step.op) {
    case Op::kMakeQuorum:
      made = std::make_shared<QuorumEvent>(static_cast<int>(step.a), static_cast<int>(step.b));
      break;
    case Op::kMakeMajority:
      made = QuorumEvent::Majority(static_cast<int>(step.a));
      break;
    case Op::kMakeValue:
      made = std::make_shared<ValueEvent<std::int64_t>>(
          "value", 0, [](const std::int64_t& value) { return value > 0; });
      break;
    case Op::kMakePromise:
      made = std::make_shared<Promise>();
      break;
    case Op::kMakeTimer:
      made = TimeoutEvent::After(Duration(step.a));
      break;
    case Op::kMakeCall:
      made = StartCall(runtime_, step);
      break;
    case Op::kMakeAnd:
      made = std::make_shared<AndEvent>();
      break;
    case Op::kMakeOr:
      made = std::make_shared<OrEvent>();
      break;
    default:
      break;
  }
}

void Interpreter::Act(const Step& step, LogLine& line) {
  const int voter = static_cast<int>(step.a);
  switch (step.op) {
    case Op::kBroadcast:
      return Broadcast(step);
    case Op::kAdd:
      return Add(step);
    case Op::kVoteYes:
      return Get<QuorumEvent>(step.event)->VoteYes(voter);
    case Op::kVoteNo:
      return Get<QuorumEvent>(step.event)->VoteNo(voter);
    case Op::kVoteLost:
      return Get<QuorumEvent>(step.event)->VoteLost(voter);
    case Op::kSet:
      return Get<ValueEvent<std::int64_t>>(step.event)->Set(step.a);
    case Op::kKeep:
      return Get<Promise>(step.event)->Keep();
    case Op::kBreak:
      return Get<Promise>(step.event)->Break();
    case Op::kRelease:
      if (!broadcasts_.contains(step.event)) throw NoSuchEvent();
      return broadcasts_[step.event]->Release();
    case Op::kWait:
      line.result = ToResult(Get<Event>(step.event)->Wait(ToDuration(step.a)));
      return;
    case Op::kLook:
      return LookAt(step, line);
    case Op::kAccepts:
      if (const auto found = predicates_.find(step.event); found != predicates_.end()) {
        line.value = found->second->calls;
      }
      return;
    case Op::kDrop:
      return Drop(step, line);
    case Op::kIsFreed:
      if (!dropped_.contains(step.event)) throw NoSuchEvent();
      line.value = dropped_[step.event].expired() ? 1 : 0;
      return;
    default:
      return;
  }
}

template <typename T>
std::shared_ptr<T> Interpreter::Get(std::int32_t event) {
  const auto found = events_.find(event);
  if (found == events_.end()) throw NoSuchEvent();
  const auto typed = std::dynamic_pointer_cast<T>(found->second);
  if (typed == nullptr) throw NoSuchEvent();
  return typed;
}

QuorumEvent::Accept Interpreter::MakePredicate(std::int32_t child, Accept answer) {
  if (answer == Accept::kNone) return nullptr;
  auto& predicate = predicates_[child];
  predicate = std::make_shared<Predicate>();
  predicate->answer = answer;
  const auto found = events_.find(child);
  if (found != events_.end()) predicate->child = found->second;
  return [predicate] {
    ++predicate->calls;
    if (predicate->answer != Accept::kReply) return predicate->answer == Accept::kTrue;
    const auto call = std::dynamic_pointer_cast<RpcEvent<Answer>>(predicate->child.lock());
    return call != nullptr && call->IsReady() && call->reply().yes;
  };
}

void Interpreter::Add(const Step& step) {
  const EventPtr child = step.other == kNoEvent ? nullptr : Get<Event>(step.other);
  const EventPtr parent = Get<Event>(step.event);
  if (const auto compound = std::dynamic_pointer_cast<CompoundEvent>(parent)) {
    if (child == nullptr) throw NoSuchEvent();
    compound->Add(child);
  } else {
    const auto accept = MakePredicate(step.other, static_cast<Accept>(step.a));
    Get<QuorumEvent>(step.event)->Add(child, accept);
  }
}

void Interpreter::Broadcast(const Step& step) {
  const auto quorum = Get<QuorumEvent>(step.other);
  Ask ask;
  ask.plan = step.plan;
  auto broadcast = std::make_unique<depfast::Broadcast<Ask>>(runtime_.rpc(), runtime_.peers(), ask);
  const auto calls = broadcast->calls();
  broadcasts_[step.event] = std::move(broadcast);
  for (const auto& call : calls) {
    // Weakly: a predicate that held its call would keep it as long as the quorum lives.
    quorum->Add(call, [call = std::weak_ptr(call)] {
      const auto alive = call.lock();
      return alive != nullptr && alive->IsReady() && alive->reply().yes;
    });
  }
}

void Interpreter::Drop(const Step& step, LogLine& line) {
  if (!events_.contains(step.event)) throw NoSuchEvent();
  dropped_[step.event] = events_[step.event];
  events_.erase(step.event);
  line.value = dropped_[step.event].expired() ? 1 : 0;
}

void Interpreter::LookAt(const Step& step, LogLine& line) {
  const auto event = Get<Event>(step.event);
  Look look;
  look.is_ready = event->IsReady();
  look.is_failed = event->IsFailed();
  const WaitDescription wait = event->DescribeWait();
  look.wait_needed = wait.needed;
  look.wait_total = wait.total;
  look.peers = DescribePeers(wait);
  look.label = event->Label();
  if (const auto quorum = std::dynamic_pointer_cast<QuorumEvent>(event)) {
    look.ready = quorum->Ready();
    look.fail = quorum->Fail();
    look.timed_out = quorum->TimedOut();
    look.yes = quorum->yes();
    look.no = quorum->no();
    look.lost = quorum->lost();
    look.needed = quorum->needed();
    look.total = quorum->total();
  }
  line.look.push_back(std::move(look));
}

}  // namespace depfast::lab1
