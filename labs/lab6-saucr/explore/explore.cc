// The program of `kit explore lab6`. It calls the rules that it is linked with. Its test has no
// points.
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "saucr_model.h"
#include "saucr_scopes.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

nlohmann::ordered_json Report(const NamedScope& named, const Explored& explored) {
  const auto& coverage = explored.coverage;
  const nlohmann::ordered_json counts = {{"fast commits", coverage.fast_commits},
                                         {"slow commits", coverage.slow_commits},
                                         {"LLEs recovered", coverage.recoveries},
                                         {"logs taken", coverage.data_taken},
                                         {"LLEs given up", coverage.cuts}};
  return {{"scope", named.name}, {"states", coverage.states},     {"complete", explored.complete},
          {"counts", counts},    {"violated", explored.violated}, {"steps", explored.steps}};
}

GRADED_TEST(SaucrScopes, EveryRun, "6d", 0,
            "SAUCR's rules are correct in every run of small clusters.") {
  const Rules rules = LinkedRules();
  const std::size_t states_max = testkit::TheEnvironment().states_max;
  auto scopes = nlohmann::ordered_json::array();
  for (const NamedScope& named : AllScopes()) {
    const Explored explored = Explore(named.scope, rules, states_max);
    scopes.push_back(Report(named, explored));
    if (testkit::TheEnvironment().progress) {
      std::printf("explored %zu of %zu scopes\n", scopes.size(), AllScopes().size());
      std::fflush(stdout);
    }
    EXPECT_EQ(explored.violated, "") << named.name;
    if (!explored.violated.empty()) break;
  }
  RecordProperty("explored", nlohmann::ordered_json{{"scopes", scopes}}.dump());
}

}  // namespace
}  // namespace depfast::saucr
