// The public tests of a Raft with Finalize: students see, run and replay them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "finalize_world.h"
#include "testkit/environment.h"

namespace depfast::lab4 {
namespace {

using kv::Reply;

GRADED_TEST(RaftFinalize, CommitsAndReads, "4a-raft", 2,
            "Lab 3's store works on this Raft, and its data survive the leader.") {
  FinalizeWorld world({.replicas = 3, .seed = 430});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  EXPECT_EQ(world.Do("SET x 1"), Reply::Ok());
  EXPECT_EQ(world.Do("INCR x"), Reply::Integer(2));
  world.cluster.Crash(leader);
  EXPECT_EQ(world.Do("GET x"), Reply::String("2"));
  EXPECT_EQ(world.Do("INCR x"), Reply::Integer(3));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftFinalize, AMildlySlowFollowerIsSentNothingTwice, "4a-raft", 2,
            "A follower that answers within the grace of a round is sent no entry twice, and "
            "delays no command.") {
  FinalizeWorld world({.replicas = 3, .seed = 431});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  const PeerId slow = world.Others(leader)[0];
  world.cluster.Begin(faults::NetSlow({slow}, 70ms));
  world.sent.Reset();
  const auto latencies = world.Write(leader, 2s);
  ASSERT_EQ(latencies.size(), 400u) << "commands have no reply";
  for (const Duration latency : latencies) ASSERT_LT(latency, 60ms);
  const auto sent = world.sent.To(slow);
  EXPECT_GE(sent.entries, 400u) << "the follower is not sent every entry";
  EXPECT_EQ(sent.repeated, 0u) << "entries that were sent again";
  EXPECT_TRUE(world.WaitForAllApplied(1s));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftFinalize, AVerySlowFollowerLeavesNothing, "4a-raft", 2,
            "When a follower answers after the grace, the leader's calls to it and its coroutines "
            "are few at any time, and gone when the load is over.") {
  FinalizeWorld world({.replicas = 3, .seed = 432});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  world.cluster.RunFor(1s);
  const auto coroutines = world.Coroutines(leader);
  const PeerId slow = world.Others(leader)[0];
  world.cluster.Begin(faults::NetSlow({slow}, 3s));
  std::uint64_t most_calls = 0;
  const auto latencies = world.Write(leader, 3s, {.interval = 2ms}, [&] {
    most_calls = std::max(most_calls, world.CallsTo(leader, slow));
  });
  ASSERT_EQ(latencies.size(), 1500u) << "commands have no reply";
  EXPECT_LE(most_calls, 120u);
  world.cluster.RunFor(1s);
  EXPECT_LE(world.CallsTo(leader, slow), kCallsAtRest);
  EXPECT_LE(world.Coroutines(leader), coroutines + kCoroutinesAtRest);
  EXPECT_TRUE(world.AllInvariantsHold());
}

// Reads from a leader that nobody hears.
void ReadInVain(FinalizeWorld& world) {
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  world.cluster.Begin(faults::CutFault({leader}, world.Others(leader)));
  kv::KvClient client(world.cluster.simulator());
  client.set_first(leader);
  for (int i = 0; i < 50; ++i) {
    client.Execute({"GET", "x"}, [](const kv::KvOutcome&) {});
    world.cluster.RunFor(10ms);
  }
  world.cluster.RunFor(2s);
  EXPECT_EQ(world.CallsOfAppend(leader), 0u) << "of a leader that was cut off, and follows";
}

GRADED_TEST(RaftGrace, ReadsLeaveNothing, "4a-raft", 1,
            "The calls that confirm reads are finalized, too: a very slow follower delays no read, "
            "and no call is left when the reads are over.") {
  FinalizeWorld world({.replicas = 3, .seed = 445});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  world.cluster.RunFor(1s);
  const auto coroutines = world.Coroutines(leader);
  const PeerId slow = world.Others(leader)[0];
  world.cluster.Begin(faults::NetSlow({slow}, 5s));
  const Time begin = world.cluster.now();
  for (int i = 0; i < 300; ++i) ASSERT_EQ(world.Do("GET x"), Reply::Nil());
  EXPECT_LT(world.cluster.now() - begin, 3s) << "300 reads, one after the other";
  world.cluster.RunFor(1s);
  EXPECT_LE(world.CallsTo(leader, slow), kCallsAtRest);
  EXPECT_LE(world.Coroutines(leader), coroutines + kCoroutinesAtRest);
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied());
  ReadInVain(world);
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The calls of heartbeats count, too: they are few in that time.
GRADED_TEST(RaftGrace, IsThatOfFinalize, "4a-raft", 2,
            "The grace is that of Finalize: it is given the calls of each round, of each read and "
            "of each campaign.") {
  constexpr std::uint64_t kCommands = 500;
  FinalizeWorld world({.replicas = 3, .seed = 433});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  const std::uint64_t before = world.Finalized(leader);
  for (std::uint64_t i = 0; i < kCommands; ++i) ASSERT_EQ(world.Do("SET x 1"), Reply::Ok());
  const std::uint64_t written = world.Finalized(leader);
  EXPECT_GE(written, before + 2 * kCommands) << "two followers, and a round for each SET";
  for (std::uint64_t i = 0; i < kCommands; ++i) ASSERT_EQ(world.Do("GET x"), Reply::String("1"));
  EXPECT_GE(world.Finalized(leader), written + 2 * kCommands) << "two followers, and 500 reads";
  const PeerId lonely = world.Others(leader)[0];
  for (const PeerId dead : {leader, world.Others(leader)[1]}) world.cluster.Crash(dead);
  const std::uint64_t followed = world.Finalized(lonely);
  world.cluster.RunFor(5s);
  EXPECT_GE(world.Finalized(lonely), followed + 2) << "it has campaigned alone";
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::lab4
