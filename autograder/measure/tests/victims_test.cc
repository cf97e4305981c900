#include "victims.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace depfast::measure {
namespace {

using Peers = std::vector<PeerId>;

// Why the arguments are refused.
template <typename Function>
std::string Refusal(const Function& function) {
  try {
    function();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "they are not refused";
}

TEST(Followers, AreTheLargestMinorityIfNoPlaceIsNamed) {
  EXPECT_EQ(FollowersAt({}, {1}, 3), Peers({2}));
  EXPECT_EQ(FollowersAt({}, {2}, 3), Peers({0}));
  EXPECT_EQ(FollowersAt({}, {3}, 5), Peers({4, 0}));
}

TEST(Followers, HavePlacesAfterTheFirstProposer) {
  EXPECT_EQ(FollowersAt({2}, {1}, 3), Peers({0}));
  EXPECT_EQ(FollowersAt({1, 4}, {3}, 5), Peers({4, 2}));
  EXPECT_EQ(FollowersAt({4, 1}, {3}, 5), Peers({2, 4})) << "in the order of the places";
}

TEST(Followers, AreNoProposers) {
  EXPECT_EQ(FollowersAt({}, {0, 1}, 3), Peers({2}));
  EXPECT_EQ(FollowersAt({}, {4, 0}, 5), Peers({1, 2}));
  EXPECT_EQ(FollowersAt({1, 3}, {0, 2}, 5), Peers({1, 4}));
}

TEST(Followers, AtWrongPlacesAreRefused) {
  EXPECT_EQ(Refusal([] { FollowersAt({3}, {0}, 3); }), "no replica has the place 3");
  EXPECT_EQ(Refusal([] { FollowersAt({0}, {0}, 3); }), "no replica has the place 0");
  EXPECT_EQ(Refusal([] { FollowersAt({2, 2}, {0}, 5); }), "the place 2 stands twice");
  EXPECT_EQ(Refusal([] { FollowersAt({1, 2}, {0}, 3); }), "more slow replicas than a minority");
}

TEST(Proposer, IsNamedByItsRole) {
  EXPECT_EQ(ProposerOf({"leader", "follower"}, "leader", {1}), 1);
  EXPECT_EQ(ProposerOf({"pilot", "copilot", "follower"}, "copilot", {4, 2}), 2);
}

TEST(Proposer, OfNoProposersRoleIsRefused) {
  EXPECT_EQ(Refusal([] { ProposerOf({"leader", "follower"}, "follower", {1}); }),
            "no proposer has the role 'follower'");
  EXPECT_EQ(Refusal([] { ProposerOf({"leader", "follower"}, "pilot", {1}); }),
            "no proposer has the role 'pilot'");
  EXPECT_EQ(Refusal([] { ProposerOf({"pilot", "copilot", "follower"}, "copilot", {1}); }),
            "no proposer has the role 'copilot'")
      << "it is not there";
}

TEST(Proposer, AndFollowersAreOneMinority) {
  const std::vector<std::string> roles = {"pilot", "copilot", "follower"};
  EXPECT_EQ(ProposerAndFollowers(roles, "copilot", {}, {0, 2}, 3), Peers({2}));
  EXPECT_EQ(ProposerAndFollowers(roles, "pilot", {3}, {0, 2}, 5), Peers({0, 4}));
  EXPECT_EQ(ProposerAndFollowers(roles, "copilot", {1, 5}, {0, 2}, 7), Peers({2, 1, 6}));
}

TEST(Proposer, AndWrongFollowersAreRefused) {
  const auto refusal = [](const std::string& victim, const std::vector<int>& places) {
    return Refusal(
        [&] { ProposerAndFollowers({"pilot", "copilot", "follower"}, victim, places, {0, 2}, 5); });
  };
  EXPECT_EQ(refusal("pilot", {1, 2}), "more slow replicas than a minority");
  EXPECT_EQ(refusal("pilot", {4}), "no replica has the place 4");
  EXPECT_EQ(refusal("leader", {1}), "no proposer has the role 'leader'");
}

}  // namespace
}  // namespace depfast::measure
