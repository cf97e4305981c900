// RaftWorld: the world of every Raft test: a cluster, the checker of Raft's invariants, a client.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>

#include "raft_checker.h"
#include "submit_world.h"

namespace depfast::raft {

inline constexpr std::size_t kLargeCommandBytes = std::size_t{32} << 10;

class RaftWorld : public SubmitWorld {
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

  void SubmitOneLarge() { SubmitOne(kLargeCommandBytes); }

  // Commits `bytes` of commands in all, each of kLargeCommandBytes.
  testing::AssertionResult CommitBytes(std::size_t bytes, Duration at_most = 20s);

  // Runs until every replica that is up has applied all acknowledged commands.
  testing::AssertionResult WaitForAllApplied(Duration at_most = 3s);

  RaftChecker& checker;
};

}  // namespace depfast::raft
