// Script: a quorum script under construction, with the expected result of each step.
//
//   Script script;
//   const Id quorum = script.Quorum(2, 3);
//   script.In("leader").WaitsFor(quorum, 100ms).Until(Result::kReady, 2ms);
//   script.In("replies").At(1ms).Yes(quorum, 0);
//   script.In("replies").At(2ms).Yes(quorum, 2);
//   ExpectPasses(script);
//
// Steps of one coroutine happen in the order in which they are written. Coroutines begin in the
// order of their first step, after every step that makes an event without naming a coroutine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "depfast/time.h"
#include "depfast/wait_description.h"
#include "quorum_script.h"

namespace depfast::lab1 {

// When the driver gives a script up. Virtual time, so it costs nothing.
inline constexpr Duration kGiveUp = 60s;

// An event of the script.
using Id = std::int32_t;

// The expected report of a look. A field without a value is not compared.
using Expected = LookOf<std::optional>;

// The expected result of a step. A step without expectations must be done without an exception.
struct Expectation {
  Result result = Result::kDone;
  std::optional<Duration> from = std::nullopt;  // it ends in [from, to]
  Duration to{0};
  std::optional<std::int64_t> value = std::nullopt;
  std::optional<Expected> look = std::nullopt;
};

// A duration as a step holds it.
inline std::int64_t Ns(Duration time) { return time == kForever ? kForeverNs : time.count(); }

// "2 ms", "2.5 ms", "for ever"
std::string Milliseconds(std::int64_t ns);

class Script {
 public:
  class Coroutine;

  // The coroutine of that name, a new one if there is none.
  Coroutine In(const std::string& name);

  // These make an event before any coroutine begins.
  Id Quorum(int needed, int total) { return Make(Op::kMakeQuorum, needed, total); }
  Id Majority(int total) { return Make(Op::kMakeMajority, total); }
  Id Value() { return Make(Op::kMakeValue); }
  Id Promise() { return Make(Op::kMakePromise); }
  Id Timer(Duration delay) { return Make(Op::kMakeTimer, delay.count()); }
  Id Call(int peer, PeerPlan plan = {}, Duration timeout = kForever);
  Id And() { return Make(Op::kMakeAnd); }
  Id Or() { return Make(Op::kMakeOr); }
  // An id that a later step makes an event of.
  Id Reserve() { return next_event_++; }

  // The steps that these ids name must end in this order.
  void ExpectOrder(std::vector<std::size_t> steps) { order_ = std::move(steps); }

  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Expectation>& expectations() const { return expectations_; }
  const std::vector<std::size_t>& order() const { return order_; }

  // "replies: at 2 ms, voter 2 of quorum A says yes"
  std::string Describe(std::size_t step) const;

 private:
  Id Make(Op op, std::int64_t a = 0, std::int64_t b = 0);
  std::size_t Append(Step step);
  std::string NameOf(Id event) const;
  // The replacement of {field} in the text of the step's operation.
  std::string Field(std::string_view field, const Step& step) const;

  Id next_event_ = 0;
  std::vector<std::string> coroutines_{"setup"};
  std::vector<Step> steps_;
  std::vector<Expectation> expectations_;  // one for each step
  std::vector<std::size_t> order_;
};

// Adds steps to one coroutine. `At` applies to the next step. The functions after a step set its
// expected result.
class Script::Coroutine {
 public:
  Coroutine(Script& script, std::int32_t number) : script_(script), number_(number) {}

  // The next step happens at `when`, or as soon as the steps before it have ended.
  Coroutine& At(Duration when) {
    at_ns_ = when.count();
    return *this;
  }

  Coroutine& Makes(Op op, Id event, std::int64_t a = 0, std::int64_t b = 0) {
    return Does({.op = op, .event = event, .a = a, .b = b});
  }
  Coroutine& Calls(Id event, int peer, PeerPlan plan = {}, Duration timeout = kForever);
  Coroutine& Broadcasts(Id broadcast, Id quorum, std::vector<PeerPlan> plan) {
    return Does(
        {.op = Op::kBroadcast, .event = broadcast, .other = quorum, .plan = std::move(plan)});
  }
  Coroutine& Adds(Id parent, Id child, Accept accept = Accept::kNone) {
    const auto a = static_cast<std::int64_t>(accept);
    return Does({.op = Op::kAdd, .event = parent, .other = child, .a = a});
  }
  Coroutine& Yes(Id quorum, int voter) { return Does(Op::kVoteYes, quorum, voter); }
  Coroutine& No(Id quorum, int voter) { return Does(Op::kVoteNo, quorum, voter); }
  Coroutine& Loses(Id quorum, int voter) { return Does(Op::kVoteLost, quorum, voter); }
  // Requires: not Vote::kPending.
  Coroutine& Votes(Id quorum, int voter, Vote vote) {
    if (vote == Vote::kLost) return Loses(quorum, voter);
    return vote == Vote::kYes ? Yes(quorum, voter) : No(quorum, voter);
  }
  Coroutine& Sets(Id value, std::int64_t to) { return Does(Op::kSet, value, to); }
  Coroutine& Keeps(Id promise) { return Does(Op::kKeep, promise); }
  Coroutine& Breaks(Id promise) { return Does(Op::kBreak, promise); }
  Coroutine& Releases(Id broadcast) { return Does(Op::kRelease, broadcast); }
  Coroutine& WaitsFor(Id event, Duration timeout = kForever) {
    return Does(Op::kWait, event, Ns(timeout));
  }
  Coroutine& Drops(Id event) { return Does(Op::kDrop, event); }
  Coroutine& Notes() { return Does(Op::kNote, kNoEvent); }

  // Steps that report, with the expected reports.
  Coroutine& Sees(Id event, Expected expected) {
    return Does(Op::kLook, event).Expects({.look = std::move(expected)});
  }
  Coroutine& SeesAccepts(Id quorum, Id child, int calls) {
    return Does({.op = Op::kAccepts, .event = quorum, .other = child}).Expects({.value = calls});
  }
  Coroutine& SeesFreed(Id event) { return Does(Op::kIsFreed, event).IsFreed(true); }
  Coroutine& SeesAlive(Id event) { return Does(Op::kIsFreed, event).IsFreed(false); }

  // The latest step ends like this, at `when` or within [from, to].
  Coroutine& Until(Result result, Duration when) { return Until(result, when, when); }
  Coroutine& Until(Result result, Duration from, Duration to) {
    return Expects({.result = result, .from = from, .to = to});
  }
  // The latest step drops or looks at an event, and finds it destroyed or alive.
  Coroutine& IsFreed(bool freed) { return Expects({.value = freed ? 1 : 0}); }
  Coroutine& Throws(Result error) { return Expects({.result = error}); }

  // The number of the latest step, for ExpectOrder.
  std::size_t step() const { return step_; }

 private:
  Coroutine& Does(Step step);
  Coroutine& Does(Op op, Id event, std::int64_t a = 0) {
    return Does({.op = op, .event = event, .a = a});
  }
  Coroutine& Expects(Expectation expectation);

  Script& script_;
  std::int32_t number_;
  std::int64_t at_ns_ = kAtOnce;
  std::size_t step_ = 0;
};

}  // namespace depfast::lab1
