// Public test: many clients under random faults.
#include <gtest/gtest.h>

#include "kv_swarm.h"
#include "testkit/environment.h"

namespace depfast::kv {
namespace {

GRADED_TEST(KvChaos, ThreeReplicasStayLinearizable, "linearizability", 3,
            "Under random faults the clients' history of three replicas is linearizable.") {
  for (std::uint64_t seed = 1; seed <= 20 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    Swarm(3, 780 + seed);
  }
}

}  // namespace
}  // namespace depfast::kv
