// The report of `kit explore`: the scopes of a model, explored in turn.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "testkit/environment.h"

namespace depfast {

// Ends with the first scope in which a state is bad, and fails the test then. `scopes`: each has a
// name and a scope. `explore`: from a scope and the most states to what was explored. `counts`: the
// situations of a coverage that a report names, by name.
template <typename Scopes, typename Explore, typename Counts>
void ReportScopes(const Scopes& scopes, const Explore& explore, const Counts& counts) {
  auto reports = nlohmann::ordered_json::array();
  for (const auto& [name, scope] : scopes) {
    const auto explored = explore(scope, testkit::TheEnvironment().states_max);
    reports.push_back({{"scope", name},
                       {"states", explored.coverage.states},
                       {"complete", explored.complete},
                       {"counts", counts(explored.coverage)},
                       {"violated", explored.violated},
                       {"steps", explored.steps}});
    if (testkit::TheEnvironment().progress) {
      std::printf("explored %zu of %zu scopes\n", reports.size(), scopes.size());
      std::fflush(stdout);
    }
    EXPECT_EQ(explored.violated, "") << name;
    if (!explored.violated.empty()) break;
  }
  testing::Test::RecordProperty("explored", nlohmann::ordered_json{{"scopes", reports}}.dump());
}

}  // namespace depfast
