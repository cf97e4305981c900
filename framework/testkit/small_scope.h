// A small scope, explored by a test: every schedule of a scenario with a few deviations.
//
//   ExploreScope({.bound = {.deviations = 2}, .runs_max = 500}, [](ScopedRun& run) {
//     World world({.replicas = 3, .seed = 7});
//     run.Begin(world.cluster.simulator(), deviations);
//     ASSERT_TRUE(world.Commit(2));
//     run.Saw("a leader deposed", world.depositions() > 0);
//     ASSERT_TRUE(world.AllInvariantsHold());
//   });
//
// Runs are dry runs (dry_run.h). The last one is performed: the shortest schedule that fails, if
// one does, else the default one. With --schedule=FILE only that schedule is performed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "faults/fault.h"
#include "sim/simulator.h"
#include "testkit/choice_points.h"
#include "testkit/explorer.h"

namespace depfast::testkit {

// One run of a scenario.
class ScopedRun {
 public:
  explicit ScopedRun(const faults::FaultPlan& plan) : plan_(plan) {}

  // From now on the world follows the plan. Requires: called once, before the first event of
  // `simulator`; the run outlives it.
  void Begin(sim::Simulator& simulator, const Deviations& deviations);
  // When the last fault of the plan ends; zero if there is none.
  Time last_end() const;

  // Counts the situation if it has happened. Call it in each run: then a situation that never
  // happens is listed, too.
  void Saw(const std::string& situation, bool has_happened);

  // The run is over: takes down its possible deviations and its end state. Called while the
  // simulator is alive. A run that fails before may leave it out.
  void End();

  const std::map<std::string, bool>& situations() const { return situations_; }
  // The result of a run that has ended; without its failure.
  const ExploredRun& result() const { return result_; }

 private:
  const faults::FaultPlan plan_;
  std::optional<ChoicePoints> choice_points_;
  std::map<std::string, bool> situations_;
  ExploredRun result_;
};

struct ScopeOptions {
  Bound bound;
  std::int64_t runs_max = 0;
};

struct ScopeResult {
  Exploration exploration;
  std::map<std::string, std::int64_t> situations;  // the number of runs with each
};

// A scenario makes its own world, and keeps nothing from one run to the next. It may use the
// assertions of GoogleTest.
using ScopedScenario = std::function<void(ScopedRun& run)>;

// Explores, performs, and records the result as the property "explored" of the running test: JSON.
ScopeResult ExploreScope(const ScopeOptions& options, const ScopedScenario& scenario);

}  // namespace depfast::testkit
