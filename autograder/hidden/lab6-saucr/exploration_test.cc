// Hidden tests: the rules in all runs of small clusters. The exploration is in the test's process;
// it asks a replica what the rules say.
#include <gtest/gtest.h>

#include <cstddef>
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

void ExpectSafe(const std::vector<NamedScope>& scopes) {
  AskedRules rules;
  for (const auto& [name, scope] : scopes) {
    const Explored explored = Explore(scope, rules.All(), kStatesMax);
    std::string steps;
    for (const std::string& step : explored.steps) steps += "\n  " + step;
    EXPECT_EQ(explored.violated, "") << name << ", after:" << steps;
    EXPECT_GT(explored.coverage.states, 100U) << name;
    if (!explored.violated.empty()) return;
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
