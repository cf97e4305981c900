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

  SubmitClient client;
};

TEST_F(TwoProposers, ACommandSentToBothIsAppliedOnce) {
  int committed = 0;
  for (int i = 0; i < kCommands; ++i) {
    client.Submit(CommandText(static_cast<std::uint64_t>(i), 20),
                  [&](bool ok) { committed += ok; });
  }
  EXPECT_TRUE(cluster.RunUntil([&] { return committed == kCommands; }, 5s));
  EXPECT_TRUE(WaitForAllApplied());
  EXPECT_EQ(log().CommittedUpTo(), static_cast<std::uint64_t>(kCommands));
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
