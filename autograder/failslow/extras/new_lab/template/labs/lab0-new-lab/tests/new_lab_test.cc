#include <gtest/gtest.h>

#include "ask.h"

namespace depfast::lab0 {
namespace {

GRADED_TEST(NewLab, CountsAllReplicas, "count", 50,
            "A replica counts itself, and each peer that answers (rule 1)") {
  testkit::Cluster cluster({.replicas = 3, .seed = 1});
  cluster.Start();
  EXPECT_EQ(AskForCount(cluster, 0, 1s), 3);
  EXPECT_EQ(cluster.first_death(), "");
}

}  // namespace
}  // namespace depfast::lab0
