// The program of `kit explore lab6`. It calls the rules that it is linked with. Its test has no
// points.
#include "explored_scopes.h"
#include "saucr_model.h"
#include "saucr_scopes.h"

namespace depfast::saucr {
namespace {

GRADED_TEST(SaucrScopes, EveryRun, "6d", 0,
            "SAUCR's rules are correct in every run of small clusters.") {
  const auto explore = [](const Scope& scope, std::size_t states_max) {
    return Explore(scope, LinkedRules(), states_max);
  };
  ReportScopes(AllScopes(), explore, [](const Coverage& coverage) {
    return nlohmann::ordered_json{{"fast commits", coverage.fast_commits},
                                  {"slow commits", coverage.slow_commits},
                                  {"LLEs recovered", coverage.recoveries},
                                  {"logs taken", coverage.data_taken},
                                  {"LLEs given up", coverage.cuts}};
  });
}

}  // namespace
}  // namespace depfast::saucr
