#include "script.h"

#include <algorithm>

namespace depfast::lab1 {
namespace {

constexpr std::int32_t kSetup = 0;

struct Operation {
  const char* makes;
  const char* text;
};

const Operation& OperationOf(const Step& step) {
  static constexpr Operation kOperations[] = {
#define LAB1_ROW(name, makes, text) {makes, text},
      LAB1_OPERATIONS(LAB1_ROW)
#undef LAB1_ROW
  };
  return kOperations[static_cast<std::size_t>(step.op)];
}

std::string DescribePlan(const PeerPlan& plan) {
  static constexpr const char* kAnswers[] = {
      "yes", "no", "an error", "nothing", "garbled bytes", "unknown method"};
  return std::string(kAnswers[static_cast<int>(plan.answer)]) + " after " +
         Milliseconds(plan.delay_ns);
}

// " (1: yes after 0 ms, 2: no after 3 ms)": of all peers of replica 0.
std::string DescribePlans(const std::vector<PeerPlan>& plans) {
  std::string out;
  for (std::size_t peer = 1; peer < plans.size(); ++peer) {
    out += (peer == 1 ? " (" : ", ") + std::to_string(peer) + ": " + DescribePlan(plans[peer]);
  }
  return out.empty() ? out : out + ")";
}

std::string DescribeAccept(std::int64_t accept) {
  static constexpr const char* kAccepts[] = {"", ", accept returns true", ", accept returns false",
                                             ", accept: the reply says yes",
                                             ", accept: the reply says no"};
  return kAccepts[accept];
}

std::string DescribeTimeout(const char* words, std::int64_t ns) {
  return ns == kForeverNs ? "" : words + Milliseconds(ns);
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

Script::Coroutine Script::In(const std::string& name) {
  const auto found = std::find(coroutines_.begin(), coroutines_.end(), name);
  const auto number = static_cast<std::int32_t>(found - coroutines_.begin());
  if (found == coroutines_.end()) coroutines_.push_back(name);
  return Coroutine(*this, number);
}

Id Script::Make(Op op, std::int64_t a, std::int64_t b) {
  const Id id = Reserve();
  Coroutine(*this, kSetup).Makes(op, id, a, b);
  return id;
}

Id Script::Call(int peer, PeerPlan plan, Duration timeout) {
  const Id id = Reserve();
  Coroutine(*this, kSetup).Calls(id, peer, plan, timeout);
  return id;
}

std::size_t Script::Append(Step step) {
  steps_.push_back(std::move(step));
  expectations_.emplace_back();
  return steps_.size() - 1;
}

std::string Script::NameOf(Id event) const {
  std::string kind = "event";
  for (const Step& step : steps_) {
    const std::string_view made = OperationOf(step).makes;
    if (step.event == event && !made.empty()) kind = made;
  }
  constexpr Id kLetters = 26;
  const std::string round = event < kLetters ? "" : std::to_string(event / kLetters + 1);
  return kind + " " + static_cast<char>('A' + event % kLetters) + round;
}

std::string Script::Describe(std::size_t number) const {
  const Step& step = steps_[number];
  std::string out = coroutines_[static_cast<std::size_t>(step.coroutine)] + ": ";
  if (step.at_ns != kAtOnce) out += "at " + Milliseconds(step.at_ns) + ", ";
  std::string_view text = OperationOf(step).text;
  for (auto open = text.find('{'); open != text.npos; open = text.find('{')) {
    const auto close = text.find('}');
    out += text.substr(0, open);
    out += Field(text.substr(open + 1, close - open - 1), step);
    text.remove_prefix(close + 1);
  }
  return out.append(text);
}

std::string Script::Field(std::string_view field, const Step& step) const {
  if (field == "event") return NameOf(step.event);
  if (field == "other") return step.other == kNoEvent ? "a null child" : NameOf(step.other);
  if (field == "a") return std::to_string(step.a);
  if (field == "b") return std::to_string(step.b);
  if (field == "time a") return Milliseconds(step.a);
  if (field == "limit a") return DescribeTimeout(" for at most ", step.a);
  if (field == "timeout b") return DescribeTimeout("; timeout ", step.b);
  if (field == "accept a") return DescribeAccept(step.a);
  return field == "plan" ? DescribePlan(step.plan.back()) : DescribePlans(step.plan);
}

// ---- Coroutine ----

using Coroutine = Script::Coroutine;

Coroutine& Coroutine::Does(Step step) {
  step.coroutine = number_;
  step.at_ns = std::exchange(at_ns_, kAtOnce);
  step_ = script_.Append(std::move(step));
  return *this;
}

Coroutine& Coroutine::Expects(Expectation expectation) {
  script_.expectations_[step_] = std::move(expectation);
  return *this;
}

Coroutine& Coroutine::Calls(Id event, int peer, PeerPlan plan, Duration timeout) {
  std::vector<PeerPlan> plans(static_cast<std::size_t>(peer) + 1);
  plans.back() = plan;
  return Does(
      {.op = Op::kMakeCall, .event = event, .a = peer, .b = Ns(timeout), .plan = std::move(plans)});
}

}  // namespace depfast::lab1
