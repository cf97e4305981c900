#include "fan_outs.h"

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "depfast/broadcast.h"
#include "depfast/value_event.h"
#include "finalize.h"
#include "quorum_event.h"

namespace depfast::lab4 {
namespace {

// Notes how and when a call ends. It does not keep the call alive.
class Ending final : public Event {
 public:
  explicit Ending(Time start) : start_(start) {}

  const CallReport& report() const { return report_; }

  bool IsReady() const override { return report_.end != CallReport::End::kNone; }
  const char* Label() const override { return "ending"; }
  std::string Describe() const override { return "the end of a call"; }

 protected:
  void OnChildDecided(Event& child) override {
    if (IsReady()) return;
    report_.at_ns = (runtime().Now() - start_).count();
    report_.end = CallReport::End::kAnswered;
    if (child.IsReady()) return;
    const bool released = dynamic_cast<const RpcCall&>(child).error() == RpcError::kReleased;
    report_.end = released ? CallReport::End::kReleased : CallReport::End::kFailed;
  }

 private:
  const Time start_;
  CallReport report_;
};

// One fan-out under way. Its coroutine keeps it alive.
class Running {
 public:
  Running(Runtime& runtime, const FanOut& plan, Time start)
      : runtime_(runtime), plan_(plan), start_(start) {}

  // Runs in a coroutine of its own. The calls have no owner here once Finalize has returned.
  void Run() {
    const Duration until = start_ + Duration(plan_.at_ns) - runtime_.Now();
    if (until > Duration::zero()) runtime_.Sleep(until);
    const std::shared_ptr<Event> ended = FanOutAndWait();
    if (plan_.forgets) return;
    if (ended->Wait() == Outcome::kReady) {
      report_.ended_ns = Elapsed();
    } else {
      report_.failed = true;
    }
  }

  FanOutReport Report() {
    for (const auto& ending : endings_) report_.calls.push_back(ending->report());
    if (quorum_ != nullptr) {
      report_.yes = quorum_->yes();
      report_.no = quorum_->no();
      report_.lost = quorum_->lost();
    }
    report_.asked = *asked_;
    quorum_ = nullptr;
    report_.is_kept = !kept_.expired();
    return report_;
  }

 private:
  std::shared_ptr<Event> FanOutAndWait() {
    const Broadcast<Ask> round(runtime_.rpc(), runtime_.peers(), Request());
    const auto quorum =
        std::make_shared<QuorumEvent>(plan_.needed, static_cast<int>(runtime_.peers().size()));
    for (const auto& call : round.calls()) {
      quorum->Add(call, [asked = asked_, &answered = *call] {
        ++*asked;
        return answered.reply().yes;
      });
      endings_.push_back(std::make_shared<Ending>(start_));
      call->NotifyOnDecision(endings_.back());
    }
    kept_ = quorum;
    if (!plan_.forgets) quorum_ = quorum;
    std::shared_ptr<Event> ended;
    if (plan_.finalize_first) ended = CallFinalize(quorum, round);
    quorum->Wait(Duration(plan_.wait_ns));
    report_.waited_ns = Elapsed();
    if (!plan_.finalize_first) ended = CallFinalize(quorum, round);
    return ended;
  }

  std::shared_ptr<Event> CallFinalize(const std::shared_ptr<QuorumEvent>& quorum,
                                      const Broadcast<Ask>& round) {
    report_.called_ns = Elapsed();
    auto ended = depfast::Finalize(quorum, round, Duration(plan_.grace_ns));
    report_.returned_ns = Elapsed();
    if (ended == nullptr) throw std::runtime_error("Finalize returned no event");
    return ended;
  }

  Ask Request() const {
    Ask ask;
    ask.plan.resize(static_cast<std::size_t>(runtime_.replicas()));
    for (std::size_t i = 0; i < plan_.plan.size() && i < runtime_.peers().size(); ++i) {
      ask.plan[static_cast<std::size_t>(runtime_.peers()[i])] = plan_.plan[i];
    }
    ask.payload.assign(plan_.payload, 'x');
    return ask;
  }

  std::int64_t Elapsed() const { return (runtime_.Now() - start_).count(); }

  Runtime& runtime_;
  const FanOut plan_;
  const Time start_;
  FanOutReport report_;
  std::vector<std::shared_ptr<Ending>> endings_;  // by peer, ascending
  std::shared_ptr<QuorumEvent> quorum_;           // null if the plan forgets it
  std::weak_ptr<QuorumEvent> kept_;
  // A quorum that is kept too long may outlive this.
  std::shared_ptr<std::int32_t> asked_ = std::make_shared<std::int32_t>(0);
};

}  // namespace

FanOutReports Perform(Runtime& runtime, const RunFanOuts& request) {
  std::vector<std::shared_ptr<Running>> all;
  for (const FanOut& plan : request.fan_outs) {
    all.push_back(std::make_shared<Running>(runtime, plan, runtime.Now()));
    runtime.Spawn("fan-out", [running = all.back()] { running->Run(); });
  }
  runtime.Sleep(Duration(request.end_ns));
  FanOutReports reports;
  for (const auto& running : all) reports.fan_outs.push_back(running->Report());
  return reports;
}

Answer Serve(Runtime& runtime, const Ask& ask) {
  const auto self = static_cast<std::size_t>(runtime.self());
  const PeerPlan plan = self < ask.plan.size() ? ask.plan[self] : PeerPlan{};
  runtime.Sleep(Duration(plan.delay_ns));
  if (plan.answer == PeerPlan::Answer::kNothing) std::make_shared<IntEvent>("never", 1)->Wait();
  if (plan.answer == PeerPlan::Answer::kError) throw std::runtime_error("as planned");
  return {plan.answer == PeerPlan::Answer::kYes};
}

}  // namespace depfast::lab4
