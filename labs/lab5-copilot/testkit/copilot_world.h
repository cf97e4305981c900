// CopilotWorld: the world of every Copilot test: a cluster, the checker of Copilot's invariants, a
// client that sends each command to both pilots.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "copilot_checker.h"
#include "log_world.h"
#include "submit_client.h"

namespace depfast::copilot {

class CopilotWorld : public LogWorld {
 public:
  // Starts the replicas.
  explicit CopilotWorld(const testkit::ClusterOptions& options);

  // Runs until both pilots serve clients, and a little longer: all replicas hear them then. Returns
  // whether both serve within `at_most`.
  testing::AssertionResult WaitForPilots(Duration at_most = 3s);

  // Submits a command and does not wait.
  void SubmitOne(std::size_t bytes = 100);
  // Submits `count` commands, one in each `interval`.
  void SubmitEvery(Duration interval, int count);
  // Submits `count` commands, one after the other. Returns how long the slowest took, or kForever
  // if one has failed.
  Duration SlowestOf(int count, Duration at_most = 5s);
  // Submits `count` commands at once, and runs until they are committed. Another takes the place of
  // one whose outcome is unknown. Returns whether all were.
  testing::AssertionResult Commit(int count, Duration at_most = 5s);
  // The same, one after the other, with commands of `bytes`.
  testing::AssertionResult CommitLarge(int count, std::size_t bytes);

  // As in LogWorld, and every acknowledged command has been applied.
  testing::AssertionResult AllInvariantsHold() const;

  std::uint64_t acknowledged() const { return acknowledged_.size(); }

  CopilotChecker& checker;
  SubmitClient client;

 private:
  void Submit(std::function<void(bool committed)> then, std::size_t bytes);
  // Returns whether the command was committed.
  bool SubmitAndWait(Duration at_most, std::size_t bytes);
  void SubmitUntilCommitted(const std::shared_ptr<int>& left, Time limit);

  std::uint64_t submitted_ = 0;
  std::vector<CommandDigest> acknowledged_;
};

}  // namespace depfast::copilot
