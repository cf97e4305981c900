#include "holds.h"

#include <algorithm>
#include <vector>

#include "quorum_model.h"

namespace depfast::lab1 {
namespace {

constexpr std::size_t kNotEnded = ~std::size_t{0};

const char* NameOf(Result result) {
  static constexpr const char* kNames[] = {"done",
                                           "ready",
                                           "failed",
                                           "timed out",
                                           "throws std::invalid_argument",
                                           "throws std::out_of_range",
                                           "throws",
                                           "the event it names does not exist"};
  const auto index = static_cast<std::size_t>(result);
  return index < std::size(kNames) ? kNames[index] : "?";
}

const char* YesNo(bool value) { return value ? "true" : "false"; }

// Adds "name expected" and "name got" to the two sides where they differ.
struct Difference {
  std::string expected;
  std::string got;

  void Compare(const char* name, const std::optional<std::string>& want, const std::string& have) {
    if (!want || *want == have) return;
    expected += (expected.empty() ? "" : ", ") + std::string(name) + " " + *want;
    got += (got.empty() ? "" : ", ") + std::string(name) + " " + have;
  }
  void Compare(const char* name, std::optional<bool> want, bool have) {
    Compare(name, want ? std::optional<std::string>(YesNo(*want)) : std::nullopt, YesNo(have));
  }
  void Compare(const char* name, std::optional<int> want, int have) {
    Compare(name, want ? std::optional(std::to_string(*want)) : std::nullopt, std::to_string(have));
  }
};

Difference CompareLook(const Expected& want, const Look& have) {
  Difference out;
  out.Compare("Ready()", want.ready, have.ready);
  out.Compare("Fail()", want.fail, have.fail);
  out.Compare("TimedOut()", want.timed_out, have.timed_out);
  out.Compare("yes()", want.yes, have.yes);
  out.Compare("no()", want.no, have.no);
  out.Compare("lost()", want.lost, have.lost);
  out.Compare("needed()", want.needed, have.needed);
  out.Compare("total()", want.total, have.total);
  out.Compare("IsReady()", want.is_ready, have.is_ready);
  out.Compare("IsFailed()", want.is_failed, have.is_failed);
  out.Compare("DescribeWait().needed", want.wait_needed, have.wait_needed);
  out.Compare("DescribeWait().total", want.wait_total, have.wait_total);
  out.Compare("the peers of DescribeWait()", want.peers, have.peers);
  out.Compare("Label()", want.label, have.label);
  return out;
}

std::string DescribeLook(const Look& look) {
  std::string out = std::to_string(look.yes) + " yes, " + std::to_string(look.no) + " no and " +
                    std::to_string(look.lost) + " lost of " + std::to_string(look.total) +
                    ", needed " + std::to_string(look.needed);
  if (look.ready) out += ", Ready()";
  if (look.fail) out += ", Fail()";
  if (look.timed_out) out += ", TimedOut()";
  return out;
}

// "ready at 2 ms"
std::string DescribeLine(const LogLine& line, Op op) {
  std::string out = NameOf(line.result);
  if (!line.text.empty()) out += " (" + line.text + ")";
  if (line.result == Result::kDone && !line.look.empty()) out = DescribeLook(line.look.front());
  if (op == Op::kAccepts) out = std::to_string(line.value) + " calls";
  if (op == Op::kIsFreed) out = line.value != 0 ? "destroyed" : "still there";
  return out + " at " + Milliseconds(line.time_ns);
}

std::string DescribeExpectation(const Expectation& want) {
  std::string out = NameOf(want.result);
  if (!want.from) return out;
  out += *want.from == want.to ? " at " + Milliseconds(want.to.count())
                               : " between " + Milliseconds(want.from->count()) + " and " +
                                     Milliseconds(want.to.count());
  return out;
}

// Nothing, or what was expected and what happened.
std::optional<Difference> Check(const Expectation& want, const LogLine& line, Op op) {
  const Duration when(line.time_ns);
  const bool in_time = !want.from || (*want.from <= when && when <= want.to);
  if (line.result != want.result || !in_time) {
    return Difference{DescribeExpectation(want), DescribeLine(line, op)};
  }
  if (want.value && *want.value != line.value) {
    const std::string expected = op == Op::kIsFreed ? "destroyed: nobody needs it any more"
                                                    : std::to_string(*want.value) + " calls";
    return Difference{expected, DescribeLine(line, op)};
  }
  if (want.look && !line.look.empty()) {
    Difference difference = CompareLook(*want.look, line.look.front());
    difference.got += " at " + Milliseconds(line.time_ns);
    if (!difference.expected.empty()) return difference;
  }
  return std::nullopt;
}

// One script and its log, judged.
class Judgement {
 public:
  Judgement(const Script& script, const ScriptLog& log)
      : script_(script), log_(log), place_(script.steps().size(), kNotEnded) {
    for (std::size_t i = 0; i < log.lines.size(); ++i) {
      if (log.lines[i].step < place_.size()) place_[log.lines[i].step] = i;
    }
    for (const LogLine& line : log.lines) {
      if (complaint_.empty() && line.step < place_.size()) CheckLine(line);
    }
    for (std::size_t step = 0; step < place_.size(); ++step) CheckEnded(step);
    CheckOrder();
  }

  const std::string& complaint() const { return complaint_; }

  // The script, numbered, with what each step did.
  std::string Transcript() const {
    std::string out;
    for (std::size_t step = 0; step < place_.size(); ++step) {
      out += "  #" + std::to_string(step + 1) + "  " + script_.Describe(step) + "  ->  " +
             Happened(step) + "\n";
    }
    return out;
  }

 private:
  std::string Happened(std::size_t step) const {
    if (place_[step] == kNotEnded) return "has not ended";
    return DescribeLine(log_.lines[place_[step]], script_.steps()[step].op);
  }

  void Complain(std::size_t step, const std::string& expected, const std::string& got) {
    complaint_ = "step #" + std::to_string(step + 1) + " goes wrong\n  " + script_.Describe(step) +
                 "\n  expected: " + expected + "\n  happened: " + got + "\n";
  }

  void CheckLine(const LogLine& line) {
    const auto wrong =
        Check(script_.expectations()[line.step], line, script_.steps()[line.step].op);
    if (wrong) Complain(line.step, wrong->expected, wrong->got);
  }

  void CheckEnded(std::size_t step) {
    if (!complaint_.empty() || place_[step] != kNotEnded) return;
    Complain(step, DescribeExpectation(script_.expectations()[step]),
             "it has not ended after " + Milliseconds(script_.give_up().count()));
  }

  void CheckOrder() {
    const auto& order = script_.order();
    for (std::size_t i = 1; complaint_.empty() && i < order.size(); ++i) {
      if (place_[order[i - 1]] < place_[order[i]]) continue;
      const std::string earlier = "step #" + std::to_string(order[i - 1] + 1);
      Complain(order[i], "after " + earlier + " (" + script_.Describe(order[i - 1]) + ")",
               "before " + earlier);
    }
  }

  const Script& script_;
  const ScriptLog& log_;
  std::vector<std::size_t> place_;  // of each step in the log
  std::string complaint_;
};

}  // namespace

ScriptRunner::ScriptRunner(const World& world)
    : cluster_({.replicas = world.replicas, .seed = world.seed}), client_(cluster_.simulator()) {
  cluster_.Schedule(world.faults);
  cluster_.Start();
}

std::optional<ScriptLog> ScriptRunner::Perform(const Script& script) {
  RunScript request;
  request.steps = script.steps();
  request.give_up_ns = script.give_up().count();
  constexpr Duration kPatience = 5s;
  bool answered = false;
  std::optional<ScriptLog> log;
  client_.Call(0, request, script.give_up() + kPatience, [&](std::optional<ScriptLog> reply) {
    log = std::move(reply);
    answered = true;
  });
  cluster_.RunUntil([&] { return answered || !cluster_.first_death().empty(); },
                    script.give_up() + 2 * kPatience);
  return log;
}

testing::AssertionResult ScriptRunner::Run(const Script& script) {
  const auto answer = Perform(script);
  const ScriptLog log = answer.value_or(ScriptLog{});
  const Judgement judgement(script, log);
  const std::string transcript = judgement.Transcript();
  auto failure = testing::AssertionFailure();
  if (!cluster_.first_death().empty()) {
    return failure << "the replica did not survive the script: " << cluster_.first_death()
                   << "\nThe script:\n"
                   << transcript;
  }
  if (!answer) return failure << "the replica did not answer\nThe script:\n" << transcript;
  if (judgement.complaint().empty()) {
    cluster_.Note("a script:\n" + transcript);  // else it stands in the message, once
    return testing::AssertionSuccess();
  }
  return failure << judgement.complaint() << "The whole script:\n" << transcript;
}

void ExpectHolds(const Script& script, const World& world, const char* file, int line) {
  ScriptRunner runner(world);
  const auto verdict = runner.Run(script);
  if (verdict) return;
  ADD_FAILURE_AT(file, line) << verdict.message();
}

testing::AssertionResult HoldsForRandomCases(int cases, int waits_max) {
  ScriptRunner runner;
  RandomStream stream(testkit::TheEnvironment().seed, static_cast<std::uint64_t>(waits_max));
  for (int i = 1; i <= cases; ++i) {
    const RandomCase random = RandomCase::Draw(stream, waits_max);
    auto verdict = runner.Run(random.ToScript());
    if (verdict) continue;
    if (!runner.death().empty()) return verdict;
    const auto fails = [&](const RandomCase& smaller) {
      return !runner.Run(smaller.ToScript()) && runner.death().empty();
    };
    const RandomCase smallest = Minimised(random, fails);
    return runner.Run(smallest.ToScript())
           << "(random case " << i << ", without the votes and waits that do not matter)";
  }
  return testing::AssertionSuccess();
}

}  // namespace depfast::lab1
