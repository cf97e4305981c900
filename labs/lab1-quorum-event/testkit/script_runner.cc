#include "script_runner.h"

#include <type_traits>
#include <utility>
#include <vector>

namespace depfast::lab1 {
namespace {

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

// An expectation and the result that differs from it.
struct Difference {
  std::string expected;
  std::string got;
};

template <typename T>
std::string Text(const T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    return value.empty() ? "(empty)" : value;
  else if constexpr (std::is_same_v<T, bool>)
    return value ? "true" : "false";
  else
    return std::to_string(value);
}

// "Ready() true, yes() 2": the fields that differ. Empty if there are none.
Difference CompareLook(const Expected& want, const Look& have) {
  Difference out;
  const auto compare = [&out](const char* name, const auto& expected, const auto& got) {
    if (!expected || *expected == got) return;
    const std::string comma = out.expected.empty() ? "" : ", ";
    out.expected += comma + name + " " + Text(*expected);
    out.got += comma + name + " " + Text(got);
  };
  compare("Ready()", want.ready, have.ready);
  compare("Fail()", want.fail, have.fail);
  compare("TimedOut()", want.timed_out, have.timed_out);
  compare("yes()", want.yes, have.yes);
  compare("no()", want.no, have.no);
  compare("lost()", want.lost, have.lost);
  compare("needed()", want.needed, have.needed);
  compare("total()", want.total, have.total);
  compare("IsReady()", want.is_ready, have.is_ready);
  compare("IsFailed()", want.is_failed, have.is_failed);
  compare("DescribeWait().needed", want.wait_needed, have.wait_needed);
  compare("DescribeWait().total", want.wait_total, have.wait_total);
  compare("the peers of DescribeWait()", want.peers, have.peers);
  compare("Label()", want.label, have.label);
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

// Whether the step's value tells that an event was destroyed.
bool IsAboutLife(Op op) { return op == Op::kDrop || op == Op::kIsFreed; }

// "ready at 2 ms"
std::string DescribeLine(const LogLine& line, Op op) {
  std::string out = NameOf(line.result);
  if (!line.text.empty()) out += " (" + line.text + ")";
  if (line.result == Result::kDone && !line.look.empty()) out = DescribeLook(line.look.front());
  if (op == Op::kAccepts) out = std::to_string(line.value) + " calls";
  if (IsAboutLife(op)) out = line.value != 0 ? "destroyed" : "still there";
  return out + " at " + Milliseconds(line.time_ns);
}

std::string DescribeExpectation(const Expectation& want) {
  std::string out = NameOf(want.result);
  if (!want.from) return out;
  const std::string to = Milliseconds(want.to.count());
  if (*want.from == want.to) return out + " at " + to;
  return out + " between " + Milliseconds(want.from->count()) + " and " + to;
}

std::optional<Difference> Compare(const Expectation& want, const LogLine& line, Op op) {
  const Duration when(line.time_ns);
  const bool in_time = !want.from || (*want.from <= when && when <= want.to);
  const std::string got = DescribeLine(line, op);
  if (line.result != want.result || !in_time) return Difference{DescribeExpectation(want), got};
  if (want.value && *want.value != line.value) {
    if (IsAboutLife(op)) {
      const bool freed = *want.value != 0;
      return Difference{freed ? "destroyed: no reference to it is left"
                              : "still there: it is waited for, or a child",
                        got};
    }
    return Difference{std::to_string(*want.value) + " calls", got};
  }
  if (!want.look) return std::nullopt;
  if (line.look.empty()) return Difference{"an event that can be read", got};
  Difference difference = CompareLook(*want.look, line.look.front());
  if (difference.expected.empty()) return std::nullopt;
  difference.got += " at " + Milliseconds(line.time_ns);
  return difference;
}

// The vote that a step casts; empty if it casts none.
std::string VoteOf(Op op) {
  if (op == Op::kVoteYes) return "yes";
  if (op == Op::kVoteNo) return "no";
  return op == Op::kVoteLost ? "lost" : "";
}

// A step that goes wrong, and how.
struct Complaint {
  std::size_t step = 0;
  Difference difference;
};

// A script and its log.
class Judgement {
 public:
  Judgement(const Script& script, const ScriptLog& log)
      : script_(script), log_(log), lines_(script.steps().size(), nullptr) {
    for (const LogLine& line : log.lines) {
      if (line.step < lines_.size()) lines_[line.step] = &line;
    }
  }

  // The first step that does not meet its expectation; nothing if all do.
  std::optional<Complaint> FirstComplaint() const {
    for (const LogLine& line : log_.lines) {
      if (line.step >= lines_.size()) continue;
      const auto wrong = Compare(script_.expectations()[line.step], line, OpOf(line.step));
      if (wrong) return Complaint{line.step, *wrong};
    }
    for (std::size_t step = 0; step < lines_.size(); ++step) {
      if (lines_[step] != nullptr) continue;
      return Complaint{step,
                       {DescribeExpectation(script_.expectations()[step]),
                        "it has not ended after " + Milliseconds(kGiveUp.count())}};
    }
    return ComplaintOfOrder();
  }

  // The steps for the picture, of a script that began at `begin`. One that has not ended is at
  // `end`.
  std::vector<testkit::Recorder::Mark> Marks(Time begin, Time end) const {
    const auto complaint = FirstComplaint();
    std::vector<testkit::Recorder::Mark> marks;
    for (std::size_t step = 0; step < lines_.size(); ++step) {
      const LogLine* const line = lines_[step];
      marks.push_back({.at = line == nullptr ? end : begin + Duration(line->time_ns),
                       .replica = 0,
                       .text = InWords(step),
                       .vote = VoteOf(OpOf(step)),
                       .is_wrong = complaint && complaint->step == step});
    }
    if (complaint) {
      const auto& [expected, got] = complaint->difference;
      marks[complaint->step].text += ". Expected: " + expected + ". Happened: " + got;
    }
    return marks;
  }

  // The complaint in lines.
  std::string Text(const Complaint& complaint) const {
    const auto& [expected, got] = complaint.difference;
    return "step #" + std::to_string(complaint.step + 1) + " goes wrong\n  " +
           script_.Describe(complaint.step) + "\n  expected: " + expected + "\n  happened: " + got +
           "\n";
  }

  // The script, numbered, with the result of each step.
  std::string Transcript() const {
    std::string out;
    for (std::size_t step = 0; step < lines_.size(); ++step) {
      out += "  " + InWords(step) + "\n";
    }
    return out;
  }

 private:
  Op OpOf(std::size_t step) const { return script_.steps()[step].op; }

  // "#3  replies: voter 1 of quorum A says yes  ->  done at 0 ms"
  std::string InWords(std::size_t step) const {
    const LogLine* const line = lines_[step];
    return "#" + std::to_string(step + 1) + "  " + script_.Describe(step) + "  ->  " +
           (line == nullptr ? "has not ended" : DescribeLine(*line, OpOf(step)));
  }

  // Requires: every step has ended.
  std::optional<Complaint> ComplaintOfOrder() const {
    const auto& order = script_.order();
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (lines_[order[i - 1]] < lines_[order[i]]) continue;
      const std::string earlier = "step #" + std::to_string(order[i - 1] + 1);
      return Complaint{
          order[i],
          {"after " + earlier + " (" + script_.Describe(order[i - 1]) + ")", "before " + earlier}};
    }
    return std::nullopt;
  }

  const Script& script_;
  const ScriptLog& log_;
  std::vector<const LogLine*> lines_;  // of each step; nullptr: it has not ended
};

}  // namespace

ScriptRunner::ScriptRunner(const World& world)
    : cluster_({.replicas = world.replicas, .seed = world.seed}), client_(cluster_.simulator()) {
  cluster_.simulator().AddObserver(this);
  cluster_.Schedule(world.faults);
  cluster_.Start();
}

std::optional<ScriptLog> ScriptRunner::Perform(const Script& script) {
  RunScript request;
  request.steps = script.steps();
  request.give_up_ns = kGiveUp.count();
  constexpr Duration kPatience = 5s;
  bool answered = false;
  std::optional<ScriptLog> log;
  client_.Call(0, request, kGiveUp + kPatience, [&](std::optional<ScriptLog> reply) {
    log = std::move(reply);
    answered = true;
  });
  cluster_.RunUntil([&] { return answered || !cluster_.first_death().empty(); },
                    kGiveUp + 2 * kPatience);
  return log;
}

bool ScriptRunner::Passes(const Script& script) {
  const auto log = Perform(script);
  return log && death().empty() && !Judgement(script, *log).FirstComplaint();
}

// A script begins in the step that reads it.
void ScriptRunner::OnStep(PeerId replica, const sim::StepInput& input,
                          const sim::StepOutput& /*output*/) {
  if (replica != 0) return;
  for (const sim::FrameArrival& frame : input.frames) {
    if (frame.from == client_.id()) begun_ = input.now;
  }
}

void ScriptRunner::Record(const std::vector<testkit::Recorder::Mark>& marks) {
  if (cluster_.recorder() == nullptr) return;
  for (const auto& mark : marks) cluster_.recorder()->Add(mark);
}

testing::AssertionResult ScriptRunner::Run(const Script& script) {
  const auto answer = Perform(script);
  const ScriptLog log = answer.value_or(ScriptLog{});
  const Judgement judgement(script, log);
  const auto wrong = judgement.FirstComplaint();
  std::string complaint = wrong ? judgement.Text(*wrong) : "";
  if (!death().empty()) {
    complaint = "the replica did not survive the script: " + death() + "\n";
  } else if (!answer) {
    complaint = "the replica did not answer\n";
  }
  Record(judgement.Marks(begun_, cluster_.now()));
  const std::string transcript = judgement.Transcript();
  if (!complaint.empty()) {
    return testing::AssertionFailure() << complaint << "The whole script:\n" << transcript;
  }
  cluster_.Note("a script:\n" + transcript);  // a failure's message has it already
  return testing::AssertionSuccess();
}

void ExpectPasses(const Script& script, const World& world, const char* file, int line) {
  const auto verdict = ScriptRunner(world).Run(script);
  if (!verdict) ADD_FAILURE_AT(file, line) << verdict.message();
}

}  // namespace depfast::lab1
