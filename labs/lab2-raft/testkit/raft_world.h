// RaftWorld: the world of every Raft test: a cluster, the checker of Raft's invariants, a client.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "log_world.h"
#include "raft_checker.h"
#include "submit_client.h"

namespace depfast::raft {

inline constexpr std::size_t kLargeCommandBytes = std::size_t{32} << 10;

class RaftWorld : public LogWorld {
 public:
  using Persistence = RaftChecker::Persistence;

  // Starts the replicas. Tests of parts 2A and 2B take Persistence::kNotYet, and restart no
  // replica.
  explicit RaftWorld(const testkit::ClusterOptions& options,
                     Persistence persistence = Persistence::kRequired);

  // Runs until some replica leads and has opened its term with a committed entry. Returns it, or
  // kNobody after `at_most`.
  PeerId WaitForLeader(Duration at_most = 3s) { return WaitForProposer(at_most); }

  // Runs until some replica claims to lead, even without a log. Returns it, or kNobody after
  // `at_most`.
  PeerId WaitForElection(Duration at_most = 3s);

  // Submits `count` new commands at once, and runs until `count` are committed. A new command
  // replaces each command whose outcome is unknown. Returns whether `count` were committed.
  testing::AssertionResult Commit(int count, Duration at_most = 3s);

  // The same with `bytes` of commands in all, each of kLargeCommandBytes.
  testing::AssertionResult CommitBytes(std::size_t bytes, Duration at_most = 20s);

  // Submits a command and does not wait. Its outcome is counted in acknowledged().
  void SubmitOne();
  void SubmitOneLarge();

  // Runs until every replica that is up has applied all acknowledged commands.
  testing::AssertionResult WaitForAllApplied(Duration at_most = 3s);

  std::uint64_t acknowledged() const { return acknowledged_.size(); }
  std::uint64_t submitted() const { return submitted_; }

  // As in LogWorld, and no acknowledged command is missing or was applied twice.
  testing::AssertionResult AllInvariantsHold() const;

  RaftChecker& checker;
  SubmitClient client;

 private:
  void Submit(std::size_t bytes, std::function<void(bool committed)> then);
  testing::AssertionResult Commit(int count, std::size_t bytes, Duration at_most);
  void SubmitUntilCommitted(std::size_t bytes, const std::shared_ptr<int>& left, Time limit);

  std::uint64_t submitted_ = 0;
  std::vector<CommandDigest> acknowledged_;
};

}  // namespace depfast::raft
