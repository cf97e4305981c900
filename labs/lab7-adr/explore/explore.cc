// The program of `kit explore lab7`. Its test has no points.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "handover_scope.h"
#include "testkit/environment.h"

namespace depfast::adr {
namespace {

GRADED_TEST(HandOverScope, EverySchedule, "7d", 0,
            "Hand-overs are correct under every schedule with a few deviations.") {
  const testkit::Deviations deviations = {.delays = {kUnnoticed, kTooLate},
                                          .stalls = {kTooLate},
                                          .downtimes = {kUnnoticed, kTooLate},
                                          .cuts = {kTooLate}};
  testkit::ExploreScope({.bound = testkit::TheEnvironment().bound,
                         .runs_max = std::numeric_limits<std::int64_t>::max()},
                        [&](testkit::ScopedRun& run) { RunHandoverScope(run, deviations); });
}

}  // namespace
}  // namespace depfast::adr
