// Makes a failing schedule small: delta debugging (Zeller and Hildebrandt, TSE 2002) by running it
// again.
//
// A plan is an explicit list of faults, so the removal of one changes no other, and a run is a
// function of the schedule and the seed. A smaller schedule counts only if it fails in the same
// way: another failure may have another cause.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "faults/fault.h"

namespace depfast::testkit {

// The inputs of a chaos test that may be left out without making the test wrong.
struct Schedule {
  static constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();

  int replicas = 3;
  faults::FaultPlan plan;
  // The clients start no more commands than that.
  std::int64_t commands = kAnyNumber;

  // "3 replicas, 2 faults, 12 commands", then a line for each fault (faults::Print).
  std::string Describe() const;

  bool operator==(const Schedule&) const = default;
};

// The end of a run of a schedule.
struct RunEnd {
  // The failure: the violated invariant, or the place of the failed assertion. Empty if it passed.
  std::string failure;
  std::int64_t commands = 0;  // started by the clients
};

// Runs a schedule. The same schedule must end in the same way each time.
using RunSchedule = std::function<RunEnd(const Schedule&)>;

struct Shrunk {
  Schedule schedule;  // fails as the first one did
  int runs = 0;
};

// A schedule that fails as `failing` does, with fewer replicas, faults and commands: the smallest
// that at most `runs_max` runs found. `first` is the end of the run of `failing`.
// Requires: first.failure is not empty, runs_max >= 0.
Shrunk Shrink(const Schedule& failing, const RunEnd& first, int runs_max, const RunSchedule& run);

}  // namespace depfast::testkit
