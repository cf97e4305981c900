// Performs scripts on a cluster and compares what happens with what should.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "quorum_script.h"
#include "script.h"
#include "testkit/client.h"
#include "testkit/cluster.h"

namespace depfast::lab1 {

struct World {
  int replicas = 1;
  std::uint64_t seed = 1;
  faults::FaultPlan faults = {};
};

// A cluster whose replica 0 performs scripts, one after another.
class ScriptRunner {
 public:
  explicit ScriptRunner(const World& world = {});

  // Success if every step does what is expected of it. Else the first step that does not, what was
  // expected and what happened, and the whole script, numbered, with what each step did.
  testing::AssertionResult Run(const Script& script);

  // What happens, for tests that cannot know beforehand what should. Nothing if there is no answer.
  std::optional<ScriptLog> Perform(const Script& script);

  // Empty, or why the replica died.
  const std::string& death() const { return cluster_.first_death(); }

 private:
  testkit::Cluster cluster_;
  testkit::Client client_;
};

// Runs one script in a world of its own. A test failure of the caller (whose file and line are
// taken as clang 14 can, which has no std::source_location) unless it holds.
void ExpectHolds(const Script& script, const World& world = {}, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE());

// Draws `cases` random cases with up to `waits_max` waits each and runs them all. Fails with the
// smallest failing script that leaving out votes and waits leads to.
testing::AssertionResult HoldsForRandomCases(int cases, int waits_max);

}  // namespace depfast::lab1
