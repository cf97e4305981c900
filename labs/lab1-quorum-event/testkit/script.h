// Script: a quorum script under construction, with what each step is expected to do.
//
//   Script script;
//   const Id quorum = script.Quorum(2, 3);
//   script.In("leader").WaitsFor(quorum, 100ms).Until(Result::kReady, 2ms);
//   script.In("replies").At(1ms).Yes(quorum, 0);
//   script.In("replies").At(2ms).Yes(quorum, 2);
//   ExpectHolds(script);
//
// Steps of one coroutine happen in the order in which they are written; coroutines begin in the
// order of their first step, after everything that makes an event without naming a coroutine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "depfast/time.h"
#include "depfast/wait_description.h"
#include "quorum_script.h"

namespace depfast::lab1 {

// An event of the script.
using Id = std::int32_t;

// What a look at a quorum should find; what is not given is not compared.
struct Expected {
  std::optional<bool> ready = std::nullopt;
  std::optional<bool> fail = std::nullopt;
  std::optional<bool> timed_out = std::nullopt;
  std::optional<int> yes = std::nullopt;
  std::optional<int> no = std::nullopt;
  std::optional<int> lost = std::nullopt;
  std::optional<int> needed = std::nullopt;
  std::optional<int> total = std::nullopt;
  std::optional<bool> is_ready = std::nullopt;
  std::optional<bool> is_failed = std::nullopt;
  std::optional<int> wait_needed = std::nullopt;
  std::optional<int> wait_total = std::nullopt;
  std::optional<std::string> peers = std::nullopt;  // "1 yes, 2 lost"
  std::optional<std::string> label = std::nullopt;
};

// What a step should do. A step without expectations should be done, without an exception.
struct Expectation {
  Result result = Result::kDone;
  std::optional<Duration> from = std::nullopt;  // it ends in [from, to]
  Duration to{0};
  std::optional<std::int64_t> value = std::nullopt;
  std::optional<Expected> look = std::nullopt;
};

class Script {
 public:
  class Coroutine;

  // The coroutine of that name, a new one if there is none.
  Coroutine In(const std::string& name);

  // These make an event before any coroutine begins.
  Id Quorum(int needed, int total);
  Id Majority(int total);
  Id Value();
  Id Promise();
  Id Timer(Duration delay);
  Id Call(int peer, PeerPlan plan = {}, Duration timeout = kForever);
  Id And();
  Id Or();
  // An id that a later step makes an event of.
  Id Reserve() { return next_event_++; }

  // The steps that these ids name must end in this order.
  void ExpectOrder(std::vector<std::size_t> steps) { order_ = std::move(steps); }

  // When the driver gives the script up. Virtual time, so it costs nothing.
  void GiveUpAfter(Duration limit) { give_up_ = limit; }

  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Expectation>& expectations() const { return expectations_; }
  const std::vector<std::size_t>& order() const { return order_; }
  Duration give_up() const { return give_up_; }

  // "replies: at 2 ms, voter 2 of quorum A says yes"
  std::string Describe(std::size_t step) const;

 private:
  std::int32_t CoroutineNumber(const std::string& name);
  std::size_t Append(Step step);
  std::string NameOf(Id event) const;
  std::string DescribeOperation(const Step& step) const;

  Duration give_up_ = 60s;
  Id next_event_ = 0;
  std::vector<std::string> coroutines_{"setup"};
  std::vector<Step> steps_;
  std::vector<Expectation> expectations_;  // one for each step
  std::vector<std::size_t> order_;
};

// Adds steps to one coroutine. `At` applies to the next step; the functions after a step say what
// is expected of it.
class Script::Coroutine {
 public:
  Coroutine(Script& script, std::int32_t number) : script_(script), number_(number) {}

  // The next step happens at `when`, or as soon as the steps before it have ended.
  Coroutine& At(Duration when);

  Coroutine& Makes(Op op, Id event, std::int64_t a = 0, std::int64_t b = 0);
  Coroutine& Calls(Id event, int peer, PeerPlan plan = {}, Duration timeout = kForever);
  Coroutine& Broadcasts(Id broadcast, Id quorum, std::vector<PeerPlan> plan);
  Coroutine& Adds(Id parent, Id child, Accept accept = Accept::kNone);
  Coroutine& Yes(Id quorum, int voter);
  Coroutine& No(Id quorum, int voter);
  Coroutine& Loses(Id quorum, int voter);
  Coroutine& Votes(Id quorum, int voter, Vote vote);  // one of the three; not pending
  Coroutine& Sets(Id value, std::int64_t to);
  Coroutine& Keeps(Id promise);
  Coroutine& Breaks(Id promise);
  Coroutine& Releases(Id broadcast);
  Coroutine& WaitsFor(Id event, Duration timeout = kForever);
  Coroutine& Notes();

  // Steps that report, with what they should report.
  Coroutine& Sees(Id event, Expected expected);
  Coroutine& SeesAccepts(Id child, int calls);
  Coroutine& Drops(Id event);
  Coroutine& SeesFreed(Id event);

  // The latest step ends like this, at `when` or within [from, to].
  Coroutine& Until(Result result, Duration when) { return Until(result, when, when); }
  Coroutine& Until(Result result, Duration from, Duration to);
  Coroutine& Throws(Result error);

  // The number of the latest step, for ExpectOrder.
  std::size_t step() const { return step_; }

 private:
  Coroutine& Append(Op op, Id event, Id other = kNoEvent, std::int64_t a = 0, std::int64_t b = 0);
  Expectation& expectation() { return script_.expectations_[step_]; }

  Script& script_;
  std::int32_t number_;
  std::int64_t at_ns_ = kAtOnce;
  std::size_t step_ = 0;
};

// "2 ms", "2.5 ms", "for ever"
std::string Milliseconds(std::int64_t ns);

}  // namespace depfast::lab1
