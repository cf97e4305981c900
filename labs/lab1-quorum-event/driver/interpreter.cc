#include "interpreter.h"

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "depfast/broadcast.h"
#include "depfast/compound_event.h"
#include "depfast/timeout_event.h"
#include "depfast/value_event.h"
#include "depfast/wait_description.h"
#include "quorum_event.h"

namespace depfast::lab1 {

// A submitted header with another constant of this name does not compile.
using depfast::kForever;

namespace {

// The script is wrong, not the code under test.
class NoSuchEvent : public std::exception {};

// A method that no replica serves.
struct AskNobody : Ask {
  static constexpr MethodId kMethod = 4;
  static constexpr const char* kName = "AskNobody";
};

// Decided once, by the script.
class Promise : public Event {
 public:
  void Decide(Outcome outcome) {
    if (IsDecided()) return;
    outcome_ = outcome;
    Test();
  }

  bool IsReady() const override { return outcome_ == Outcome::kReady; }
  bool IsFailed() const override { return outcome_ == Outcome::kFailed; }
  const char* Label() const override { return "promise"; }
  std::string Describe() const override { return "Promise"; }

 private:
  Outcome outcome_ = Outcome::kTimedOut;  // undecided
};

using Value = ValueEvent<std::int64_t>;

// The accept predicate of one child. It counts its calls in `calls`, unless that is null.
struct Predicate {
  bool operator()() const {
    if (calls != nullptr) ++*calls;
    if (answer == Accept::kTrue || answer == Accept::kFalse) return answer == Accept::kTrue;
    const auto call = std::dynamic_pointer_cast<RpcEvent<Answer>>(child.lock());
    return call != nullptr && call->IsReady() && call->reply().yes == (answer == Accept::kReply);
  }

  Accept answer = Accept::kNone;
  std::weak_ptr<Event> child;  // weak: the quorum holds the predicate until its own end
  std::shared_ptr<std::int64_t> calls = nullptr;
};

Duration ToDuration(std::int64_t ns) { return ns == kForeverNs ? kForever : Duration(ns); }

Result ToResult(Outcome outcome) {
  if (outcome == Outcome::kReady) return Result::kReady;
  return outcome == Outcome::kFailed ? Result::kFailed : Result::kTimedOut;
}

EventPtr StartCall(Rpc& rpc, const Step& step) {
  const auto peer = static_cast<PeerId>(step.a);
  const Duration timeout = ToDuration(step.b);
  const Ask ask{step.plan};
  switch (ask.PlanOf(peer).answer) {
    case PeerPlan::Answer::kGarbled:
      return rpc.Call(peer, AskGarbled<Answer>{ask}, timeout);
    case PeerPlan::Answer::kUnknown:
      return rpc.Call(peer, AskNobody{ask}, timeout);
    default:
      return rpc.Call(peer, ask, timeout);
  }
}

Look LookAt(const Event& event) {
  Look look;
  look.is_ready = event.IsReady();
  look.is_failed = event.IsFailed();
  const WaitDescription wait = event.DescribeWait();
  look.wait_needed = wait.needed;
  look.wait_total = wait.total;
  look.peers = depfast::DescribePeers(wait);
  look.label = event.Label();
  if (const auto* const quorum = dynamic_cast<const QuorumEvent*>(&event)) {
    look.ready = quorum->Ready();
    look.fail = quorum->Fail();
    look.timed_out = quorum->TimedOut();
    look.yes = quorum->yes();
    look.no = quorum->no();
    look.lost = quorum->lost();
    look.needed = quorum->needed();
    look.total = quorum->total();
  }
  return look;
}

// Held in a shared_ptr: its coroutines keep it alive, also after the script has been given up.
class Interpreter : public std::enable_shared_from_this<Interpreter> {
 public:
  Interpreter(Runtime& runtime, RunScript script)
      : runtime_(runtime), script_(std::move(script)), start_(runtime.Now()) {}

  ScriptLog Run();

 private:
  void Perform(std::uint32_t number);
  // These may throw any exception of the student's code.
  void Do(const Step& step, LogLine& line);
  EventPtr Make(const Step& step);
  void Add(const Step& step);
  void Broadcast(const Step& step);
  Outcome Wait(const Step& step);

  // The entry of that key. Throws NoSuchEvent if there is none.
  template <typename Key, typename T>
  static T& At(std::map<Key, T>& entries, const std::type_identity_t<Key>& key) {
    const auto found = entries.find(key);
    if (found == entries.end()) throw NoSuchEvent();
    return found->second;
  }

  // The event of that number. Throws NoSuchEvent if there is none, or it is no T.
  template <typename T = Event>
  std::shared_ptr<T> Get(std::int32_t event) {
    const auto typed = std::dynamic_pointer_cast<T>(At(events_, event));
    if (typed == nullptr) throw NoSuchEvent();
    return typed;
  }

  Runtime& runtime_;
  const RunScript script_;
  const Time start_;
  std::map<std::int32_t, EventPtr> events_;
  std::map<std::int32_t, std::weak_ptr<Event>> dropped_;
  // The calls of accept, by quorum and child: a child of two quorums has two predicates.
  std::map<std::pair<std::int32_t, std::int32_t>, std::shared_ptr<std::int64_t>> accepts_;
  std::map<std::int32_t, std::unique_ptr<depfast::Broadcast<Ask>>> broadcasts_;
  ScriptLog log_;
};

ScriptLog Interpreter::Run() {
  std::map<std::int32_t, std::vector<std::uint32_t>> coroutines;  // the steps of each
  for (std::uint32_t i = 0; i < script_.steps.size(); ++i) {
    coroutines[script_.steps[i].coroutine].push_back(i);
  }
  const auto ended =
      std::make_shared<IntEvent>("script", static_cast<std::int64_t>(coroutines.size()));
  for (auto& [coroutine, steps] : coroutines) {
    runtime_.Spawn("script", [self = shared_from_this(), ended, steps = std::move(steps)] {
      for (const std::uint32_t step : steps) self->Perform(step);
      ended->Add();
    });
  }
  ended->Wait(ToDuration(script_.give_up_ns));
  return log_;
}

void Interpreter::Perform(std::uint32_t number) {
  const Step& step = script_.steps[number];
  const Duration until = start_ + Duration(step.at_ns) - runtime_.Now();
  if (step.at_ns != kAtOnce && until > Duration::zero()) runtime_.Sleep(until);
  LogLine line;
  line.step = number;
  const auto fail = [&line](Result result, const std::exception& error) {
    line.result = result;
    line.text = error.what();
  };
  try {
    Do(step, line);
  } catch (const NoSuchEvent&) {
    line.result = Result::kNoSuchEvent;
  } catch (const std::invalid_argument& error) {
    fail(Result::kInvalidArgument, error);
  } catch (const std::out_of_range& error) {
    fail(Result::kOutOfRange, error);
  } catch (const std::exception& error) {
    fail(Result::kThrew, error);
  }
  line.time_ns = (runtime_.Now() - start_).count();
  log_.lines.push_back(std::move(line));
}

EventPtr Interpreter::Make(const Step& step) {
  const int a = static_cast<int>(step.a);
  switch (step.op) {
    case Op::kMakeQuorum:
      return std::make_shared<QuorumEvent>(a, static_cast<int>(step.b));
    case Op::kMakeMajority:
      return QuorumEvent::Majority(a);
    case Op::kMakeValue:
      return std::make_shared<Value>("value", 0, [](const std::int64_t& now) { return now > 0; });
    case Op::kMakePromise:
      return std::make_shared<Promise>();
    case Op::kMakeTimer:
      return TimeoutEvent::After(Duration(step.a));
    case Op::kMakeCall:
      return StartCall(runtime_.rpc(), step);
    case Op::kMakeAnd:
      return std::make_shared<AndEvent>();
    default:
      return std::make_shared<OrEvent>();
  }
}

void Interpreter::Do(const Step& step, LogLine& line) {
  const std::int32_t event = step.event;
  const int voter = static_cast<int>(step.a);
  switch (step.op) {
    case Op::kBroadcast:
      return Broadcast(step);
    case Op::kAdd:
      return Add(step);
    case Op::kVoteYes:
      return Get<QuorumEvent>(event)->VoteYes(voter);
    case Op::kVoteNo:
      return Get<QuorumEvent>(event)->VoteNo(voter);
    case Op::kVoteLost:
      return Get<QuorumEvent>(event)->VoteLost(voter);
    case Op::kSet:
      return Get<Value>(event)->Set(step.a);
    case Op::kKeep:
      return Get<Promise>(event)->Decide(Outcome::kReady);
    case Op::kBreak:
      return Get<Promise>(event)->Decide(Outcome::kFailed);
    case Op::kRelease:
      return At(broadcasts_, event)->Release();
    case Op::kWait:
      line.result = ToResult(Wait(step));
      return;
    case Op::kLook:
      return line.look.push_back(LookAt(*Get(event)));
    case Op::kAccepts:
      line.value = *At(accepts_, {event, step.other});
      return;
    case Op::kDrop:
      dropped_[event] = At(events_, event);
      events_.erase(event);
      [[fallthrough]];
    case Op::kIsFreed:
      line.value = At(dropped_, event).expired() ? 1 : 0;
      return;
    case Op::kNote:
      return;
    default:
      events_[event] = Make(step);
  }
}

void Interpreter::Add(const Step& step) {
  const EventPtr child = step.other == kNoEvent ? nullptr : Get(step.other);
  if (const auto compound = std::dynamic_pointer_cast<CompoundEvent>(Get(step.event))) {
    if (child == nullptr) throw NoSuchEvent();
    return compound->Add(child);
  }
  const auto quorum = Get<QuorumEvent>(step.event);
  const auto accept = static_cast<Accept>(step.a);
  if (accept == Accept::kNone) return quorum->Add(child);
  auto& calls = accepts_[{step.event, step.other}];
  if (calls == nullptr) calls = std::make_shared<std::int64_t>(0);
  quorum->Add(child, Predicate{accept, child, calls});
}

void Interpreter::Broadcast(const Step& step) {
  const auto quorum = Get<QuorumEvent>(step.other);
  auto broadcast =
      std::make_unique<depfast::Broadcast<Ask>>(runtime_.rpc(), runtime_.peers(), Ask{step.plan});
  const auto calls = broadcast->calls();
  broadcasts_[step.event] = std::move(broadcast);
  for (const auto& call : calls) quorum->Add(call, Predicate{Accept::kReply, call});
}

Outcome Interpreter::Wait(const Step& step) {
  Event& event = *Get(step.event);  // no reference: the script may drop its own during the wait
  return event.Wait(ToDuration(step.a));
}

}  // namespace

ScriptLog Perform(Runtime& runtime, const RunScript& script) {
  return std::make_shared<Interpreter>(runtime, script)->Run();
}

}  // namespace depfast::lab1
