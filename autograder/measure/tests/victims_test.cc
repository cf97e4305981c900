#include "victims.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace depfast::measure {
namespace {

using Peers = std::vector<PeerId>;

const std::vector<std::string> kRaft = {"leader", "follower"};
const std::vector<std::string> kTwo = {"pilot", "copilot", "follower"};

TEST(Victims, AreTheLargestMinorityAfterTheLeader) {
  EXPECT_EQ(VictimsOf(kRaft, "follower", {1}, 3), Peers({2}));
  EXPECT_EQ(VictimsOf(kRaft, "follower", {3}, 5), Peers({4, 0}));
  EXPECT_EQ(VictimsOf(kRaft, "", {2}, 3), Peers({0})) << "followers, if no role is named";
}

TEST(Victims, OfTheLastRoleAreNoProposers) {
  EXPECT_EQ(VictimsOf(kTwo, "follower", {0, 1}, 3), Peers({2}));
  EXPECT_EQ(VictimsOf(kTwo, "follower", {4, 0}, 5), Peers({1, 2}));
}

TEST(Victims, OfAProposersRoleAreThatProposer) {
  EXPECT_EQ(VictimsOf(kRaft, "leader", {1}, 3), Peers({1}));
  EXPECT_EQ(VictimsOf(kTwo, "copilot", {4, 2}, 5), Peers({2}));
}

TEST(Victims, OfARoleThatNoReplicaHasAreRefused) {
  EXPECT_THROW(VictimsOf(kRaft, "pilot", {1}, 3), std::invalid_argument);
  EXPECT_THROW(VictimsOf(kTwo, "copilot", {1}, 3), std::invalid_argument);
}

}  // namespace
}  // namespace depfast::measure
