// The client and the world of the labs on a log with two proposers: neither knows Raft.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "log_world.h"
#include "submit_client.h"
#include "two_proposer_checker.h"
#include "two_proposer_log.h"

namespace depfast {
namespace {

constexpr int kCommands = 50;

class TwoProposers : public testing::Test, public LogWorld {
 protected:
  TwoProposers()
      : LogWorld({.replicas = 4, .seed = 9},
                 [](const sim::GroupView& group, testkit::History&) {
                   return std::make_unique<TwoProposerChecker>(group);
                 }),
        client(cluster.simulator(), {.targets = 2}) {
    cluster.Start();
  }

  // Submits commands one after the other. Returns how long the slowest took.
  Duration SlowestOf(int count) {
    Duration slowest{0};
    for (int i = 0; i < count; ++i) {
      const Time begun = cluster.now();
      bool ended = false;
      client.Submit(CommandText(++submitted_, 20), [&](bool ok) { ended = committed_ = ok; });
      EXPECT_TRUE(cluster.RunUntil([&] { return ended; }, 5s));
      slowest = std::max(slowest, cluster.now() - begun);
    }
    return slowest;
  }

  SubmitClient client;
  std::uint64_t submitted_ = 0;
  bool committed_ = false;
};

TEST_F(TwoProposers, ACommandSentToBothIsAppliedOnce) {
  SlowestOf(kCommands);
  EXPECT_TRUE(WaitForAllApplied());
  EXPECT_EQ(log().CommittedUpTo(), static_cast<std::uint64_t>(kCommands));
  EXPECT_TRUE(AllInvariantsHold());
}

TEST_F(TwoProposers, TheFirstAnswerCounts) {
  const Duration healthy = SlowestOf(kCommands);
  for (const PeerId slow : {kFirstProposer, kSecondProposer}) {
    cluster.Begin(faults::NetSlow({slow}, 400ms));
    EXPECT_LT(SlowestOf(kCommands), healthy + 50ms) << "the slow proposer is waited for";
    cluster.Heal();
    cluster.RunFor(500ms);  // messages that were delayed still travel
    EXPECT_TRUE(WaitForAllApplied());
  }
  EXPECT_EQ(log().CommittedUpTo(), 3u * kCommands);
  EXPECT_TRUE(AllInvariantsHold());
}

TEST_F(TwoProposers, ADeadProposerIsReplacedByAReplicaThatRefuses) {
  SlowestOf(1);
  cluster.Crash(kFirstProposer);
  EXPECT_LT(SlowestOf(kCommands), 100ms) << "the second proposer alone must serve";
  EXPECT_EQ(log().Proposers(), std::vector<PeerId>{kSecondProposer});
  EXPECT_TRUE(WaitForAllApplied());
  EXPECT_TRUE(AllInvariantsHold());
}

TEST_F(TwoProposers, AClientOfOneTargetFindsAProposer) {
  SubmitClient lonely(cluster.simulator(), {.targets = 1});
  cluster.Crash(kFirstProposer);
  bool committed = false;
  lonely.Submit("a command", [&](bool ok) { committed = ok; });
  EXPECT_TRUE(cluster.RunUntil([&] { return committed; }, 1s));
  EXPECT_TRUE(AllInvariantsHold());
}

TEST_F(TwoProposers, TheClientGivesUpWhenAllReplicasRefuse) {
  SubmitClient impatient(cluster.simulator(), {.give_up = 200ms, .targets = 2});
  cluster.Crash(kFirstProposer);
  cluster.Crash(kSecondProposer);
  bool ended = false;
  impatient.Submit("a command", [&](bool ok) { ended = !ok; });
  EXPECT_TRUE(cluster.RunUntil([&] { return ended; }, 1s));
  EXPECT_EQ(log().CommittedUpTo(), 0u);
}

}  // namespace
}  // namespace depfast
