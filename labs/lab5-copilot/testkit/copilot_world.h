// CopilotWorld: the world of every Copilot test: a cluster, the checker of Copilot's invariants, a
// client that sends each command to both pilots.
#pragma once

#include <cstddef>

#include "copilot_checker.h"
#include "submit_world.h"

namespace depfast::copilot {

class CopilotWorld : public SubmitWorld {
 public:
  // Starts the replicas.
  explicit CopilotWorld(const testkit::ClusterOptions& options);

  // Runs until both pilots serve clients, and a little longer: all replicas hear them then. Returns
  // whether both serve within `at_most`.
  testing::AssertionResult WaitForPilots(Duration at_most = 3s);

  // Submits `count` commands, one in each `interval`.
  void SubmitEvery(Duration interval, int count);
  // See SubmitWorld.
  testing::AssertionResult Commit(int count, Duration at_most = 5s) {
    return SubmitWorld::Commit(count, at_most);
  }
  // Commits commands of `bytes`, one after the other.
  testing::AssertionResult CommitLarge(int count, std::size_t bytes);

  CopilotChecker& checker;
};

}  // namespace depfast::copilot
