// Hidden tests of a Raft with Finalize: the followers that count as mildly slow, and what a very
// slow one leaves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "depfast/host/frame.h"
#include "finalize_world.h"
#include "raft_messages.h"
#include "round_grace.h"
#include "sim/observer.h"
#include "testkit/client.h"
#include "testkit/environment.h"
#include "testkit/some.h"
#include "testkit/told.h"

namespace depfast::lab4 {
namespace {

using kv::Reply;

// Runs a load under faults, in which every follower answers within the grace.
void ExpectNothingTwice(FinalizeWorld& world, PeerId leader, const std::vector<PeerId>& slow,
                        Duration latency_max) {
  constexpr std::size_t kValueBytes = 1024;
  constexpr std::size_t kOtherBytes = 64 * 1024;  // heartbeats, headers
  world.sent.Reset();
  const auto latencies = world.Write(leader, 2s, {.bytes = kValueBytes});
  ASSERT_EQ(latencies.size(), 400u) << "commands have no reply";
  EXPECT_LE(*std::max_element(latencies.begin(), latencies.end()), latency_max);
  for (const PeerId follower : testkit::Some(slow)) {
    const auto sent = world.sent.To(follower);
    EXPECT_GE(sent.entries, 400u) << "replica " << follower << " is not sent every entry";
    EXPECT_EQ(sent.repeated, 0u) << "entries that replica " << follower << " was sent again";
    EXPECT_LE(sent.bytes, sent.entry_bytes + kOtherBytes)
        << "bytes of all messages to replica " << follower << ": entries are sent twice";
  }
}

// The follower that makes the quorum takes 60 ms, the other 140 ms: 80 ms after the quorum.
GRADED_TEST(RaftGrace, BeginsAtTheQuorum, "4a-raft", 1,
            "The grace of a round begins at its quorum: a follower whose answer comes within the "
            "grace of a slow quorum is sent no entry twice.") {
  FinalizeWorld world({.replicas = 3, .seed = 440});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  const auto others = world.Others(leader);
  world.cluster.RunFor(200ms);  // the round that opened the term, with a fast quorum, is over
  world.cluster.Begin(faults::NetSlow({others[0]}, 60ms));
  world.cluster.Begin(faults::NetSlow({others[1]}, 140ms));
  ASSERT_NO_FATAL_FAILURE(ExpectNothingTwice(world, leader, others, 180ms));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftGrace, HoldsForSlownessThatVaries, "4a-raft", 1,
            "Two of five followers are slow, one by another time for each answer and one now and "
            "then. Both answer within the grace, and neither is sent an entry twice.") {
  FinalizeWorld world({.replicas = 5, .seed = 441});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  const auto others = world.Others(leader);
  faults::FaultPlan plan = {faults::NetJitter({others[0]}, 90ms)};
  for (int spike = 0; spike < 10; ++spike) {
    const Time begin = world.cluster.now() + 50ms + spike * 200ms;
    plan.push_back(faults::NetSlow({others[3]}, 80ms).From(begin).For(60ms));
  }
  world.cluster.Schedule(plan);
  ASSERT_NO_FATAL_FAILURE(
      ExpectNothingTwice(world, leader, {others[0], others[3]}, /*latency_max=*/60ms));
  EXPECT_TRUE(world.AllInvariantsHold());
}

// A leader's wait for a quorum may time out before any follower has answered.
void EveryQuorumIsLate() {
  FinalizeWorld world({.replicas = 3, .seed = 448});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  world.cluster.RunFor(200ms);
  world.cluster.Begin(faults::NetSlow(world.Others(leader), 115ms));
  ASSERT_NO_FATAL_FAILURE(ExpectNothingTwice(world, leader, world.Others(leader), 400ms));
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The followers answer 60 ms late. The other two are down, so every quorum needs a late answer.
GRADED_TEST(RaftGrace, LateAnswersCommit, "4a-raft", 1,
            "A late answer makes a quorum when the other followers are down or late, too, and the "
            "follower is still sent no entry twice.") {
  ASSERT_NO_FATAL_FAILURE(EveryQuorumIsLate());
  FinalizeWorld world({.replicas = 5, .seed = 442});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  const auto others = world.Others(leader);
  const std::vector<PeerId> slow = {others[0], others[1]};
  world.cluster.Begin(faults::NetSlow(slow, 60ms));
  world.cluster.RunFor(200ms);
  for (const PeerId dead : {others[2], others[3]}) world.cluster.Crash(dead);
  ASSERT_NO_FATAL_FAILURE(ExpectNothingTwice(world, leader, slow, 180ms));
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The links to two followers take 6 s. A link's window takes 256 KiB, the rest of 6 MB waits at the
// leader, unless it is released.
GRADED_TEST(
    RaftGrace, BoundsWhatVerySlowFollowersCost, "4a-raft", 1,
    "Two of five followers are very slow. The leader's calls, coroutines and held bytes stay "
    "bounded, and are gone after the grace of the last round.") {
  constexpr std::size_t kHeldMax = 256 * 1024;
  constexpr std::size_t kValueBytes = 4 * 1024;
  FinalizeWorld world({.replicas = 5, .seed = 443});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  world.cluster.RunFor(1s);
  const auto coroutines = world.Coroutines(leader);
  const std::vector<PeerId> slow = {world.Others(leader)[1], world.Others(leader)[2]};
  world.cluster.Begin(faults::LinkSlow({leader}, slow, 6s));
  world.cluster.simulator().ResetPeaks();
  std::uint64_t most_calls = 0;
  const auto latencies = world.Write(leader, 3s, {.interval = 2ms, .bytes = kValueBytes}, [&] {
    for (const PeerId peer : slow) most_calls = std::max(most_calls, world.CallsTo(leader, peer));
  });
  ASSERT_EQ(latencies.size(), 1500u) << "commands have no reply";
  EXPECT_LE(most_calls, 120u);
  EXPECT_LE(world.cluster.simulator().PeakHeldBytes(leader), 2 * kHeldMax);
  world.cluster.RunFor(1s);
  for (const PeerId peer : slow) {
    EXPECT_LE(world.CallsTo(leader, peer), kCallsAtRest);
    EXPECT_LE(world.cluster.simulator().HeldBytes(leader, peer), kHeldMax);
  }
  EXPECT_LE(world.Coroutines(leader), coroutines + kCoroutinesAtRest);
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied(10s)) << "they do not catch up";
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The rounds end without a quorum; their entries must come again, without another command.
void LoseWholeRounds() {
  FinalizeWorld world({.replicas = 3, .seed = 447});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_EQ(world.Do("SET x 1"), Reply::Ok());
  const auto cut = faults::CutFault({leader}, world.Others(leader));
  world.cluster.Begin(cut);
  kv::KvClient client(world.cluster.simulator());
  bool done = false;
  client.Execute({"SET", "x", "2"}, [&](const kv::KvOutcome& end) { done = end.is_known(); });
  world.cluster.RunFor(250ms);  // no follower campaigns yet
  world.cluster.End(cut);
  EXPECT_TRUE(world.cluster.RunUntil([&] { return done; }, 3s))
      << "a lost round is not made up for";
  EXPECT_TRUE(world.WaitForAllApplied(3s));
  EXPECT_TRUE(world.AllInvariantsHold());
}

// Both followers lag, so catch-up alone serves them: rounds are sent to nobody.
void RoundsWithoutFollowersLeaveNothing() {
  FinalizeWorld world({.replicas = 3, .seed = 456});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  world.cluster.RunFor(1s);
  const auto coroutines = world.Coroutines(leader);
  world.cluster.Begin(faults::LinkSlow(world.Others(leader), {leader}, 250ms));
  ASSERT_EQ(world.Write(leader, 2s).size(), 400u) << "commands have no reply";
  world.cluster.Heal();
  world.cluster.RunFor(1s);
  EXPECT_LE(world.Coroutines(leader), coroutines + kCoroutinesAtRest)
      << "of rounds that were sent to nobody";
  EXPECT_TRUE(world.WaitForAllApplied(3s));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftGrace, CatchUpIsBounded, "4a-raft", 1,
            "A follower that was silent for 2 s is sent what it missed once, and little more. A "
            "round that nobody has heard is made up for, too. One that is sent to nobody leaves "
            "nothing.") {
  ASSERT_NO_FATAL_FAILURE(LoseWholeRounds());
  ASSERT_NO_FATAL_FAILURE(RoundsWithoutFollowersLeaveNothing());
  FinalizeWorld world({.replicas = 3, .seed = 444});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  const PeerId slow = world.Others(leader)[1];
  const auto silent = faults::LinkSlow({leader}, {slow}, 4s);
  world.cluster.Begin(silent);
  world.sent.Reset();
  ASSERT_EQ(world.Write(leader, 2s, {.interval = 2ms}).size(), 1000u);
  world.cluster.RunFor(500ms);
  const std::size_t repeated = world.sent.To(slow).repeated;
  EXPECT_LE(repeated, 500u) << "entries that a silent follower was sent again";
  world.cluster.End(silent);
  ASSERT_TRUE(world.WaitForAllApplied(5s)) << "it does not catch up";
  EXPECT_LE(world.sent.To(slow).repeated, 800u) << "entries that were sent again in all";
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The longest time for which calls for votes are outstanding without a break.
Duration LongestTimeOfVotes(FinalizeWorld& world, PeerId candidate, Duration duration) {
  Duration longest{0};
  Time from = world.cluster.now();
  for (const Time end = from + duration; world.cluster.now() < end;) {
    world.cluster.RunFor(2ms);
    if (world.CallsForVotes(candidate) == 0) from = world.cluster.now();
    longest = std::max(longest, world.cluster.now() - from);
  }
  return longest;
}

// It does not hear the leader. The other three refuse it, and the leader's answers are lost.
void RefusedCampaignsLeaveNothing() {
  FinalizeWorld world({.replicas = 5, .seed = 449});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  const PeerId lonely = world.Others(leader)[0];
  world.cluster.Begin(faults::CutFault({leader}, {lonely}));
  EXPECT_GE(LongestTimeOfVotes(world, lonely, 3s), raft::kRoundGrace - 5ms)
      << "of the calls of a refused campaign: they have the grace";
  world.cluster.RunFor(7s);
  EXPECT_LE(world.CallsForVotes(lonely), 8u) << "calls of two campaigns";
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied(4s));
  EXPECT_TRUE(world.AllInvariantsHold());
}

// A leader is cut off and deposed. It follows the next leader then.
void DeposedLeadersLeaveNothing() {
  FinalizeWorld world({.replicas = 3, .seed = 450});
  for (int round = 1; round <= 3; ++round) {
    const PeerId leader = world.WaitForProposer(4s);
    ASSERT_NE(leader, kNobody);
    world.cluster.Partition({leader});
    world.cluster.RunFor(3s);
    world.cluster.Heal();
    ASSERT_EQ(world.Do("SET x 1"), Reply::Ok());
    world.cluster.RunFor(2s);
    for (const PeerId peer : testkit::Some(world.Others(leader))) {
      EXPECT_EQ(world.CallsTo(leader, peer), 0u) << "of a replica that follows";
    }
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

// Without a majority the only replica campaigns again and again.
GRADED_TEST(RaftGrace, ElectionsLeaveNothing, "4a-raft", 1,
            "The calls for votes are finalized: a replica that campaigns against silent peers has "
            "few of them, and none when it leads. One that is refused has them for the grace. A "
            "leader that was deposed has no calls.") {
  ASSERT_NO_FATAL_FAILURE(RefusedCampaignsLeaveNothing());
  ASSERT_NO_FATAL_FAILURE(DeposedLeadersLeaveNothing());
  FinalizeWorld world({.replicas = 3, .seed = 446});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_EQ(world.Do("SET x 1"), Reply::Ok());
  const auto others = world.Others(leader);
  world.cluster.Crash(leader);
  world.cluster.Crash(others[0]);
  const auto coroutines = world.Coroutines(others[1]);
  world.cluster.RunFor(10s);
  EXPECT_LE(world.CallsForVotes(others[1]), 8u) << "calls of two campaigns";
  EXPECT_LE(world.Coroutines(others[1]), coroutines + kCoroutinesAtRest);
  world.cluster.Restart(others[0]);
  ASSERT_NE(world.WaitForProposer(4s), kNobody);
  // The other one may have campaigned just before. It waits for the silent peer, for a second say.
  world.cluster.RunFor(2s);
  for (const PeerId replica : {others[0], others[1]}) {
    EXPECT_EQ(world.CallsForVotes(replica), 0u) << "of replica " << replica;
  }
  EXPECT_EQ(world.Do("GET x"), Reply::String("1"));
  EXPECT_TRUE(world.AllInvariantsHold());
}

// Four of five replicas have fast disks, and one of these is dead: three followers make each
// quorum.
GRADED_TEST(RaftGrace, IsNotThatOfTheOwnDisk, "4a-raft", 1,
            "The grace of a round begins at its quorum, also if the leader's own disk is slower "
            "than that: a silent follower leaves no more calls.") {
  FinalizeWorld world({.replicas = 5, .seed = 451});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  world.cluster.RunFor(200ms);
  const PeerId dead = world.Others(leader)[0];
  world.cluster.Crash(dead);
  world.cluster.Begin(faults::FsDelay({leader}, 1s));
  const auto latencies = world.Write(leader, 500ms);
  ASSERT_EQ(latencies.size(), 100u) << "commands have no reply";
  EXPECT_LT(*std::max_element(latencies.begin(), latencies.end()), 60ms)
      << "three of five disks are fast";
  EXPECT_LE(world.CallsTo(leader, dead), kCallsAtRest) << "to a dead follower, while all write";
  EXPECT_TRUE(world.AllInvariantsHold());
}

constexpr std::uint64_t kLaterTerm = 1000;

// A leader hears of a later term while it waits for a quorum, or within the grace after it. Then it
// hears nobody.
void ExpectNoRoundsLeft(Duration quorum_takes) {
  FinalizeWorld world({.replicas = 3, .seed = 452});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_EQ(world.Do("SET x 1"), Reply::Ok());
  world.cluster.RunFor(1s);
  const auto coroutines = world.Coroutines(leader);
  const auto others = world.Others(leader);
  world.cluster.Begin(faults::LinkSlow({leader}, {others[0]}, quorum_takes));
  world.cluster.Begin(faults::LinkSlow({leader}, {others[1]}, 10s));
  testkit::Client client(world.cluster.simulator());
  kv::KvClient writer(world.cluster.simulator());
  writer.set_first(leader);
  for (int i = 0; i < 10; ++i) {
    writer.Execute({"SET", "x", std::to_string(i)}, [](const kv::KvOutcome&) {});
    world.cluster.RunFor(5ms);
  }
  client.Call(leader, raft::RequestVote{kLaterTerm, others[0], 1000, kLaterTerm, false}, 1s,
              [](const auto&) {});
  world.cluster.RunFor(5ms);
  world.cluster.Heal();
  world.cluster.Partition({leader});
  world.cluster.RunFor(2s);
  EXPECT_EQ(world.CallsOfAppend(leader), 0u) << "of a leader that was deposed";
  EXPECT_LE(world.Coroutines(leader), coroutines + kCoroutinesAtRest);
  world.cluster.Heal();
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The chunks of snapshots that leaders of earlier terms have sent.
class EarlyChunks : private sim::Observer {
 public:
  explicit EarlyChunks(sim::Simulator& simulator) { simulator.AddObserver(this); }

  int count() const { return count_; }

 private:
  void OnFrame(sim::FrameStage stage, PeerId, PeerId, Time, const Bytes& frame) override {
    if (stage != sim::FrameStage::kQueued) return;
    std::string error;
    const auto sent = DecodeFrame(*frame, error);
    if (!sent || sent->header.kind != FrameKind::kRequest) return;
    if (sent->header.method != raft::InstallSnapshot::kMethod) return;
    const auto chunk = DecodeBody<raft::InstallSnapshot>(sent->body, error);
    if (chunk && chunk->term < kLaterTerm) ++count_;
  }

  int count_ = 0;
};

// A follower takes a snapshot when its leader hears of a later term.
void ADeposedLeaderEndsItsTransfer() {
  constexpr std::size_t kValueBytes = 256 * 1024;  // of the snapshot, too: several chunks
  FinalizeWorld world({.replicas = 3, .seed = 457});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  const PeerId away = world.Others(leader)[0];
  world.cluster.Partition({away});
  ASSERT_EQ(world.Write(leader, 300ms, {.interval = 10ms, .bytes = kValueBytes}).size(), 30u);
  world.cluster.Heal();
  world.cluster.Begin(faults::LinkSlow({away}, {leader}, 50ms));
  const EarlyChunks chunks(world.cluster.simulator());
  ASSERT_TRUE(world.cluster.RunUntil([&] { return chunks.count() > 1; }, 3s))
      << "a follower that missed 7.5 MB is sent no snapshot";
  testkit::Client client(world.cluster.simulator());
  client.Call(leader, raft::RequestVote{kLaterTerm, away, 1000, kLaterTerm, false}, 1s,
              [](const auto&) {});
  world.cluster.RunFor(5ms);
  const int before = chunks.count();
  world.cluster.RunFor(2s);
  EXPECT_EQ(chunks.count(), before)
      << "chunks of a snapshot: the leader goes on with it after it has heard of a later term";
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftGrace, OfADeposedLeaderEnds, "4a-raft", 1,
            "A leader that is deposed while a round waits for its quorum, or within the grace, "
            "releases the round's calls. One that sends a snapshot sends no more of it.") {
  ASSERT_NO_FATAL_FAILURE(ExpectNoRoundsLeft(/*quorum_takes=*/200ms));
  ASSERT_NO_FATAL_FAILURE(ExpectNoRoundsLeft(/*quorum_takes=*/10ms));
  ASSERT_NO_FATAL_FAILURE(ADeposedLeaderEndsItsTransfer());
}

// The rounds that wait at a leader for a follower whose link is full, and when they are taken back:
// the end of a call, as the wire shows it.
class HeldRounds : private sim::Observer {
 public:
  explicit HeldRounds(sim::Simulator& simulator) { simulator.AddObserver(this); }

  // Takes note of the rounds for this follower from now on. Forgets all before.
  void Watch(PeerId follower) {
    follower_ = follower;
    rounds_.clear();
  }

  // Each round is taken back between the two times after it was sent.
  void ExpectEnds(Duration least, Duration most) const {
    if (rounds_.empty()) {
      return testkit::CouldNotBuild(
          "no round waits at the leader for a follower whose link is full");
    }
    for (const auto& [frame, round] : testkit::Some(rounds_)) {
      ASSERT_LT(round.end, kForever) << "a round's call does not end";
      EXPECT_GE(round.end - round.begin, least) << "from the round to the end of its calls";
      EXPECT_LE(round.end - round.begin, most) << "from the round to the end of its calls";
    }
  }

 private:
  struct Round {
    Time begin;
    Time end = kForever;
  };

  void OnFrame(sim::FrameStage stage, PeerId, PeerId to, Time now, const Bytes& frame) override {
    if (to != follower_) return;
    if (stage == sim::FrameStage::kQueued && HasNewEntries(*frame)) rounds_[frame] = {now};
    if (stage == sim::FrameStage::kOnWire) rounds_.erase(frame);
    const auto found = rounds_.find(frame);
    if (stage == sim::FrameStage::kReleased && found != rounds_.end()) found->second.end = now;
  }

  // Catch-up sends entries again.
  bool HasNewEntries(const std::string& frame) {
    std::string error;
    const auto sent = DecodeFrame(frame, error);
    if (!sent || sent->header.method != raft::AppendEntries::kMethod) return false;
    const auto append = DecodeBody<raft::AppendEntries>(sent->body, error);
    if (!append || append->entries.empty()) return false;
    const std::pair last(append->entries.back().term,
                         append->prev_log_index + append->entries.size());
    return std::exchange(last_[follower_], std::max(last_[follower_], last)) < last;
  }

  PeerId follower_ = kNobody;
  std::map<Bytes, Round> rounds_;
  // Term and index of the latest entry that was sent, by follower.
  std::map<PeerId, std::pair<std::uint64_t, std::uint64_t>> last_;
};

// A link takes one round, and the rounds behind it wait at their sender.
class OneGraceWorld : public FinalizeWorld {
 public:
  OneGraceWorld() : FinalizeWorld({.replicas = 3, .seed = 454, .profile = NarrowLinks()}) {}

  // One follower makes the quorum, after `quorum_takes`. The other one's link is full.
  void ExpectOneGrace(Duration quorum_takes) {
    constexpr Duration kSoon = 30ms;
    const PeerId leader = WaitForProposer(4s);
    ASSERT_NE(leader, kNobody);
    cluster.RunFor(1s);
    ASSERT_TRUE(WaitForAllApplied());
    const auto others = Others(leader);
    cluster.Begin(faults::LinkSlow({leader}, {others[1]}, 600ms));
    ASSERT_EQ(Write(leader, 1ms, {.bytes = kWindow}).size(), 1u);  // the link is full
    held_.Watch(others[1]);
    cluster.Begin(faults::NetSlow({others[0]}, quorum_takes));
    ASSERT_EQ(Write(leader, 1ms, {.bytes = kWindow}).size(), 1u);
    cluster.RunFor(600ms);
    held_.ExpectEnds(raft::kRoundGrace, quorum_takes + raft::kRoundGrace + kSoon);
    cluster.Heal();
  }

  // No round finds anybody for a while.
  void LoseRounds() {
    const PeerId leader = WaitForProposer();
    ASSERT_NE(leader, kNobody);
    cluster.Schedule({faults::CutFault({leader}, Others(leader)).From(cluster.now()).For(250ms)});
    Write(leader, 250ms, {.interval = 50ms});
  }

 private:
  static constexpr std::size_t kWindow = 1024;

  static sim::Profile NarrowLinks() {
    sim::Profile profile = sim::Profile::Lab();
    profile.net.window_bytes = kWindow;
    return profile;
  }

  HeldRounds held_{cluster.simulator()};
};

// A Wait on a late quorum may time out before it. The grace begins then, or at the quorum.
GRADED_TEST(RaftGrace, IsOneInEachRound, "4a-raft", 1,
            "Each round has one grace, and not a longer one: neither a round with a late quorum, "
            "nor those after it, after lost rounds, or of the next leader.") {
  OneGraceWorld world;
  {
    SCOPED_TRACE("at first");
    ASSERT_NO_FATAL_FAILURE(world.ExpectOneGrace(/*quorum_takes=*/0ms));
  }
  {
    SCOPED_TRACE("the quorum is late");
    ASSERT_NO_FATAL_FAILURE(world.ExpectOneGrace(/*quorum_takes=*/115ms));
  }
  {
    SCOPED_TRACE("after lost rounds");
    ASSERT_NO_FATAL_FAILURE(world.LoseRounds());
    ASSERT_NO_FATAL_FAILURE(world.ExpectOneGrace(/*quorum_takes=*/0ms));
  }
  {
    SCOPED_TRACE("the next leader");
    world.cluster.Crash(world.WaitForProposer());
    ASSERT_NE(world.WaitForProposer(4s), kNobody);
    world.cluster.Heal();
    ASSERT_NO_FATAL_FAILURE(world.ExpectOneGrace(/*quorum_takes=*/0ms));
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

// When messages that wait for a follower are taken back, whatever they are.
class HeldMessages : private sim::Observer {
 public:
  HeldMessages(sim::Simulator& simulator, PeerId follower) : follower_(follower) {
    simulator.AddObserver(this);
  }

  std::size_t count() const { return messages_.size(); }
  // The ends of messages that were sent between the two times.
  std::vector<Time> EndsOf(Time from, Time to) const {
    std::vector<Time> ends;
    for (const auto& [frame, message] : messages_) {
      if (message.first >= from && message.first <= to) ends.push_back(message.second);
    }
    return ends;
  }

 private:
  void OnFrame(sim::FrameStage stage, PeerId from, PeerId to, Time now,
               const Bytes& frame) override {
    if (to != follower_ || from >= kFirstClient) return;
    if (stage == sim::FrameStage::kQueued) messages_[frame] = {now, kForever};
    if (stage == sim::FrameStage::kReleased) messages_[frame].second = now;
  }

  const PeerId follower_;
  std::map<Bytes, std::pair<Time, Time>> messages_;
};

// Each link of the leader is full, so nobody confirms a read.
void LostReadsHaveTheGrace() {
  constexpr Duration kSoon = 30ms;
  sim::Profile narrow = sim::Profile::Lab();
  narrow.net.window_bytes = 1;
  FinalizeWorld world({.replicas = 3, .seed = 455, .profile = narrow});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  world.cluster.RunFor(1s);
  world.cluster.Begin(faults::LinkSlow({leader}, world.Others(leader), 5s));
  const HeldMessages held(world.cluster.simulator(), world.Others(leader)[0]);
  world.cluster.RunFor(100ms);  // a heartbeat is on its way, and fills the link
  const std::size_t before = held.count();
  ASSERT_TRUE(world.cluster.RunUntil([&] { return held.count() > before; }, 1s));
  world.cluster.RunFor(10ms);  // no heartbeat comes with the read
  const Time asked = world.cluster.now();
  world.DoAt(leader, {"GET", "x"});
  const Time told = world.cluster.now();
  world.cluster.RunFor(1s);
  const auto ends = held.EndsOf(asked, asked + 5ms);
  EXPECT_FALSE(ends.empty()) << "the leader does not ask whether it still leads";
  for (const Time end : ends) {
    EXPECT_GE(end, told + raft::kRoundGrace - 5ms) << "the calls of a read that nobody confirms";
    EXPECT_LE(end, told + raft::kRoundGrace + kSoon) << "the calls of a read that nobody confirms";
  }
}

// The dead leader answers neither vote nor pre-vote.
GRADED_TEST(RaftGrace, IsThatOfElectionsAndReads, "4a-raft", 1,
            "Calls for votes and calls that confirm reads have kRoundGrace after their quorum, or "
            "after the wait for it: a silent peer's are there within it, and gone after it.") {
  ASSERT_NO_FATAL_FAILURE(LostReadsHaveTheGrace());
  FinalizeWorld world({.replicas = 3, .seed = 453});
  const PeerId dead = world.WaitForProposer();
  ASSERT_NE(dead, kNobody);
  world.cluster.RunFor(500ms);
  world.cluster.Crash(dead);
  const PeerId leader = world.WaitForProposer(4s);
  ASSERT_NE(leader, kNobody);
  world.cluster.RunFor(raft::kRoundGrace / 2);
  EXPECT_GT(world.CallsForVotes(leader), 0u) << "half a grace after its election";
  world.cluster.RunFor(raft::kRoundGrace);
  EXPECT_EQ(world.CallsForVotes(leader), 0u) << "after the grace";
  world.cluster.RunFor(1s);
  const std::uint64_t calls = world.CallsTo(leader, dead);
  for (int i = 0; i < 60; ++i) ASSERT_EQ(world.Do("GET x"), Reply::Nil());
  world.cluster.RunFor(raft::kRoundGrace * 3 / 2);
  EXPECT_LE(world.CallsTo(leader, dead), calls + 10) << "after the grace of 60 reads";
  EXPECT_TRUE(world.AllInvariantsHold());
}

// In each round the leader dies while the slow follower's answers are on their way.
GRADED_TEST(RaftGrace, SurvivesACrashOfTheLeader, "4a-raft", 1,
            "A leader that dies within the grace loses no acknowledged command, and its late "
            "answers harm nobody.") {
  FinalizeWorld world({.replicas = 3, .seed = 447});
  for (int round = 1; round <= 3; ++round) {
    const PeerId leader = world.WaitForProposer(4s);
    ASSERT_NE(leader, kNobody);
    const auto slow = faults::NetSlow({world.Others(leader)[0]}, 80ms);
    world.cluster.Begin(slow);
    ASSERT_EQ(world.Write(leader, 300ms).size(), 60u) << "commands have no reply";
    ASSERT_EQ(world.Do("INCR n"), Reply::Integer(round));
    world.cluster.RunFor(20ms);
    world.cluster.Crash(leader);
    ASSERT_NE(world.WaitForProposer(4s), kNobody);
    world.cluster.RunFor(50ms);
    world.cluster.Restart(leader);
    world.cluster.End(slow);
  }
  EXPECT_EQ(world.Do("GET n"), Reply::String("3"));
  EXPECT_TRUE(world.WaitForAllApplied(4s));
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::lab4
