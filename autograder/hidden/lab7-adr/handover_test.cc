// Hidden tests: the successor of a slow leader, and the messages of a hand-over.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "handover_world.h"
#include "testkit/environment.h"

namespace depfast::adr {
namespace {

using kv::Reply;

// ---- the successor ----

struct SlowLeader {
  Resource resource;
  faults::Fault (*fault)(PeerId leader);
  Duration delay;  // of its messages
  std::size_t value_bytes = 8;
};

// A client writes meanwhile.
void ReplaceALeader(int replicas, const SlowLeader& slow, std::uint64_t seed) {
  HandoverWorld world({.replicas = replicas, .seed = seed});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  kv::KvClient writer(world.cluster.simulator());
  writer.set_first(leader);
  const auto write = [&](int count) {
    for (int i = 0; i < count; ++i) {
      world.Start(writer, 1, {"SET", "k", std::string(slow.value_bytes, 'v')});
      world.cluster.RunFor(5ms);
    }
  };
  write(20);
  world.cluster.Begin(slow.fault(leader));
  write(20);
  world.FindsItselfSlow(leader, slow.resource);
  const Time begin = world.cluster.now();
  write(20);
  ASSERT_NE(world.WaitForSuccessor(leader, 2s), kNobody) << "no other replica leads";
  EXPECT_LE(world.cluster.now() - begin, 1500ms + 2 * slow.delay);
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.IsLinearizable());
}

GRADED_TEST(Successors, LeadSoon, "7d", 2,
            "With 3, 5 and 7 replicas, and whichever resource of the leader is slow, another "
            "replica leads within 1.5 s and twice the leader's delay.") {
  const std::vector<SlowLeader> all = {
      {Resource::kProcessor, [](PeerId id) { return faults::CpuSlow({id}, 10); }, 0ms},
      // No hand-over waits for this disk.
      {Resource::kDisk, [](PeerId id) { return faults::FsDelay({id}, 2s); }, 0ms},
      {Resource::kNetwork, [](PeerId id) { return faults::NetSlow({id}, 40ms); }, 40ms},
      // The successor lacks entries that are not committed when the drain ends.
      {Resource::kNetwork, [](PeerId id) { return faults::NetSlow({id}, 200ms); }, 200ms, 32768}};
  std::uint64_t seed = 710;
  for (const int replicas : {3, 5, 7}) {
    for (const SlowLeader& slow : all) {
      SCOPED_TRACE(std::to_string(replicas) + " replicas, world " + std::to_string(++seed));
      ASSERT_NO_FATAL_FAILURE(ReplaceALeader(replicas, slow, seed));
    }
  }
}

// The reports of four peers, of which all but one speak against their sender.
std::vector<PeerReport> OneIsWell(const std::vector<PeerId>& peers, std::size_t well) {
  std::vector<PeerReport> reports;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    PeerReport report = HandoverWorld::Well(peers[i]);
    switch ((i + peers.size() - well) % peers.size()) {
      case 0:
        break;
      case 1:
        report.levels.processor = Level::kFatal;
        break;
      case 2:
        report.levels.disk = Level::kSlow;
        break;
      default:
        for (const PeerId other : peers) {
          if (other != peers[i]) report.levels.links[other] = Level::kFatal;
        }
        break;
    }
    reports.push_back(report);
  }
  return reports;
}

void ChooseTheWellOne(std::size_t well, std::uint64_t seed) {
  HandoverWorld world({.replicas = 5, .seed = seed});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_EQ(world.Do("INCR n"), Reply::Integer(1));
  ASSERT_TRUE(world.WaitForAllApplied());
  const auto peers = world.Others(leader);
  world.FindsItselfSlow(leader, OneIsWell(peers, well));
  EXPECT_EQ(world.WaitForSuccessor(leader, 1500ms), peers[well]);
  EXPECT_TRUE(world.AllInvariantsHold());
}

// A peer that has sent no report, or an old one.
void ChooseOneWithAReport(bool is_old, std::uint64_t seed) {
  HandoverWorld world({.replicas = 3, .seed = seed});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_EQ(world.Do("INCR n"), Reply::Integer(1));
  ASSERT_TRUE(world.WaitForAllApplied());
  const auto peers = world.Others(leader);
  std::vector<PeerReport> reports = {HandoverWorld::Well(peers[1])};
  if (is_old) {
    reports.push_back(HandoverWorld::Well(peers[0]));
    reports.back().age_ns = (kReportAgeMax + 250ms).count();
  }
  world.FindsItselfSlow(leader, reports);
  EXPECT_EQ(world.WaitForSuccessor(leader, 1500ms), peers[1]);
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(Successors, AreWell, "7d", 2,
            "No leader hands over to a replica with a warning, with long links to most others, or "
            "without a report of the last second. A long link to the leader alone is no reason.") {
  for (std::size_t well = 0; well < 4; ++well) {
    SCOPED_TRACE("peer " + std::to_string(well) + " is well");
    ASSERT_NO_FATAL_FAILURE(ChooseTheWellOne(well, 730 + well));
  }
  ASSERT_NO_FATAL_FAILURE(ChooseOneWithAReport(/*is_old=*/false, 735));
  ASSERT_NO_FATAL_FAILURE(ChooseOneWithAReport(/*is_old=*/true, 736));
  HandoverWorld world({.replicas = 3, .seed = 737});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  std::vector<PeerReport> reports;
  for (const PeerId peer : world.Others(leader)) {
    reports.push_back(HandoverWorld::Well(peer));
    reports.back().levels.links[leader] = Level::kFatal;
  }
  world.FindsItselfSlow(leader, reports, Resource::kNetwork);
  EXPECT_NE(world.WaitForSuccessor(leader, 1500ms), kNobody) << "both peers are well";
  EXPECT_TRUE(world.AllInvariantsHold());
}

// A replica that has forgotten what is committed leads, far from one that lacks it.
void LeadWithoutKnowing(std::uint64_t seed) {
  HandoverWorld world({.replicas = 3, .seed = seed});
  const PeerId first = world.WaitForProposer();
  ASSERT_NE(first, kNobody);
  const PeerId next = world.Others(first)[0], behind = world.Others(first)[1];
  ASSERT_TRUE(world.WaitForAllApplied());
  world.client.set_first(first);
  world.cluster.Begin(faults::CutFault({first}, {behind}));
  for (int i = 1; i <= 20; ++i) ASSERT_EQ(world.Do("INCR n"), Reply::Integer(i));
  world.cluster.Crash(first);
  world.cluster.Crash(next);
  world.cluster.Restart(next);
  world.cluster.RunFor(20ms);
  world.FindsItselfSlow(next, {HandoverWorld::Well(behind)});
  world.cluster.Begin(faults::NetSlow({next}, 160ms));
  const auto leads = [&] { return world.checker.Leader() == next; };
  ASSERT_TRUE(world.cluster.RunUntil(leads, 6s)) << "the only one with all entries does not lead";
  EXPECT_EQ(world.WaitForSuccessor(next, 3s), behind);
  EXPECT_TRUE(world.AllInvariantsHold());
}

// One of the followers does not hear the leader while the others commit.
GRADED_TEST(
    Successors, HaveCaughtUp, "7d", 2,
    "No leader hands over to a replica that lacks committed entries, also if that one alone "
    "is well: the leader stays until it has caught up. A new leader waits until it knows them.") {
  for (std::uint64_t seed = 740; seed < 744; ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    HandoverWorld world({.replicas = 3, .seed = seed});
    const PeerId leader = world.WaitForProposer();
    ASSERT_NE(leader, kNobody);
    const PeerId behind = world.Others(leader)[seed % 2];
    const auto cut = faults::CutFault({leader}, {behind});
    world.client.set_first(leader);
    world.cluster.Begin(cut);
    for (int i = 1; i <= 20; ++i) ASSERT_EQ(world.Do("INCR n"), Reply::Integer(i));
    world.FindsItselfSlow(leader, {HandoverWorld::Well(behind)});
    world.cluster.RunFor(2s);
    ASSERT_EQ(world.checker.sent().size(), 0u) << "messages";
    ASSERT_EQ(world.Do("INCR n"), Reply::Integer(21));
    world.cluster.End(cut);
    EXPECT_EQ(world.WaitForSuccessor(leader, 3s), behind) << "it has caught up";
    EXPECT_TRUE(world.AllInvariantsHold());
  }
  ASSERT_NO_FATAL_FAILURE(LeadWithoutKnowing(746));
}

GRADED_TEST(Successors, AreForSlowLeaders, "7d", 1,
            "A leader that finds a peer, everybody or nobody slow stays. So does a follower that "
            "finds itself slow.") {
  HandoverWorld world({.replicas = 3, .seed = 745});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  const auto others = world.Others(leader);
  const std::vector<PeerReport> well = {HandoverWorld::Well(others[0]),
                                        HandoverWorld::Well(others[1])};
  world.FindsItselfSlow(others[0]);
  for (const auto who :
       {Suspicion::Who::kPeer, Suspicion::Who::kEverybody, Suspicion::Who::kNobody}) {
    world.Plant(leader, {.suspicion = {who, others[0], Resource::kProcessor}, .reports = well});
    world.cluster.RunFor(3s);
    EXPECT_EQ(world.Do("INCR n").kind, Reply::Kind::kInteger);
  }
  EXPECT_EQ(world.checker.sent().size(), 0u) << "messages";
  EXPECT_EQ(world.checker.Leader(), leader);
  EXPECT_TRUE(world.AllInvariantsHold());
}

// ---- the message ----

void ExpectNothing(HandoverWorld& world, PeerId replica, const raft::TimeoutNow& message,
                   const char* what) {
  SCOPED_TRACE(what);
  const PeerId leader = world.checker.Leader();
  const std::uint64_t term = world.checker.claims(leader).term;
  const auto answer = world.Tell(replica, message);
  EXPECT_FALSE(answer && answer->campaigns);
  world.cluster.RunFor(500ms);
  EXPECT_EQ(world.checker.Leader(), leader);
  EXPECT_EQ(world.checker.claims(leader).term, term) << "the term";
}

GRADED_TEST(Messages, OfAnotherTermOrLeaderDoNothing, "7d", 2,
            "A TimeoutNow of an old or a future term, of a replica that does not lead, of an entry "
            "that its addressee lacks, or to the leader itself changes nothing: no rest begins.") {
  HandoverWorld world({.replicas = 3, .seed = 750});
  const PeerId first = world.WaitForProposer();
  ASSERT_NE(first, kNobody);
  const std::uint64_t old_term = world.checker.claims(first).term;
  world.cluster.Crash(first);
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  world.cluster.Restart(first);
  ASSERT_EQ(world.Do("INCR n"), Reply::Integer(1));
  ASSERT_TRUE(world.WaitForAllApplied());
  const PeerId peer = leader == 1 ? 2 : 1;
  const PeerId third = 3 - leader - peer;
  const std::uint64_t term = world.checker.claims(leader).term;
  const std::uint64_t last = world.checker.CommittedUpTo();
  ExpectNothing(world, peer, {old_term, first, 1}, "of an old term");
  ExpectNothing(world, peer, {old_term, leader, 1}, "of an old term, by its present leader");
  ExpectNothing(world, peer, {term + 1, leader, last}, "of a future term");
  ExpectNothing(world, peer, {term, third, last}, "of a replica that does not lead");
  ExpectNothing(world, peer, {term, kNobody, last}, "of nobody");
  ExpectNothing(world, peer, {term, leader, last + 100}, "of an entry that is not there");
  ExpectNothing(world, leader, {term, leader, last}, "to the leader");
  world.FindsItselfSlow(leader);
  EXPECT_NE(world.WaitForSuccessor(leader, 1500ms), kNobody)
      << "it has obeyed nothing, so it does not rest";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(Messages, AreObeyedOnce, "7d", 2,
            "A replica that its leader tells to campaign does so at once, without pre-votes, and "
            "once: the same message again, or a heartbeat right behind it, does nothing.") {
  for (std::uint64_t seed = 751; seed < 761; ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    HandoverWorld world({.replicas = 3, .seed = seed});
    const PeerId leader = world.WaitForProposer();
    ASSERT_NE(leader, kNobody);
    ASSERT_EQ(world.Do("INCR n"), Reply::Integer(1));
    ASSERT_TRUE(world.WaitForAllApplied());
    const PeerId heir = world.Others(leader)[seed % 2];
    const raft::TimeoutNow message{world.checker.claims(leader).term, leader,
                                   world.checker.CommittedUpTo()};
    const auto answer = world.Tell(heir, message, /*with_heartbeats=*/seed % 2 == 0);
    EXPECT_TRUE(answer && answer->campaigns);
    EXPECT_EQ(world.WaitForSuccessor(leader, raft::kElectionTimeoutMin), heir);
    EXPECT_EQ(world.checker.claims(heir).term, message.term + 1);
    ExpectNothing(world, heir, message, "the same message again");
    EXPECT_EQ(world.Do("INCR n"), Reply::Integer(2));
    EXPECT_TRUE(world.AllInvariantsHold());
  }
}

// A follower without a leader in memory has not heard of one since its start.
GRADED_TEST(Messages, NeedAKnownLeader, "7d", 1,
            "A replica that has not heard of its term's leader since its start obeys nobody.") {
  HandoverWorld world({.replicas = 3, .seed = 758});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(world.WaitForAllApplied());
  const PeerId lonely = world.Others(leader)[0];
  world.cluster.Crash(lonely);
  world.cluster.Partition({lonely});
  world.cluster.Restart(lonely);
  world.cluster.RunFor(20ms);
  for (const PeerId by : {leader, kNobody}) {
    const auto answer = world.Tell(lonely, {world.checker.claims(leader).term, by, 0});
    EXPECT_FALSE(answer && answer->campaigns);
  }
  world.cluster.Heal();
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::adr
