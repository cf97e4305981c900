// Explorer: every schedule of a small world with a few deviations from the default one.
//
// The default schedule is a run without faults. A deviation is one fault at an exact time: a
// message is lost or late, a replica crashes, a replica is cut off. Runs are repeated from the
// start (stateless search; Godefroid, POPL 1997), and the number of deviations is bounded, as the
// number of preemptions is in CHESS (Musuvathi and Qadeer, PLDI 2007). Schedules with fewer
// deviations run first, so the first that fails is a shortest one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "faults/fault.h"

namespace depfast::testkit {

// The most deviations of a schedule: in all, and of each kind.
struct Bound {
  static constexpr int kAnyNumber = std::numeric_limits<int>::max();

  int deviations = 1;
  int losses = kAnyNumber;   // messages that do not arrive: faults of kind kCut
  int delays = kAnyNumber;   // messages that are late: kLate, or kLinkSlow for those behind, too
  int crashes = kAnyNumber;  // kCrash
  int cuts = kAnyNumber;     // replicas that are cut off: kPartition
};

// A deviation that was possible in a run, and a hash of the world's state just before it.
struct Choice {
  faults::Fault deviation;
  std::uint64_t state = 0;
};

struct ExploredRun {
  std::string failure;          // what failed; empty if the run passed
  std::vector<Choice> choices;  // in order of time
  std::uint64_t end_state = 0;
};

// Runs the world under a plan. Two plans that are equal up to some time must have equal runs up to
// that time.
using RunPlan = std::function<ExploredRun(const faults::FaultPlan&)>;

// The states that an exploration has seen so far, or in all.
struct Exploration {
  std::vector<std::int64_t> runs;            // by number of deviations
  std::set<std::uint64_t> states;            // in which a deviation was possible
  std::set<std::uint64_t> end_states;        // of whole runs
  bool complete = true;                      // no schedule within the bound was left out
  std::string failure;                       // of the schedule below
  std::optional<faults::FaultPlan> failing;  // the first that fails, and so a shortest

  std::int64_t all_runs() const;
};

// Called after each run. `planned`: the runs with this run's number of deviations.
using OnProgress = std::function<void(const Exploration& so_far, std::int64_t planned)>;

// Explores up to the first failure, in at most `runs_max` runs. A deviation is left out if the same
// one was tried in an equal state with an equal rest of the bound. The hash decides whether states
// are equal, so parts outside the hash are not explored (world_state.h). The rest of the bound also
// tells a state from the same one after a deviation: a message that was lost and sent again may be
// lost again. Requires: no number in `bound` is negative.
Exploration Explore(const Bound& bound, std::int64_t runs_max, const RunPlan& run,
                    const OnProgress& on_progress = nullptr);

}  // namespace depfast::testkit
