#include "testkit/explorer.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>
#include <tuple>
#include <utility>

#include "depfast/host/random.h"

namespace depfast::testkit {
namespace {

using faults::Fault;
using faults::FaultPlan;

// Deviations that a schedule may still have: in all, then by kind.
using Left = std::array<int, 5>;

std::size_t PlaceOf(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::kCut:
      return 1;
    case Fault::Kind::kLate:
    case Fault::Kind::kLinkSlow:
      return 2;
    case Fault::Kind::kCrash:
      return 3;
    default:
      assert(kind == Fault::Kind::kPartition);
      return 4;
  }
}

// Nothing if the plan is not within the bound.
std::optional<Left> LeftAfter(const Bound& bound, const FaultPlan& plan) {
  Left left = {bound.deviations, bound.losses, bound.delays, bound.crashes, bound.cuts};
  for (const Fault& deviation : plan) {
    if (--left[0] < 0 || --left[PlaceOf(deviation.kind)] < 0) return std::nullopt;
  }
  return left;
}

// A total order, so that each set of deviations makes one plan.
bool ComesAfter(const Fault& a, const Fault& b) {
  const auto key = [](const Fault& f) {
    return std::tuple(f.start, f.kind, f.replicas, f.receivers, f.amount, f.duration);
  };
  return key(a) > key(b);
}

// A key of the state, the deviation that is tried in it at any time, and the rest of the bound
// then.
std::uint64_t KeyOf(const Choice& choice, const Left& left) {
  std::uint64_t key = RandomStream::Mix(choice.state);
  const auto mix = [&key](std::int64_t value) {
    key = RandomStream::Mix(key + static_cast<std::uint64_t>(value) + 1);
  };
  const Fault& deviation = choice.deviation;
  mix(static_cast<std::int64_t>(deviation.kind));
  for (const PeerId id : deviation.replicas) mix(id);
  mix(-1);
  for (const PeerId id : deviation.receivers) mix(id);
  mix(deviation.amount);
  mix(deviation.duration.count());
  for (const int number : left) mix(number);
  return key;
}

class Explorer {
 public:
  Explorer(const Bound& bound, std::int64_t runs_max, const RunPlan& run,
           const OnProgress& on_progress)
      : bound_(bound), runs_max_(runs_max), run_(run), on_progress_(on_progress) {}

  Exploration Result() {
    std::vector<FaultPlan> plans(1);
    while (!plans.empty() && !IsOver()) {
      done_.runs.push_back(0);
      plans = RunAll(plans);
    }
    return std::move(done_);
  }

 private:
  bool IsOver() const { return done_.failing.has_value() || !done_.complete; }

  // Returns the plans with one deviation more.
  std::vector<FaultPlan> RunAll(const std::vector<FaultPlan>& plans) {
    std::vector<FaultPlan> longer;
    for (const FaultPlan& plan : plans) {
      if (done_.all_runs() == runs_max_) {
        done_.complete = false;
        break;
      }
      const ExploredRun run = run_(plan);
      ++done_.runs.back();
      done_.end_states.insert(run.end_state);
      if (!run.failure.empty()) {
        done_.failing = plan;
        done_.failure = run.failure;
      }
      AddLonger(plan, run.choices, longer);
      if (on_progress_) on_progress_(done_, static_cast<std::int64_t>(plans.size()));
      if (IsOver()) break;
    }
    return longer;
  }

  void AddLonger(const FaultPlan& plan, const std::vector<Choice>& choices,
                 std::vector<FaultPlan>& longer) {
    for (const Choice& choice : choices) {
      if (!plan.empty() && !ComesAfter(choice.deviation, plan.back())) continue;
      done_.states.insert(choice.state);
      FaultPlan next = plan;
      next.push_back(choice.deviation);
      const auto left = LeftAfter(bound_, next);
      if (left && tried_.insert(KeyOf(choice, *left)).second) longer.push_back(std::move(next));
    }
  }

  const Bound bound_;
  const std::int64_t runs_max_;
  const RunPlan& run_;
  const OnProgress& on_progress_;
  Exploration done_;
  std::set<std::uint64_t> tried_;  // KeyOf
};

}  // namespace

std::int64_t Exploration::all_runs() const {
  return std::accumulate(runs.begin(), runs.end(), std::int64_t{0});
}

Exploration Explore(const Bound& bound, std::int64_t runs_max, const RunPlan& run,
                    const OnProgress& on_progress) {
  assert(LeftAfter(bound, {}).has_value() && runs_max >= 0);
  return Explorer(bound, runs_max, run, on_progress).Result();
}

}  // namespace depfast::testkit
