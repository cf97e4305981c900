// Hidden tests: the rules in all runs of small clusters, and a small world under every schedule
// with a few deviations. The exploration of rules is in the test's process; it asks a replica what
// they say.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "asked_rules.h"
#include "safety.h"
#include "saucr_model.h"
#include "saucr_scopes.h"
#include "saucr_world.h"
#include "testkit/environment.h"
#include "testkit/small_scope.h"

namespace depfast::saucr {
namespace {

// The most states of a scope that a test explores: the nearest ones. The runs W1 to W22 of the
// handout are among them, but for W20.
constexpr std::size_t kStatesMax = 120'000;

void ExpectSafe(const NamedScope& named, const Rules& rules) {
  const Explored explored = Explore(named.scope, rules, kStatesMax);
  EXPECT_EQ(explored.violated, "")
      << Unsafe(Safety::kAcknowledgedIsKept) << named.name << ": " << explored.InWords();
  EXPECT_GT(explored.coverage.states, 100U) << named.name;
}

// Ends with the first scope that is not safe.
void ExpectSafe(const std::vector<NamedScope>& scopes) {
  AskedRules rules;
  for (const NamedScope& each : scopes) {
    try {
      ExpectSafe(each, rules);
    } catch (const std::invalid_argument& error) {
      ADD_FAILURE() << each.name << ": by these rules another step comes first: " << error.what();
    }
    if (testing::Test::HasFailure()) return;
  }
}

GRADED_TEST(Exploration, ThreeReplicas, "6c", 1,
            "In no run of three replicas that crash, start and elect does a leader lack a "
            "committed entry.") {
  ExpectSafe(ScopesOfThree());
}

GRADED_TEST(Exploration, FiveReplicas, "6c", 1,
            "In no run of five replicas that crash, start and elect does a leader lack a committed "
            "entry.") {
  ExpectSafe(ScopesOfFive());
}

// Three replicas commit in fast mode, and in slow mode while one of them is away. When the last
// fault is over, a command commits, and all replicas apply it.
void RunScope(testkit::ScopedRun& run) {
  constexpr Duration kUnnoticed = 5ms, kNoticed = 100ms, kPatience = 6s;
  SaucrWorld world({.replicas = 3, .seed = 1601});
  run.Begin(world.cluster.simulator(),
            {.delays = {kNoticed}, .stalls = {}, .downtimes = {kUnnoticed}, .cuts = {}});
  const Time calm = run.last_end();
  ASSERT_NE(world.WaitForProposer(calm + kPatience), kNobody);
  world.cluster.RunUntil([&] { return world.checker.IsFast(); }, kNoticed);
  world.SubmitOne();
  world.cluster.RunFor(1ms);
  const auto away = faults::PartitionFault({world.Followers().back()});
  world.cluster.Begin(away);
  world.SubmitOne();
  world.cluster.RunFor(60ms);
  world.cluster.End(away);
  if (calm > world.cluster.now()) world.cluster.RunFor(calm - world.cluster.now());
  ASSERT_TRUE(world.Commit(1, kPatience)) << "nothing commits within 6 s after the last fault";
  ASSERT_TRUE(world.WaitForAllApplied()) << "a replica does not catch up";
  run.Saw("entries of fast mode", world.checker.coverage().fast > 0);
  run.Saw("a replica that has lost entries", world.checker.coverage().recoveries > 0);
  run.End();
}

GRADED_TEST(SaucrScope, EverySchedule, "6d", 1,
            "No crash and no late message, at any moment, breaks a rule, or ends the service.") {
  // One deviation. `kit check --full` has two (kit.py of this lab).
  testkit::Bound bound = testkit::TheEnvironment().bound;
  bound.losses = 0;
  // Twice the reference's runs: a submission that sends more messages needs more.
  std::int64_t runs_max = 1;
  for (int i = 0; i < bound.deviations; ++i) runs_max *= 300;
  testkit::ExploreScope({.bound = bound, .runs_max = runs_max}, RunScope);
}

}  // namespace
}  // namespace depfast::saucr
