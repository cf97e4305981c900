// Whether a leader has kept its term, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "raft_world.h"
#include "testkit/judged.h"

namespace depfast::raft {

inline testing::AssertionResult StillLeads(RaftWorld& world, PeerId leader, std::uint64_t term) {
  if (world.checker.Leader() == leader && world.checker.claims(leader).term == term) {
    return testing::AssertionSuccess();
  }
  testkit::RecordJudged({"a healthy leader keeps its term", leader, world.cluster.now()});
  return testing::AssertionFailure()
         << "replica " << leader << " leads term " << term << " no more";
}

}  // namespace depfast::raft
