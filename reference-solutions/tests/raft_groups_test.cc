// Two groups in one cluster, each with a Raft of its own: unchanged, since it counts its own group.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "log_group.h"
#include "raft_checker.h"
#include "submit_client.h"

namespace depfast::raft {
namespace {

constexpr int kCommands = 20;

std::unique_ptr<LogChecker> MakeRaftChecker(const sim::GroupView& group,
                                            testkit::History& history) {
  return std::make_unique<RaftChecker>(group, &history);
}

class RaftGroups : public testing::Test {
 protected:
  RaftGroups() { cluster_.Start(); }

  // Submits commands to a group, one after the other. Returns whether all were committed.
  bool Commit(SubmitClient& client) {
    for (int i = 0; i < kCommands; ++i) {
      bool committed = false;
      bool ended = false;
      client.Submit(CommandText(++commands_, 20), [&](bool ok) {
        committed = ok;
        ended = true;
      });
      if (!cluster_.RunUntil([&] { return ended; }, 6s) || !committed) return false;
    }
    return true;
  }

  testkit::Cluster cluster_{{.groups = {3, 5}, .seed = 41}};
  LogGroup small_{cluster_, 0, MakeRaftChecker};
  LogGroup large_{cluster_, 1, MakeRaftChecker};
  SubmitClient small_client_{small_.group()};
  SubmitClient large_client_{large_.group()};
  std::uint64_t commands_ = 0;
};

TEST_F(RaftGroups, EachElectsAndCommitsAndAFaultOnOneLeavesTheOtherAlone) {
  const PeerId leader = small_.WaitForProposer();
  const PeerId crashed = large_.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_NE(crashed, kNobody);
  const auto term = [this, leader] {
    return dynamic_cast<RaftChecker&>(small_.log()).claims(leader).term;
  };
  const std::uint64_t before = term();
  cluster_.Crash(large_.AddressOf(crashed));
  for (const PeerId cut : large_.Others(crashed)) {
    cluster_.Begin(faults::NetSlow({large_.AddressOf(cut)}, 400ms));
  }
  EXPECT_TRUE(Commit(small_client_));
  EXPECT_EQ(term(), before) << "the small group keeps its leader";
  EXPECT_EQ(small_.log().Proposers(), std::vector<PeerId>{leader});
  cluster_.Heal();
  EXPECT_TRUE(Commit(large_client_));
  EXPECT_TRUE(small_.WaitForAllApplied());
  EXPECT_TRUE(large_.WaitForAllApplied());
  EXPECT_TRUE(small_.AllInvariantsHold());
  EXPECT_TRUE(large_.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::raft
