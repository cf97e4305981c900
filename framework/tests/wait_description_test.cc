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
  const WaitDescription wait = replica.Make<IntEvent>("votes", 3)->DescribeWait();
  EXPECT_EQ(wait.needed, 1);
  EXPECT_EQ(wait.total, 1);
  EXPECT_TRUE(wait.peers.empty());
}

TEST(WaitDescription, ACompoundWaitsOnThePeersOfItsChildren) {
  Replica replica;
  const auto one = replica.Make<FakeCall>(1);
  const auto three = replica.Make<FakeCall>(3);
  const auto disk = replica.Make<IntEvent>("disk", 1);
  std::shared_ptr<AndEvent> both;
  std::shared_ptr<OrEvent> any;
  replica.In([&] {
    both = AndEvent::Of({three, disk, one});
    any = OrEvent::Of({both, one});
  });
  one->Set(Vote::kYes);
  EXPECT_EQ(DescribePeers(both->DescribeWait()), "1 yes, 3 pending");
  EXPECT_EQ(both->DescribeWait().needed, 3);
  EXPECT_EQ(both->DescribeWait().total, 3);
  EXPECT_EQ(DescribePeers(any->DescribeWait()), "1 yes, 3 pending");
  EXPECT_EQ(any->DescribeWait().needed, 1);
  EXPECT_EQ(any->DescribeWait().total, 2);
}

TEST(WaitDescription, AnAndWithOneChildOnPeersNeedsWhatThisChildNeeds) {
  Replica replica;
  const auto one = replica.Make<FakeCall>(1);
  const auto two = replica.Make<FakeCall>(2);
  const auto disk = replica.Make<IntEvent>("disk", 1);
  std::shared_ptr<AndEvent> mixed;
  std::shared_ptr<AndEvent> all;
  replica.In([&] {
    mixed = AndEvent::Of({disk, OrEvent::Of({one, two}), disk});
    all = AndEvent::Of({disk, AndEvent::Of({one, two})});
  });
  EXPECT_EQ(DescribePeers(mixed->DescribeWait()), "1 pending, 2 pending");
  EXPECT_EQ(mixed->DescribeWait().needed, 1);
  EXPECT_EQ(mixed->DescribeWait().total, 2);
  EXPECT_EQ(all->DescribeWait().needed, 2);
  EXPECT_EQ(all->DescribeWait().total, 2);
}

}  // namespace
}  // namespace depfast
