// LogWorld: the common part of the worlds of all tests of a replicated log: a cluster of one group
// (LogGroup), which it owns.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "log_checker.h"
#include "log_group.h"
#include "testkit/cluster.h"

namespace depfast {

// A base class, so that the cluster outlives the group.
struct OwnCluster {
  testkit::Cluster cluster;
};

class LogWorld : public OwnCluster, public LogGroup {
 public:
  // The replicas are not started: a derived class does that, once it is complete.
  LogWorld(const testkit::ClusterOptions& options, const MakeChecker& make_checker);
  // Adds a death to the report of a test that failed early.
  ~LogWorld();
};

// Makes the checker of the log that a service's tests run on: see LogGroup. Defined once per test
// program, by the library that chooses the log.
std::unique_ptr<LogChecker> MakeLogChecker(const sim::GroupView& group, testkit::History& history);

}  // namespace depfast
