#include <gtest/gtest.h>

#include "ask.h"

namespace depfast::lab0 {
namespace {

GRADED_TEST(NewLabDeadReplicas, DoesNotCountADeadReplica, "count", 50,
            "A dead replica does not count, and delays the answer by 200 ms at most (rule 2)") {
  testkit::Cluster cluster({.replicas = 5, .seed = 2});
  cluster.Start();
  cluster.Crash(3);
  EXPECT_EQ(AskForCount(cluster, 0, 300ms), 4);
  EXPECT_EQ(cluster.first_death(), "");
}

}  // namespace
}  // namespace depfast::lab0
