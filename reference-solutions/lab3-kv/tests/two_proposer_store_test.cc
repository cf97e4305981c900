// The reference store and lab 3's driver on a log with two proposers, unchanged: they know no Raft.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kv_world.h"
#include "two_proposer_checker.h"

namespace depfast {

std::unique_ptr<LogChecker> MakeLogChecker(const sim::GroupView& group, testkit::History&) {
  return std::make_unique<TwoProposerChecker>(group);
}

namespace kv {
namespace {

constexpr int kReplicas = 4;

// Runs a session's INCRs at all replicas in turn. Returns the last reply.
Reply CountAtEachReplica(KvWorld& world, int count) {
  Reply last;
  for (int i = 0; i < count; ++i) last = world.DoAt(i % kReplicas, Words("INCR n"));
  return last;
}

TEST(TwoProposerStore, ExecutesACommandOnceAlthoughBothProposersGetIt) {
  KvWorld world({.replicas = kReplicas, .seed = 31}, Snapshots::kAudited);
  EXPECT_EQ(CountAtEachReplica(world, 12), Reply::Integer(12));
  EXPECT_EQ(world.Do("GET n"), Reply::String("12"));
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_EQ(world.log().CommittedUpTo(), 12u) << "12 writes are 12 entries, reads are none";
  EXPECT_TRUE(world.AllInvariantsHold());
}

TEST(TwoProposerStore, SurvivesASlowProposer) {
  KvWorld world({.replicas = kReplicas, .seed = 32}, Snapshots::kAudited);
  world.cluster.Begin(faults::NetSlow({0}, 400ms));
  const Time begun = world.cluster.now();
  for (int i = 1; i <= 20; ++i) {
    ASSERT_EQ(world.DoAt(2, Words("INCR n")), Reply::Integer(i));
    ASSERT_EQ(world.DoAt(2, Words("GET n")), Reply::String(std::to_string(i)));
  }
  EXPECT_LT(world.cluster.now() - begun, 400ms) << "commands wait for the slow proposer";
  EXPECT_TRUE(world.AllInvariantsHold());
}

TEST(TwoProposerStore, SessionsExecuteARetryOnce) {
  KvWorld world({.replicas = kReplicas, .seed = 33}, Snapshots::kAudited);
  const std::int64_t session = world.OpenSession();
  ASSERT_GT(session, 0);
  EXPECT_EQ(world.DoInSession(session, 1, "INCR n"), Reply::Integer(1));
  EXPECT_EQ(world.DoInSession(session, 1, "INCR n"), Reply::Integer(1));
  EXPECT_EQ(world.Do("GET n"), Reply::String("1"));
  EXPECT_TRUE(world.AllInvariantsHold());
}

TEST(TwoProposerStore, IsLinearizableForClientsThatAskBothProposers) {
  constexpr int kClients = 4;
  constexpr int kEach = 30;
  KvWorld world({.replicas = kReplicas, .seed = 34}, Snapshots::kAudited);
  world.cluster.Schedule({faults::NetSlow({0}, 40ms).From(50ms).For(100ms),
                          faults::CrashFault({1}).From(200ms).For(200ms)});
  std::vector<std::unique_ptr<KvClient>> clients;
  int left = kClients * kEach;
  std::function<void(int, int)> next = [&](int who, int number) {
    if (number == kEach) return;
    const Command command = number % 3 == 0 ? Words("GET n") : Words("INCR n");
    world.Start(*clients[static_cast<std::size_t>(who)], who, command,
                [&, who, number](const KvOutcome&) {
                  --left;
                  next(who, number + 1);
                });
  };
  for (int who = 0; who < kClients; ++who) {
    clients.push_back(
        std::make_unique<KvClient>(world.cluster.simulator(), ClientOptions{.targets = 2}));
    next(who, 0);
  }
  ASSERT_TRUE(world.cluster.RunUntil([&] { return left == 0; }, 60s));
  EXPECT_TRUE(world.IsLinearizable());
}

}  // namespace
}  // namespace kv
}  // namespace depfast
