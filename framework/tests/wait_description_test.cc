// The descriptions that events give of the peers that they wait for.
#include "depfast/wait_description.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>

#include "depfast/compound_event.h"
#include "depfast/value_event.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Replica;

// A call to `peer` whose vote the test sets.
class FakeCall : public Event {
 public:
  explicit FakeCall(PeerId peer) : peer_(peer) {}

  void Set(Vote vote) { vote_ = vote; }

  bool IsReady() const override { return vote_ == Vote::kYes; }
  const char* Label() const override { return "fake"; }
  std::string Describe() const override { return "FakeCall"; }
  WaitDescription DescribeWait() const override {
    WaitDescription wait;
    wait.Include(peer_, vote_);
    return wait;
  }

 private:
  PeerId peer_;
  Vote vote_ = Vote::kPending;
};

WaitDescription Peers(std::initializer_list<WaitDescription::Peer> peers) {
  WaitDescription wait;
  for (const WaitDescription::Peer& peer : peers) wait.Include(peer.id, peer.vote);
  return wait;
}

// "2 of 3: 1 yes, 2 pending"
std::string Text(const Event& event) {
  const WaitDescription wait = event.DescribeWait();
  return std::to_string(wait.needed) + " of " + std::to_string(wait.total) + ": " +
         DescribePeers(wait);
}

TEST(WaitDescription, PeersAreAscendingAndEachOnce) {
  const WaitDescription wait =
      Peers({{4, Vote::kYes}, {1, Vote::kNo}, {2, Vote::kLost}, {1, Vote::kNo}});
  EXPECT_EQ(DescribePeers(wait), "1 no, 2 lost, 4 yes");
  EXPECT_EQ(DescribePeers({}), "");
}

TEST(WaitDescription, APeerIsPendingAsLongAsOneOfItsAnswersIs) {
  EXPECT_EQ(DescribePeers(Peers({{1, Vote::kYes}, {1, Vote::kPending}})), "1 pending");
  EXPECT_EQ(DescribePeers(Peers({{1, Vote::kPending}, {1, Vote::kYes}})), "1 pending");
  EXPECT_EQ(DescribePeers(Peers({{1, Vote::kYes}, {1, Vote::kNo}})), "1 no");
  EXPECT_EQ(DescribePeers(Peers({{1, Vote::kNo}, {1, Vote::kLost}})), "1 lost");
}

TEST(WaitDescription, TheOnlyPeerOfAChildHasTheVoteOfTheChild) {
  WaitDescription wait;
  wait.Include(Peers({{1, Vote::kYes}}), Vote::kNo);  // it has replied, and the reply is a reject
  EXPECT_EQ(DescribePeers(wait), "1 no");
}

TEST(WaitDescription, SeveralPeersOfAChildKeepTheirOwnVotes) {
  WaitDescription wait;
  wait.Include(Peers({{1, Vote::kYes}, {2, Vote::kYes}, {3, Vote::kPending}}), Vote::kYes);
  EXPECT_EQ(DescribePeers(wait), "1 yes, 2 yes, 3 pending");
}

TEST(WaitDescription, ABasicEventIsOneOfOneOfNoPeer) {
  Replica replica;
  EXPECT_EQ(Text(*replica.Make<IntEvent>("votes", 3)), "1 of 1: ");
}

TEST(WaitDescription, ACompoundWaitsOnThePeersOfItsChildren) {
  Replica replica;
  const auto one = replica.Make<FakeCall>(1);
  const auto three = replica.Make<FakeCall>(3);
  const auto disk = replica.Make<IntEvent>("disk", 1);
  one->Set(Vote::kYes);
  replica.In([&] {
    const auto both = AndEvent::Of({three, disk, one});
    EXPECT_EQ(Text(*both), "3 of 3: 1 yes, 3 pending");
    EXPECT_EQ(Text(*OrEvent::Of({both, one})), "1 of 2: 1 yes, 3 pending");
  });
}

TEST(WaitDescription, AnAndWithOneChildOnPeersNeedsWhatThisChildNeeds) {
  Replica replica;
  const auto one = replica.Make<FakeCall>(1);
  const auto two = replica.Make<FakeCall>(2);
  const auto disk = replica.Make<IntEvent>("disk", 1);
  replica.In([&] {
    EXPECT_EQ(Text(*AndEvent::Of({disk, OrEvent::Of({one, two}), disk})),
              "1 of 2: 1 pending, 2 pending");
    EXPECT_EQ(Text(*AndEvent::Of({disk, AndEvent::Of({one, two})})),
              "2 of 2: 1 pending, 2 pending");
  });
}

}  // namespace
}  // namespace depfast
