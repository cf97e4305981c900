#include "testkit/choice_points.h"

#include <utility>

namespace depfast::testkit {
namespace {

constexpr Duration kInstant{1};

bool IsFirst(std::map<std::pair<PeerId, PeerId>, Time>& latest,
             const std::pair<PeerId, PeerId>& way, Time now) {
  const auto [found, is_new] = latest.try_emplace(way, now);
  return is_new || std::exchange(found->second, now) != now;
}

// `this` is registered before the member that follows it.
sim::Simulator& WatchedBy(sim::Simulator& simulator, sim::Observer* observer) {
  simulator.AddObserver(observer);
  return simulator;
}

}  // namespace

ChoicePoints::ChoicePoints(sim::Simulator& simulator, const Deviations& deviations)
    : deviations_(deviations), state_(WatchedBy(simulator, this)) {}

void ChoicePoints::CatchUp(Time now) {
  for (const Moment& moment : moments_) {
    if (moment.when >= now) continue;
    const std::uint64_t state = state_.Hash();
    const Time after = moment.when + kInstant;
    for (const Duration time : deviations_.downtimes) {
      Add(faults::CrashFault({moment.replica}).From(after).For(time), state);
    }
    if (!moment.after_outputs) continue;
    for (const Duration time : deviations_.cuts) {
      Add(faults::PartitionFault({moment.replica}).From(after).For(time), state);
    }
  }
  std::erase_if(moments_, [now](const Moment& moment) { return moment.when < now; });
}

void ChoicePoints::OnStep(PeerId, const sim::StepInput& input, const sim::StepOutput&) {
  CatchUp(input.now);
}

void ChoicePoints::OnOutputsLeave(PeerId replica, Time now, const std::vector<sim::Output>&) {
  CatchUp(now);
  if (begun_) moments_.push_back({replica, now, true});
}

void ChoicePoints::OnDisk(PeerId replica, Time now, const sim::SimDisk&) {
  CatchUp(now);
  if (begun_) moments_.push_back({replica, now, false});
}

void ChoicePoints::OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time now, const Bytes&) {
  CatchUp(now);
  if (from >= kFirstClient || to >= kFirstClient || from == to) return;
  if (stage == sim::FrameStage::kQueued) {
    begun_ = true;
    if (!IsFirst(last_sent_, {from, to}, now)) return;
    const std::uint64_t state = state_.Hash();
    for (const Duration delay : deviations_.delays) {
      Add(faults::LateFault({from}, {to}, delay).From(now).For(kInstant), state);
    }
    for (const Duration delay : deviations_.stalls) {
      Add(faults::LinkSlow({from}, {to}, delay).From(now).For(kInstant), state);
    }
  } else if (stage == sim::FrameStage::kArrived && IsFirst(last_arrived_, {from, to}, now)) {
    Add(faults::CutFault({from}, {to}).From(now).For(kInstant), state_.Hash());
  }
}

}  // namespace depfast::testkit
