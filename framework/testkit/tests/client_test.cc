// Client: every call ends once, in one of the ways there are.
#include "testkit/client.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "sample.h"
#include "testkit/cluster.h"

namespace depfast::testkit {
namespace {

class ClientTest : public testing::Test {
 protected:
  ClientTest() { cluster_.Start(); }

  // Calls and notes how and when it ended: "hello", or "-" for nothing.
  template <typename Request>
  void Call(const Request& request, Duration timeout, PeerId replica = 0) {
    client_.Call(replica, request, timeout, [this](const std::optional<TextReply>& reply) {
      ended_.push_back(reply ? reply->text : "-");
      times_.push_back(cluster_.now());
    });
  }

  Cluster cluster_{{.replicas = 2, .seed = 1}};
  Client client_{cluster_.simulator()};
  std::vector<std::string> ended_;
  std::vector<Time> times_;
};

using Strings = std::vector<std::string>;

TEST_F(ClientTest, ARepliedCallEndsWithItsReply) {
  Call(Echo{"one"}, 1s);
  Call(Echo{"two"}, 1s, 1);
  Call(Echo{"three"}, kForever);
  EXPECT_EQ(client_.outstanding(), 3U);
  cluster_.RunFor(100ms);
  ASSERT_EQ(ended_.size(), 3U);
  std::sort(ended_.begin(), ended_.end());
  EXPECT_EQ(ended_, (Strings{"one", "three", "two"}));
  EXPECT_EQ(client_.outstanding(), 0U);
  cluster_.RunFor(2s);
  EXPECT_EQ(ended_.size(), 3U) << "the timeouts find nothing to end";
}

TEST_F(ClientTest, AnUnansweredCallEndsAtItsTimeout) {
  Call(Ignore{}, 30ms);
  Call(Ignore{}, 10ms);
  Call(Ignore{}, 20ms);
  Call(Ignore{}, kForever);
  cluster_.RunFor(1s);
  EXPECT_EQ(times_, (std::vector<Time>{10ms, 20ms, 30ms}));
  EXPECT_EQ(ended_, (Strings{"-", "-", "-"}));
  EXPECT_EQ(client_.outstanding(), 1U);
}

TEST_F(ClientTest, ATimeoutHoldsAlthoughAnEarlierCallWasAnswered) {
  Call(Echo{"quick"}, 10ms);
  cluster_.RunFor(5ms);
  Call(Ignore{}, 10ms);
  cluster_.RunFor(1s);
  EXPECT_EQ(ended_, (Strings{"quick", "-"}));
  EXPECT_EQ(times_[1], 15ms);
}

TEST_F(ClientTest, ALateReplyIsIgnored) {
  cluster_.Begin(faults::CpuSlow({0}, 1));
  Call(Echo{"late"}, 200us);
  cluster_.RunFor(1us);
  Call(Echo{"in time"}, 1s);
  cluster_.RunFor(1s);
  EXPECT_EQ(ended_, (Strings{"-", "in time"}));
  EXPECT_EQ(times_[0], 200us);
}

TEST_F(ClientTest, AnErrorAnswerEndsItWithNothing) {
  Call(Refuse{}, 1s);
  Call(Garble{}, 1s);
  cluster_.RunFor(100ms);
  EXPECT_EQ(ended_, (Strings{"-", "-"}));
  EXPECT_LT(times_[1], 100ms) << "at once, not at the timeout";
}

TEST_F(ClientTest, OnlyTheReplicaThatWasAskedAnswers) {
  Call(Ignore{}, 50ms, 0);
  Call(Forge{}, 50ms, 1);
  cluster_.RunFor(1s);
  EXPECT_EQ(ended_, (Strings{"done", "-"})) << "replica 1 answers for replica 0";
  Call(Ignore{}, 50ms, 1);
  Call(Forge{}, 50ms, 1);
  cluster_.RunFor(1s);
  ASSERT_EQ(ended_.size(), 4U);
  EXPECT_EQ(ended_[2], "forged") << "this forgery comes from the replica that was asked";
}

TEST_F(ClientTest, MalformedFramesHarmNobody) {
  client_.SendRaw(0, "");
  client_.SendRaw(0, "nonsense");
  Call(Echo{"still there?"}, 1s);
  cluster_.RunFor(100ms);
  EXPECT_EQ(ended_, (Strings{"still there?"}));
  EXPECT_EQ(cluster_.first_death(), "");
}

TEST_F(ClientTest, ACallMayBeMadeWhereAnotherEnds) {
  int rounds = 0;
  std::function<void()> again = [&] {
    client_.Call(0, Ignore{}, 10ms, [&](const std::optional<TextReply>&) {
      if (++rounds < 5) again();
    });
  };
  again();
  cluster_.RunFor(1s);
  EXPECT_EQ(rounds, 5);
}

}  // namespace
}  // namespace depfast::testkit
