// Onset: the facts of a run that has a baseline, a fault and a recovery (document 004, section
// 2.2): latency slice by slice, and new proposers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "depfast/host/random.h"
#include "depfast/peer.h"
#include "depfast/time.h"
#include "sim/simulator.h"
#include "testkit/load.h"

namespace depfast::measure {

struct OnsetResult {
  // In slices of kCompletionsSlot since the window's begin.
  std::int64_t fault_from = 0;
  std::int64_t fault_to = 0;
  // Of the operations that began in each slice, until they took effect, or until the end.
  std::vector<Duration> means;
  // The slices in which another replica began to propose than before.
  std::vector<std::int64_t> new_proposers;
};

class Onset {
 public:
  explicit Onset(sim::Simulator& simulator) : simulator_(simulator) {}

  // The same operation, which is watched.
  testkit::Operation Watch(testkit::Operation operation);
  // Call at each step in the window, which began at `from`.
  void See(const std::vector<PeerId>& proposers, Time from);
  // Of the operations in the window. Requires: window.to <= end.
  std::vector<Duration> MeansAt(const testkit::LoadWindow& window, Time end) const;
  const std::vector<std::int64_t>& new_proposers() const { return new_proposers_; }

 private:
  struct Seen {
    Time begun{0};
    Time effective = kNever;
  };

  sim::Simulator& simulator_;
  std::vector<Seen> operations_;
  PeerId proposer_ = kNobody;
  std::vector<std::int64_t> new_proposers_;
};

// Arrivals whose rate changes: 20, 95, 120 and 20 % of a rate, each for the same time. Must outlive
// the run.
class ChangingLoad {
 public:
  ChangingLoad(sim::Simulator& simulator, testkit::Operation operation, double rate,
               const testkit::LoadWindow& window, RandomStream stream);

  testkit::LoadResult ResultAt(Time end) const { return recorder_.ResultAt(end); }

 private:
  void ScheduleNext();
  Duration IntervalAt(Time when) const;

  sim::Simulator& simulator_;
  const double rate_;
  const testkit::LoadWindow window_;
  RandomStream stream_;
  Time next_;
  testkit::LoadRecorder recorder_;
};

}  // namespace depfast::measure
