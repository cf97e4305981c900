// LogGroup: a test's view of one group that runs a replicated log in a cluster: the checker of its
// invariants, and the checker of its answers to clients.
//
//   testkit::Cluster cluster({.groups = {3, 3}});
//   LogGroup accounts(cluster, 0, MakeRaftChecker);
//   LogGroup orders(cluster, 1, MakeRaftChecker);
//   cluster.Start();
//   cluster.Crash(orders.AddressOf(orders.WaitForProposer()));
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "answer_checker.h"
#include "log_checker.h"
#include "sim/group_view.h"
#include "submit.h"
#include "testkit/cluster.h"

namespace depfast {

class LogGroup {
 public:
  using MakeChecker =
      std::function<std::unique_ptr<LogChecker>(const sim::GroupView&, testkit::History&)>;

  // Requires: called before Cluster::Start; the cluster outlives the group.
  LogGroup(testkit::Cluster& cluster, int group, const MakeChecker& make_checker);
  // Adds a violation to the report of a test that failed early.
  ~LogGroup();
  LogGroup(const LogGroup&) = delete;
  LogGroup& operator=(const LogGroup&) = delete;

  // Replicas are named by their ids in the group, here and below. Faults take addresses.
  PeerId AddressOf(PeerId member) const { return group_.AddressOf(member); }
  const sim::GroupView& group() const { return group_; }

  // Runs until the first proposer serves clients. Returns it, or kNobody after `at_most`.
  PeerId WaitForProposer(Duration at_most = 3s);

  // Runs until every replica that is up has applied all that is committed.
  testing::AssertionResult WaitForAllApplied(Duration at_most = 4s);

  // No replica of the cluster died by itself, and the group violated no invariant. The end of every
  // test.
  testing::AssertionResult AllInvariantsHold() const;

  // The other replicas, ascending.
  std::vector<PeerId> Others(PeerId replica) const;

  LogChecker& log() const { return *log_; }

 protected:
  bool HaveAllApplied() { return FirstLaggard() == kNobody; }
  // The failure after a wait in vain for HaveAllApplied.
  testing::AssertionResult NotAllApplied(Duration waited);

 private:
  PeerId FirstProposer() const;  // kNobody if there is none
  // The first of the replicas that are up and have not applied all that is committed. kNobody if
  // there is none.
  PeerId FirstLaggard();

  testkit::Cluster& cluster_;
  const sim::GroupView group_;
  const std::unique_ptr<LogChecker> log_;
  AnswerChecker answers_;
};

}  // namespace depfast
