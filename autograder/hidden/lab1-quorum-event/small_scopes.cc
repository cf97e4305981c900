#include "small_scopes.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "quorum_model.h"
#include "script_runner.h"

namespace depfast::lab1 {
namespace {

constexpr Duration kMoment = 1ms;
constexpr Duration kLookDelay = 750us;    // after the last operation, and after a wait of kShort
constexpr Duration kEnd = 2 * kLong;      // every wait has ended
constexpr std::size_t kScriptsMax = 250;  // performed together: their events are independent

struct Operation {
  enum class Kind { kVote, kAdd, kDecide, kWait };
  Kind kind = Kind::kVote;
  int subject = 0;  // the voter of a vote, the promise of an Add and of a decision
  Vote vote = Vote::kYes;
  Accept accept = Accept::kNone;
  bool ready = true;  // a decision's: the promise is kept
  Duration timeout{0};
};

struct Case {
  int needed = 1;
  int total = 1;
  std::vector<Operation> operations;
};

// The quorum, its children and the promises that a script has touched.
class ScopeModel {
 public:
  struct Promise {
    std::optional<bool> ready;  // nothing: undecided
    bool is_child = false;
    bool has_accept = false;
    int accepts = 0;  // calls of accept
  };

  ScopeModel(int needed, int total) : total_(total), quorum_(needed, total) {}

  // At the moment `now`. Returns whether the operation is legal; a refused one changes nothing.
  bool Apply(const Operation& operation, Duration now) {
    const bool legal = Perform(operation);
    if (quorum_.decided() && decision_.at == kForever) decision_ = {now, quorum_.ready()};
    return legal;
  }

  // Whether the vote of some voter depends on this promise.
  bool Awaits(int promise) const {
    for (int voter = 0; voter < static_cast<int>(children_.size()); ++voter) {
      if (ChildOf(voter).promise == promise && !quorum_.has_voted(voter)) return true;
    }
    return false;
  }

  bool is_full() const { return static_cast<int>(children_.size()) == total_; }
  const std::vector<Promise>& promises() const { return promises_; }
  const QuorumModel& quorum() const { return quorum_; }
  const Decision& decision() const { return decision_; }

 private:
  struct Child {
    int promise;
    Accept accept;
  };

  bool Perform(const Operation& operation) {
    switch (operation.kind) {
      case Operation::Kind::kVote:
        quorum_.Cast(operation.subject, operation.vote);
        return true;
      case Operation::Kind::kAdd:
        return Add({operation.subject, operation.accept});
      case Operation::Kind::kDecide:
        At(operation.subject).ready = operation.ready;
        for (int voter = 0; voter < static_cast<int>(children_.size()); ++voter) {
          if (ChildOf(voter).promise == operation.subject) VoteOf(voter);
        }
        return true;
      case Operation::Kind::kWait:
        return true;
    }
    return false;
  }

  bool Add(const Child& child) {
    Promise& promise = At(child.promise);
    promise.has_accept |= child.accept != Accept::kNone;
    if (is_full()) return false;
    promise.is_child = true;
    children_.push_back(child);
    if (promise.ready) VoteOf(static_cast<int>(children_.size()) - 1);
    return true;
  }

  // The child of this voter is decided.
  void VoteOf(int voter) {
    if (quorum_.has_voted(voter)) return;
    const Child& child = ChildOf(voter);
    Promise& promise = At(child.promise);
    if (!*promise.ready) return quorum_.Cast(voter, Vote::kLost);
    if (child.accept != Accept::kNone) ++promise.accepts;
    quorum_.Cast(voter, child.accept == Accept::kFalse ? Vote::kNo : Vote::kYes);
  }

  Promise& At(int promise) {
    const auto index = static_cast<std::size_t>(promise);
    if (index >= promises_.size()) promises_.resize(index + 1);
    return promises_[index];
  }
  const Child& ChildOf(int voter) const { return children_[static_cast<std::size_t>(voter)]; }

  int total_;
  QuorumModel quorum_;
  std::vector<Child> children_;  // of voters 0, 1, ...
  std::vector<Promise> promises_;
  Decision decision_;
};

ScopeModel ModelAfter(const Case& tried) {
  ScopeModel model(tried.needed, tried.total);
  Duration now{0};
  for (const Operation& operation : tried.operations) model.Apply(operation, now += kMoment);
  return model;
}

// Adds the steps and expectations of one case to a script.
class CaseWriter {
 public:
  CaseWriter(const Case& tried, Script& script)
      : case_(tried),
        script_(script),
        end_(ModelAfter(tried)),
        quorum_(script.Quorum(tried.needed, tried.total)),
        actor_(script.In("actor of " + std::to_string(quorum_))) {
    for (std::size_t i = 0; i < end_.promises().size(); ++i) promises_.push_back(script.Promise());
  }

  void Write() {
    ScopeModel model(case_.needed, case_.total);
    for (const Operation& operation : case_.operations) {
      now_ += kMoment;
      Act(operation, model.Apply(operation, now_));
    }
    LookAtTheEnd();
    LetGo();
  }

 private:
  void Act(const Operation& operation, bool legal) {
    switch (operation.kind) {
      case Operation::Kind::kVote:
        actor_.At(now_).Votes(quorum_, operation.subject, operation.vote);
        return;
      case Operation::Kind::kAdd:
        actor_.At(now_).Adds(quorum_, PromiseOf(operation), operation.accept);
        if (!legal) actor_.Throws(Result::kOutOfRange);
        return;
      case Operation::Kind::kDecide:
        actor_.At(now_);
        operation.ready ? actor_.Keeps(PromiseOf(operation)) : actor_.Breaks(PromiseOf(operation));
        return;
      case Operation::Kind::kWait:
        return Wait(operation.timeout);
    }
  }

  void Wait(Duration timeout) {
    auto waiter =
        script_.In("waiter at " + Milliseconds(now_.count()) + " for " + std::to_string(quorum_));
    waiter.At(now_).WaitsFor(quorum_, timeout);
    const Decision& decision = end_.decision();
    decision.ExpectEndOf(waiter, now_, timeout);
    const bool over = now_ + timeout < LookTime();
    timed_out_ |= over && now_ + timeout < decision.at;
    waited_for_ |= !over && decision.at == kForever;
  }

  void LookAtTheEnd() {
    actor_.At(LookTime()).Sees(quorum_, end_.quorum().Looks(timed_out_));
    for (std::size_t i = 0; i < promises_.size(); ++i) {
      const ScopeModel::Promise& promise = end_.promises()[i];
      if (promise.has_accept) actor_.SeesAccepts(quorum_, promises_[i], promise.accepts);
    }
  }

  // The quorum keeps a child alive that has not voted, and may keep the others. A wait keeps the
  // quorum alive. Nothing else keeps an event alive.
  void LetGo() {
    for (std::size_t i = 0; i < promises_.size(); ++i) {
      const bool awaited = end_.Awaits(static_cast<int>(i));
      actor_.Drops(promises_[i]);
      if (awaited || !end_.promises()[i].is_child) actor_.IsFreed(!awaited);
    }
    actor_.Drops(quorum_).IsFreed(!waited_for_);
    actor_.At(kEnd).SeesFreed(quorum_);
    for (const Id promise : promises_) actor_.SeesFreed(promise);
  }

  Duration LookTime() const {
    return kMoment * static_cast<int>(case_.operations.size()) + kLookDelay;
  }

  Id PromiseOf(const Operation& operation) const {
    return promises_[static_cast<std::size_t>(operation.subject)];
  }

  const Case& case_;
  Script& script_;
  const ScopeModel end_;  // after the last operation
  const Id quorum_;
  Script::Coroutine actor_;
  std::vector<Id> promises_;
  Duration now_{0};
  bool timed_out_ = false;   // a wait has, by LookTime
  bool waited_for_ = false;  // a wait has not ended by then
};

Script ScriptOf(const std::vector<Case>& cases) {
  Script script;
  for (const Case& each : cases) CaseWriter(each, script).Write();
  return script;
}

// The operations that may follow those of a case.
std::vector<Operation> Successors(const Scope& scope, const ScopeModel& model) {
  using Kind = Operation::Kind;
  std::vector<Operation> next;
  for (int voter = 0; voter < scope.total; ++voter) {
    for (const Vote vote : {Vote::kYes, Vote::kNo, Vote::kLost}) {
      next.push_back({.kind = Kind::kVote, .subject = voter, .vote = vote});
    }
  }
  // One of the promises that no operation has named stands for all.
  const int known = static_cast<int>(model.promises().size());
  for (int promise = 0; promise < std::min(known + 1, scope.promises); ++promise) {
    for (const Accept accept : scope.accepts) {
      if (model.is_full() && accept != scope.accepts.front()) continue;  // each is refused
      next.push_back({.kind = Kind::kAdd, .subject = promise, .accept = accept});
    }
    if (promise < known && model.promises()[static_cast<std::size_t>(promise)].ready) continue;
    for (const bool ready : {true, false}) {
      next.push_back({.kind = Kind::kDecide, .subject = promise, .ready = ready});
    }
  }
  for (const Duration timeout : scope.waits) {
    next.push_back({.kind = Kind::kWait, .timeout = timeout});
  }
  return next;
}

// Calls `visit` with every case of exactly `steps` more operations.
void Extend(const Scope& scope, int steps, Case& tried,
            const std::function<void(const Case&)>& visit) {
  if (steps == 0) return visit(tried);
  for (const Operation& operation : Successors(scope, ModelAfter(tried))) {
    tried.operations.push_back(operation);
    Extend(scope, steps - 1, tried, visit);
    tried.operations.pop_back();
  }
}

// Runs cases, many in one script. After the first failure it does nothing.
class CaseRunner {
 public:
  void Add(const Case& tried) {
    if (!verdict_) return;
    waiting_.push_back(tried);
    if (waiting_.size() == kScriptsMax) Flush();
  }

  void Flush() {
    const std::vector<Case> cases = std::exchange(waiting_, {});
    if (!cases.empty() && !runner_.Passes(ScriptOf(cases))) verdict_ = FirstFailureOf(cases);
  }

  const testing::AssertionResult& verdict() const { return verdict_; }

 private:
  static testing::AssertionResult FirstFailureOf(const std::vector<Case>& cases) {
    for (const Case& each : cases) {
      auto verdict = ScriptRunner().Run(ScriptOf({each}));
      if (!verdict) return verdict;
    }
    return testing::AssertionFailure() << "one of " << cases.size() << " scripts that each pass "
                                       << "alone fails when all are performed together";
  }

  ScriptRunner runner_;
  std::vector<Case> waiting_;
  testing::AssertionResult verdict_ = testing::AssertionSuccess();
};

}  // namespace

testing::AssertionResult EveryScriptPasses(const Scope& scope) {
  CaseRunner runner;
  for (int steps = 1; steps <= scope.steps; ++steps) {
    for (int needed = 1; needed <= scope.total; ++needed) {
      Case tried{needed, scope.total, {}};
      Extend(scope, steps, tried, [&runner](const Case& each) { runner.Add(each); });
    }
    runner.Flush();  // no longer script runs before all shorter ones have passed
  }
  return runner.verdict();
}

}  // namespace depfast::lab1
