#include "testkit/chaos.h"

#include <gtest/gtest.h>

#include <string>

#include "testkit/environment.h"
#include "testkit/rehearsal.h"

namespace depfast::testkit {
namespace {

RunEnd RehearseSchedule(const Schedule& schedule, const Scenario& scenario) {
  Chaos chaos(schedule);
  const std::string failure = Rehearse([&] { scenario(chaos); });
  return {failure, chaos.commands_started()};
}

void Perform(const Schedule& schedule, const Scenario& scenario) {
  Chaos chaos(schedule);
  scenario(chaos);
}

}  // namespace

bool Chaos::MayStartCommand() {
  if (started_ >= schedule_.commands) return false;
  ++started_;
  return true;
}

void RunChaos(const Schedule& schedule, const Scenario& scenario) {
  testing::Test::RecordProperty("shrinks", "yes");
  const int runs_max = TheEnvironment().shrink;
  const RunEnd first = runs_max > 0 ? RehearseSchedule(schedule, scenario) : RunEnd{};
  if (first.failure.empty()) {
    Perform(schedule, scenario);
    return;
  }
  const Shrunk shrunk = Shrink(schedule, first, runs_max, [&](const Schedule& candidate) {
    return RehearseSchedule(candidate, scenario);
  });
  SCOPED_TRACE("The shortest schedule that fails so, found in " + std::to_string(shrunk.runs) +
               " runs: " + shrunk.schedule.Describe());
  Perform(shrunk.schedule, scenario);
  EXPECT_TRUE(testing::Test::HasFailure())
      << first.failure << ": the failure does not repeat: the replicas are not deterministic";
}

}  // namespace depfast::testkit
