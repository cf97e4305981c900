#include "testkit/small_scope.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <fstream>
#include <utility>

#include "faults/text.h"
#include "testkit/dry_run.h"
#include "testkit/environment.h"
#include "testkit/json.h"

namespace depfast::testkit {
namespace {

std::string InWords(const faults::Fault& deviation) {
  const std::string replica = std::to_string(deviation.replicas.front());
  if (deviation.kind == faults::Fault::Kind::kCrash) return "replica " + replica + " crashes";
  if (deviation.kind == faults::Fault::Kind::kPartition)
    return "replica " + replica + " is cut off";
  const std::string message =
      "a message from " + replica + " to " + std::to_string(deviation.receivers.front());
  if (deviation.kind == faults::Fault::Kind::kCut) return message + " is lost";
  if (deviation.kind == faults::Fault::Kind::kLate) return message + " is late, and overtaken";
  return message + " is late, and those behind it wait";
}

// A plan that ParsePlan reads, with a comment for each deviation.
std::string PrintSchedule(const faults::FaultPlan& plan) {
  std::string text;
  for (const faults::Fault& deviation : plan) {
    text += "# " + InWords(deviation) + "\n" + faults::Print(deviation) + "\n";
  }
  return text;
}

std::string Json(const ScopeResult& result) {
  const Exploration& explored = result.exploration;
  std::string runs;
  for (const std::int64_t count : explored.runs) {
    runs += (runs.empty() ? "" : ",") + std::to_string(count);
  }
  return "{\"runs\":[" + runs + "],\"states\":" + std::to_string(explored.states.size()) +
         ",\"complete\":" + (explored.complete ? "true" : "false") +
         ",\"situations\":" + JsonObject(result.situations) + "}";
}

// For a run that ends the process: its schedule is the one in the file.
void WriteUnderWay(const faults::FaultPlan& plan) {
  const std::string& file = TheEnvironment().under_way;
  if (!file.empty()) std::ofstream(file) << PrintSchedule(plan);
}

ExploredRun DryRunOf(const faults::FaultPlan& plan, const ScopedScenario& scenario,
                     std::map<std::string, std::int64_t>& situations) {
  WriteUnderWay(plan);
  ScopedRun run(plan);
  const std::string failure = DryRun([&] { scenario(run); });
  for (const auto& [name, has_happened] : run.situations()) {
    situations[name] += has_happened ? 1 : 0;
  }
  ExploredRun result = run.result();
  result.failure = failure;
  return result;
}

void PrintProgress(const Exploration& so_far, std::int64_t planned) {
  std::printf("explored %lld of %lld with %zu deviations\n",
              static_cast<long long>(so_far.runs.back()), static_cast<long long>(planned),
              so_far.runs.size() - 1);
  std::fflush(stdout);
}

void Perform(const faults::FaultPlan& plan, const ScopedScenario& scenario) {
  ScopedRun run(plan);
  scenario(run);
}

}  // namespace

void ScopedRun::Begin(sim::Simulator& simulator, const Deviations& deviations) {
  assert(!choice_points_ && "once");
  choice_points_.emplace(simulator, deviations);
  simulator.Schedule(plan_);
}

Time ScopedRun::last_end() const {
  Time last{0};
  for (const faults::Fault& fault : plan_) last = std::max(last, fault.end());
  return last;
}

void ScopedRun::Saw(const std::string& situation, bool has_happened) {
  bool& seen = situations_[situation];
  seen = seen || has_happened;
}

void ScopedRun::End() { result_ = {"", choice_points_->choices(), choice_points_->state()}; }

ScopeResult ExploreScope(const ScopeOptions& options, const ScopedScenario& scenario) {
  ScopeResult result;
  if (const auto& schedule = TheEnvironment().schedule) {
    Perform(*schedule, scenario);
    return result;
  }
  Exploration& explored = result.exploration;
  explored = Explore(
      options.bound, options.runs_max,
      [&](const faults::FaultPlan& plan) { return DryRunOf(plan, scenario, result.situations); },
      TheEnvironment().progress ? PrintProgress : OnProgress());
  testing::Test::RecordProperty("explored", Json(result));
  if (!explored.failing) {
    Perform({}, scenario);
    return result;
  }
  SCOPED_TRACE("The shortest schedule that fails, found in " + std::to_string(explored.all_runs()) +
               " runs:\n" + PrintSchedule(*explored.failing));
  Perform(*explored.failing, scenario);
  EXPECT_TRUE(testing::Test::HasFailure())
      << explored.failure << ": the failure does not repeat: the replicas are not deterministic";
  return result;
}

}  // namespace depfast::testkit
