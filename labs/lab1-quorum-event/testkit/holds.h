// Holds: performs scripts on a cluster and compares what happens with what should.
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
  sim::FaultPlan faults = {};
};

// A cluster whose replica 0 performs scripts, one after another.
class ScriptRunner {
 public:
  explicit ScriptRunner(const World& world = {});

  // Success if every step does what is expected of it. Else the first step that does not, what was
  // expected and what happened, and the whole script, numbered, with what each step did.
  testing::AssertionResult Run(const Script& script);

  testkit::Cluster& cluster() { return cluster_; }

 private:
  std::optional<ScriptLog> Ask(const Script& script);

  testkit::Cluster cluster_;
  testkit::Client client_;
};

// Runs one script in a world of its own.
testing::AssertionResult Holds(const Script& script, const World& world = {});

}  // namespace depfast::lab1
