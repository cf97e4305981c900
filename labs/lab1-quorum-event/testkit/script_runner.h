// Performs scripts on a cluster and compares the results with the expectations.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
class ScriptRunner : private sim::Observer {
 public:
  explicit ScriptRunner(const World& world = {});

  // Success if every step meets its expectation. Otherwise the message names the first step that
  // does not, its expectation and its result. The whole script with all results follows.
  testing::AssertionResult Run(const Script& script);

  // Whether every step meets its expectation. Quicker than Run, and the history has no transcript.
  bool Passes(const Script& script);

  // The results, for tests that cannot know them beforehand. Nothing if there is no answer.
  std::optional<ScriptLog> Perform(const Script& script);

  // Empty, or why the replica died.
  const std::string& death() const { return cluster_.first_death(); }

 private:
  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void Record(const std::vector<testkit::Recorder::Mark>& marks);

  testkit::Cluster cluster_;
  testkit::Client client_;
  Time begun_{0};  // the latest script
};

// Runs one script in a world of its own. Unless it passes, the caller's test fails, at the caller's
// line: clang 14 has no std::source_location.
void ExpectPasses(const Script& script, const World& world = {},
                  const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace depfast::lab1
