// The reference Raft as three processes with sockets and disks: the code that the simulator grades
// is the code that runs.
#include "real_raft.h"

#include <gtest/gtest.h>

#include "support.h"

namespace depfast::raft {
namespace {

TEST_F(RealRaft, CommitsAndSurvivesTheDeathOfItsLeader) {
  int leader = 0;
  for (int i = 0; i < 10; ++i) leader = Commit();
  cluster_.Kill({leader});
  for (int i = 0; i < 10; ++i) EXPECT_NE(Commit(), leader);
  cluster_.Start(leader);
  Commit();
  for (int id = 0; id < cluster_.size(); ++id) {
    EXPECT_TRUE(real::Eventually([&] { return AcknowledgedOnDiskOf(id) == acknowledged_.size(); }))
        << "replica " << id << " has " << AcknowledgedOnDiskOf(id) << " of " << acknowledged_.size()
        << " acknowledged commands on its disk";
  }
}

}  // namespace
}  // namespace depfast::raft
