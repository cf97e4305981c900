// LogWorld: the common part of the worlds of all tests of a replicated log: a cluster, the checker
// of its invariants, and the checker of its answers to clients.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "answer_checker.h"
#include "log_checker.h"
#include "submit.h"
#include "testkit/cluster.h"

namespace depfast {

class LogWorld {
 public:
  using MakeChecker = std::function<std::unique_ptr<LogChecker>(testkit::Cluster&)>;

  // The replicas are not started: a derived class does that, once it is complete.
  LogWorld(const testkit::ClusterOptions& options, const MakeChecker& make_checker);
  // Adds a violation or a death to the report of a test that failed early.
  ~LogWorld();
  LogWorld(const LogWorld&) = delete;
  LogWorld& operator=(const LogWorld&) = delete;

  // Runs until the first proposer serves clients. Returns it, or kNobody after `at_most`.
  PeerId WaitForProposer(Duration at_most = 3s);

  // Runs until every replica that is up has applied all that is committed.
  testing::AssertionResult WaitForAllApplied(Duration at_most = 4s);

  // No replica died by itself, and no invariant was violated. The end of every test.
  testing::AssertionResult AllInvariantsHold() const;

  // The other replicas, ascending.
  std::vector<PeerId> Others(PeerId replica) const;

  LogChecker& log() const { return *log_; }

  testkit::Cluster cluster;

 protected:
  bool HaveAllApplied() { return FirstLaggard() == kNobody; }
  // The failure after a wait in vain for HaveAllApplied.
  testing::AssertionResult NotAllApplied(Duration waited);

 private:
  PeerId FirstProposer() const;  // kNobody if there is none
  // The first of the replicas that are up and have not applied all that is committed. kNobody if
  // there is none.
  PeerId FirstLaggard();

  const std::unique_ptr<LogChecker> log_;
  AnswerChecker answers_;
};

// Makes the checker of the log that a service's tests run on. Defined once per test program, by
// the library that chooses the log: kv_on_raft in lab 3.
std::unique_ptr<LogChecker> MakeLogChecker(testkit::Cluster& cluster);

}  // namespace depfast
