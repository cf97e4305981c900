#include "fan_out_runner.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "depfast/verify/unfinished_work.h"
#include "testkit/history.h"
#include "unfinished.h"

namespace depfast::lab4 {
namespace {

testkit::ClusterOptions WithProbe(testkit::ClusterOptions options) {
  options.probes = {UnfinishedWork::kName};
  return options;
}

std::string InWords(std::int64_t ns) {
  return ns == kNeverNs ? "never" : "at " + testkit::FormatTime(Time(ns));
}

const char* NameOf(CallReport::End end) {
  static constexpr const char* kNames[] = {"has not ended", "was answered", "failed",
                                           "was released"};
  const auto index = static_cast<std::size_t>(end);
  return index < std::size(kNames) ? kNames[index] : "ended in an unknown way";
}

}  // namespace

testing::AssertionResult IsAt(std::int64_t moment, Duration expected) {
  if (moment >= expected.count() && moment <= (expected + kSoon).count()) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << "it happens " << InWords(moment) << ", and must happen " << InWords(expected.count());
}

testing::AssertionResult Ended(const CallReport& call, CallReport::End end, Duration expected) {
  if (call.end != end) {
    return testing::AssertionFailure()
           << "the call " << NameOf(call.end) << " (" << InWords(call.at_ns) << "), where \""
           << NameOf(end) << " " << InWords(expected.count()) << "\" is right";
  }
  return IsAt(call.at_ns, expected) << ": the call " << NameOf(end);
}

FanOutRunner::FanOutRunner(testkit::ClusterOptions options)
    : cluster(WithProbe(std::move(options))), client_(cluster.simulator()) {
  cluster.simulator().AddObserver(this);
  cluster.Start();
  cluster.RunFor(10ms);  // the replicas have made a step
}

FanOutRunner::~FanOutRunner() {
  if (!cluster.first_death().empty()) ADD_FAILURE() << cluster.first_death();
}

std::vector<FanOutReport> FanOutRunner::Run(const std::vector<FanOut>& fan_outs, Duration until) {
  constexpr Duration kPatience = 5s;
  coroutines_before_ = UnfinishedCoroutines(cluster.simulator(), 0);
  answers_ = 0;
  first_ += seen_.size();
  seen_ = NothingEnded(fan_outs);
  // A call that is not over when this returns ends in a later Run.
  struct Ended {
    bool is_over = false;
    std::optional<FanOutReports> reports;
  };
  const auto ended = std::make_shared<Ended>();
  client_.Call(0, RunFanOuts{fan_outs, until.count(), first_}, until + kPatience,
               [ended](const std::optional<FanOutReports>& reply) { *ended = Ended{true, reply}; });
  cluster.RunUntil([&] { return ended->is_over || !cluster.first_death().empty(); },
                   until + 2 * kPatience);
  if (ended->reports && ended->reports->fan_outs.size() == fan_outs.size()) {
    ExpectAnswersCame(seen_);
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const FanOutReport& said = ended->reports->fan_outs[i];
      seen_[i].yes = said.yes;
      seen_[i].no = said.no;
      seen_[i].lost = said.lost;
      seen_[i].asked = said.asked;
      seen_[i].is_kept = said.is_kept;
    }
    return seen_;
  }
  ADD_FAILURE() << "replica 0 did not report its fan-outs: " << cluster.first_death();
  return NothingEnded(fan_outs);
}

std::vector<FanOutReport> FanOutRunner::NothingEnded(const std::vector<FanOut>& fan_outs) const {
  FanOutReport nothing;
  nothing.calls.resize(static_cast<std::size_t>(cluster.replicas() - 1));
  return std::vector<FanOutReport>(fan_outs.size(), nothing);
}

std::int64_t FanOutRunner::coroutines() {
  return static_cast<std::int64_t>(UnfinishedCoroutines(cluster.simulator(), 0)) -
         static_cast<std::int64_t>(coroutines_before_);
}

std::uint64_t FanOutRunner::outstanding_calls() {
  return OutstandingCallsOf(cluster.simulator(), 0, Ask::kMethod);
}

void FanOutRunner::OnStep(PeerId replica, const sim::StepInput& input,
                          const sim::StepOutput& output) {
  if (replica != 0) return;
  heap_bytes_ = output.heap_bytes;
  for (const sim::Output& each : output.outputs) {
    const auto* const said = std::get_if<Observation>(&each);
    if (said != nullptr && said->kind == kFanOutMoment) OnMoment(*said, input.now);
  }
}

void FanOutRunner::OnMoment(const Observation& said, Time now) {
  const auto& [fan_out, moment, peer, end] = said.values;
  if (fan_out < first_ || fan_out - first_ >= seen_.size()) return;
  FanOutReport& report = seen_[fan_out - first_];
  const std::int64_t at_ns = (now - begun_).count();
  const auto note = [at_ns](std::int64_t& ns) { ns = ns == kNeverNs ? at_ns : ns; };
  switch (static_cast<Moment>(moment)) {
    case Moment::kBegun:
      begun_ = now;
      break;
    case Moment::kWaited:
      return note(report.waited_ns);
    case Moment::kCalled:
      return note(report.called_ns);
    case Moment::kReturned:
      return note(report.returned_ns);
    case Moment::kEnded:
      return note(report.ended_ns);
    case Moment::kFailed:
      report.failed = true;
      break;
    case Moment::kCall:
      if (peer >= report.calls.size() || report.calls[peer].end != CallReport::End::kNone) return;
      report.calls[peer] = {static_cast<CallReport::End>(end), at_ns};
  }
}

void FanOutRunner::OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time,
                           const Bytes& frame) {
  const bool is_released = stage == sim::FrameStage::kReleased && from == 0;
  const bool has_come = stage == sim::FrameStage::kArrived && to == 0;
  if (!is_released && !has_come) return;
  std::string error;
  const auto decoded = DecodeFrame(*frame, error);
  if (!decoded || decoded->header.method != Ask::kMethod) return;
  if (is_released) ++frames_released_;
  if (has_come && decoded->header.kind != FrameKind::kRequest) ++answers_;
}

void FanOutRunner::ExpectAnswersCame(const std::vector<FanOutReport>& reports) const {
  std::size_t reported = 0;
  for (const FanOutReport& report : reports) {
    reported += static_cast<std::size_t>(std::ranges::count_if(report.calls, [](const auto& call) {
      return call.end == CallReport::End::kAnswered || call.end == CallReport::End::kFailed;
    }));
  }
  if (reported <= answers_) return;
  ADD_FAILURE() << "replica 0 reports " << reported << " answers, and " << answers_ << " have come";
}

}  // namespace depfast::lab4
