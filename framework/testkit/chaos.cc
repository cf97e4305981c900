#include "testkit/chaos.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "testkit/child_process.h"
#include "testkit/dry_run.h"
#include "testkit/environment.h"

namespace depfast::testkit {
namespace {

// The failure of a schedule that ends the process. There is no later word of it.
constexpr std::string_view kProcessEnds = "the process ends";

// The result that a dry run leaves, also if it ends its process.
struct Board {
  std::int64_t commands = 0;
  std::array<char, 1024> failure{};  // ends with a zero
};

// In a process of its own: a replica in simulation is a part of the process that it crashes.
RunEnd DryRunOf(const Schedule& schedule, const Scenario& scenario) {
  const SharedWithChild<Board> board;
  const int status = RunInChild([&] {
    Chaos chaos(schedule, board->commands);
    const std::string failure = DryRun([&] { scenario(chaos); });
    failure.copy(board->failure.data(), board->failure.size() - 1);
  });
  if (status != 0) return {std::string(kProcessEnds), board->commands};
  return {board->failure.data(), board->commands};
}

void Perform(const Schedule& schedule, const Scenario& scenario) {
  std::int64_t commands = 0;
  Chaos chaos(schedule, commands);
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
  const RunEnd first = runs_max > 0 ? DryRunOf(schedule, scenario) : RunEnd{};
  if (first.failure.empty()) {
    Perform(schedule, scenario);
    return;
  }
  const Shrunk shrunk = Shrink(schedule, first, runs_max, [&](const Schedule& candidate) {
    return DryRunOf(candidate, scenario);
  });
  const std::string shortest = "The shortest schedule that fails so, found in " +
                               std::to_string(shrunk.runs) + " runs: " + shrunk.schedule.Describe();
  if (first.failure == kProcessEnds) std::fprintf(stderr, "%s\n", shortest.c_str());
  SCOPED_TRACE(shortest);
  Perform(shrunk.schedule, scenario);
  EXPECT_TRUE(testing::Test::HasFailure())
      << first.failure << ": the failure does not repeat: the replicas are not deterministic";
}

}  // namespace depfast::testkit
