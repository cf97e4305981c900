// ChangingLoad: arrivals whose rate changes: 20, 95, 120 and 20 % of a rate, each for the same
// time.
#pragma once

#include <utility>

#include "depfast/host/random.h"
#include "depfast/time.h"
#include "sim/simulator.h"
#include "testkit/load.h"

namespace depfast::measure {

// Must outlive the run.
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
