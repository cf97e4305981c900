// Hidden tests: the rules in all runs of small clusters. The exploration is in the test's process;
// it asks a replica what the rules say.
#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "asked_rules.h"
#include "saucr_model.h"
#include "saucr_scopes.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

// The most states of a scope that a test explores: the nearest ones.
constexpr std::size_t kStatesMax = 150'000;

void ExpectSafe(const NamedScope& named, const Rules& rules) {
  const Explored explored = Explore(named.scope, rules, kStatesMax);
  std::string steps;
  for (const std::string& step : explored.steps) steps += "\n  " + step;
  EXPECT_EQ(explored.violated, "") << named.name << ", after:" << steps;
  EXPECT_GT(explored.coverage.states, 100U) << named.name;
}

// Ends with the first scope that is not safe.
void ExpectSafe(const std::vector<NamedScope>& scopes) {
  AskedRules rules;
  for (const NamedScope& each : scopes) {
    try {
      ExpectSafe(each, rules.All());
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

}  // namespace
}  // namespace depfast::saucr
