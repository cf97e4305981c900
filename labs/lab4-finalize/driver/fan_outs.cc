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

// Says which moment of a fan-out has come, where the student's code cannot take it back.
void Say(Runtime& runtime, std::size_t fan_out, Moment moment, std::size_t peer = 0,
         CallReport::End end = CallReport::End::kNone) {
  runtime.Observe(
      {kFanOutMoment,
       {fan_out, static_cast<std::uint64_t>(moment), peer, static_cast<std::uint64_t>(end)}});
}

// Says how a call ends. It does not keep the call alive.
class Ending final : public Event {
 public:
  Ending(std::size_t fan_out, std::size_t peer) : fan_out_(fan_out), peer_(peer) {}

  bool IsReady() const override { return has_ended_; }
  const char* Label() const override { return "ending"; }
  std::string Describe() const override { return "the end of a call"; }

 protected:
  void OnChildDecided(Event& child) override {
    if (std::exchange(has_ended_, true)) return;
    CallReport::End end = CallReport::End::kAnswered;
    if (!child.IsReady()) {
      const bool released = dynamic_cast<const RpcCall&>(child).error() == RpcError::kReleased;
      end = released ? CallReport::End::kReleased : CallReport::End::kFailed;
    }
    Say(runtime(), fan_out_, Moment::kCall, peer_, end);
  }

 private:
  const std::size_t fan_out_;
  const std::size_t peer_;
  bool has_ended_ = false;
};

// One fan-out under way. Its coroutine keeps it alive.
class Running {
 public:
  Running(Runtime& runtime, std::size_t number, const FanOut& plan, Time start)
      : runtime_(runtime), number_(number), plan_(plan), start_(start) {}

  // Runs in a coroutine of its own. The calls have no owner here once Finalize has returned.
  void Run() {
    const Duration until = start_ + Duration(plan_.at_ns) - runtime_.Now();
    if (until > Duration::zero()) runtime_.Sleep(until);
    const std::shared_ptr<Event> ended = FanOutAndWait();
    if (plan_.forgets) return;
    Say(ended->Wait() == Outcome::kReady ? Moment::kEnded : Moment::kFailed);
  }

  FanOutReport Report() {
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
      endings_.push_back(std::make_shared<Ending>(number_, endings_.size()));
      call->NotifyOnDecision(endings_.back());
    }
    kept_ = quorum;
    if (!plan_.forgets) quorum_ = quorum;
    std::shared_ptr<Event> ended;
    if (plan_.finalize_first) ended = CallFinalize(quorum, round);
    quorum->Wait(Duration(plan_.wait_ns));
    Say(Moment::kWaited);
    if (!plan_.finalize_first) ended = CallFinalize(quorum, round);
    return ended;
  }

  std::shared_ptr<Event> CallFinalize(const std::shared_ptr<QuorumEvent>& quorum,
                                      const Broadcast<Ask>& round) {
    Say(Moment::kCalled);
    auto ended = depfast::Finalize(quorum, round, Duration(plan_.grace_ns));
    Say(Moment::kReturned);
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

  void Say(Moment moment) { lab4::Say(runtime_, number_, moment); }

  Runtime& runtime_;
  const std::size_t number_;
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
  Say(runtime, request.first, Moment::kBegun);
  for (const FanOut& plan : request.fan_outs) {
    all.push_back(
        std::make_shared<Running>(runtime, request.first + all.size(), plan, runtime.Now()));
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
