// The program of `kit explore lab5`. It calls the rules that it is linked with. Its test has no
// points.
#include "copilot_model.h"
#include "copilot_scopes.h"
#include "explored_scopes.h"

namespace depfast::copilot {
namespace {

GRADED_TEST(CopilotScopes, EveryRun, "5d", 0,
            "Copilot's rules are correct in every run of small clusters.") {
  const auto explore = [](const Scope& scope, std::size_t states_max) {
    const Rules rules{&Suggestion, &SlowDependency, &RivalsOf, &ChooseAfterPrepare};
    return Explore(scope, rules, states_max);
  };
  ReportScopes(AllScopes(), explore, [](const Coverage& coverage) {
    return nlohmann::ordered_json{{"fast commits", coverage.fast_commits},
                                  {"slow commits", coverage.slow_commits},
                                  {"takeovers: kept", coverage.recovered},
                                  {"no-op", coverage.given_up},
                                  {"wait", coverage.undecided}};
  });
}

}  // namespace
}  // namespace depfast::copilot
