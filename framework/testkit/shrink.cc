#include "testkit/shrink.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <optional>
#include <utility>

#include "faults/text.h"

namespace depfast::testkit {
namespace {

// A majority of fewer replicas than three survives no fault at all.
constexpr int kReplicasMin = 3;

std::string Counted(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// The plan without the faults that name a replica that is not there.
faults::FaultPlan PlanAmong(int replicas, const faults::FaultPlan& plan) {
  faults::FaultPlan kept;
  for (const faults::Fault& fault : plan) {
    const auto exists = [replicas](PeerId id) { return id < replicas; };
    if (std::ranges::all_of(fault.replicas, exists) &&
        std::ranges::all_of(fault.receivers, exists)) {
      kept.push_back(fault);
    }
  }
  return kept;
}

class Shrinker {
 public:
  Shrinker(const Schedule& failing, const RunEnd& first, int runs_max, const RunSchedule& run)
      : best_(failing),
        commands_(first.commands),
        failure_(first.failure),
        run_(run),
        runs_max_(runs_max),
        left_(runs_max) {}

  Shrunk Result() {
    // A schedule with fewer commands may need fewer faults, and the other way round.
    for (std::optional<Schedule> before; left_ > 0 && before != best_;) {
      before = best_;
      TryFewerReplicas();
      RemoveFaults();
      RemoveCommands();
    }
    return {best_, runs_max_ - left_};
  }

 private:
  // Runs a candidate, and keeps it if it fails in the same way.
  bool Try(const Schedule& candidate) {
    if (left_ == 0) return false;
    --left_;
    const RunEnd end = run_(candidate);
    if (end.failure != failure_) return false;
    best_ = candidate;
    commands_ = end.commands;
    return true;
  }

  void TryFewerReplicas() {
    // Two at a time: the same minority, less one, may fail.
    for (int replicas = best_.replicas - 2; replicas >= kReplicasMin; replicas -= 2) {
      Schedule candidate = best_;
      candidate.replicas = replicas;
      candidate.plan = PlanAmong(replicas, best_.plan);
      if (!Try(candidate)) return;
    }
  }

  // Leaves out runs of faults: the half, then quarters, then single ones, until none can go.
  void RemoveFaults() {
    for (std::size_t size = (best_.plan.size() + 1) / 2; size > 0; size = (size + 1) / 2) {
      const bool removed = RemoveRunsOf(size);
      if (size == 1 && !removed) return;
    }
  }

  bool RemoveRunsOf(std::size_t size) {
    bool removed = false;
    for (std::size_t at = 0; at < best_.plan.size();) {
      Schedule candidate = best_;
      const auto begin = candidate.plan.begin() + static_cast<std::ptrdiff_t>(at);
      const std::size_t count = std::min(size, candidate.plan.size() - at);
      candidate.plan.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
      if (Try(candidate)) {
        removed = true;
      } else {
        at += size;
      }
    }
    return removed;
  }

  // Bisection for a number of commands that is enough: the last ones are left out.
  void RemoveCommands() {
    std::int64_t too_few = -1;
    std::int64_t enough = std::min(best_.commands, commands_);
    while (left_ > 0 && too_few + 1 < enough) {
      Schedule candidate = best_;
      candidate.commands = too_few + (enough - too_few) / 2;
      (Try(candidate) ? enough : too_few) = candidate.commands;
    }
  }

  Schedule best_;
  std::int64_t commands_;  // started in the run of best_
  const std::string failure_;
  const RunSchedule& run_;
  const int runs_max_;
  int left_;  // of runs_max_
};

}  // namespace

std::string Schedule::Describe() const {
  std::string text = Counted(replicas, "replica") + ", " +
                     Counted(static_cast<std::int64_t>(plan.size()), "fault");
  if (commands != kAnyNumber) text += ", " + Counted(commands, "command");
  for (const faults::Fault& fault : plan) text += "\n  " + faults::Print(fault);
  return text;
}

Shrunk Shrink(const Schedule& failing, const RunEnd& first, int runs_max, const RunSchedule& run) {
  assert(!first.failure.empty() && runs_max >= 0);
  return Shrinker(failing, first, runs_max, run).Result();
}

}  // namespace depfast::testkit
