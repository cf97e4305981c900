// Hidden tests: the messages to a follower that is behind, and its reactions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "depfast/host/frame.h"
#include "raft_world.h"
#include "safety.h"
#include "sizes.h"
#include "testkit/environment.h"
#include "testkit/told.h"

namespace depfast::raft {
namespace {

// Counts the chunks of snapshots that replicas send.
class ChunkWatch : private sim::Observer {
 public:
  explicit ChunkWatch(RaftWorld& world) { world.cluster.simulator().AddObserver(this); }

  int chunks() const { return chunks_; }
  int ChunksOf(std::uint64_t term) const {
    const auto found = by_term_.find(term);
    return found == by_term_.end() ? 0 : found->second;
  }
  std::size_t largest() const { return largest_; }

 private:
  void OnOutputsLeave(PeerId, Time, const std::vector<sim::Output>& outputs) override {
    for (const sim::Output& output : outputs) {
      if (const auto* sent = std::get_if<sim::SendFrame>(&output)) Look(*sent->bytes);
    }
  }

  void Look(const std::string& bytes) {
    std::string error;
    const auto frame = DecodeFrame(bytes, error);
    if (!frame || frame->header.kind != FrameKind::kRequest ||
        frame->header.method != InstallSnapshot::kMethod) {
      return;
    }
    ++chunks_;
    if (const auto chunk = DecodeBody<InstallSnapshot>(frame->body, error)) {
      largest_ = std::max(largest_, chunk->data.size());
      ++by_term_[chunk->term];
    }
  }

  int chunks_ = 0;
  std::size_t largest_ = 0;
  std::map<std::uint64_t, int> by_term_;
};

Snapshot LatestOf(RaftWorld& world, PeerId replica) {
  const auto& file = world.cluster.simulator().disk(replica).files().at(kSnapshotFile);
  return DecodeSnapshot(file.data).value_or(Snapshot());
}

// The index after which the log on the replica's disk begins.
std::uint64_t BaseOf(RaftWorld& world, PeerId replica) {
  WalState state;
  std::ignore = state.Recover(world.cluster.simulator().disk(replica).files().at(kWalFile).data);
  return state.log.base_index();
}

bool CommitLargeUpTo(RaftWorld& world, std::uint64_t end) {
  while (world.checker.MaxCommitIndex() < end) {
    const std::uint64_t next = world.checker.MaxCommitIndex() + 1;
    world.SubmitOneLarge();
    if (!world.cluster.RunUntil([&] { return world.checker.MaxCommitIndex() >= next; }, 2s)) {
      return false;
    }
  }
  return true;
}

constexpr std::uint64_t kEndAfterCompaction = 200;  // 6 MB
constexpr std::uint64_t kEdgeSeed = 795;

// A follower's log ends at `last`, near the beginning of the leader's log.
void CatchUpFrom(std::uint64_t last) {
  SCOPED_TRACE("a log that ends at index " + std::to_string(last));
  RaftWorld world({.replicas = 3, .seed = kEdgeSeed});
  const ChunkWatch watch(world);
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(CommitLargeUpTo(world, last));
  ASSERT_TRUE(world.WaitForAllApplied());
  world.cluster.Partition({world.Others(leader)[0]});
  ASSERT_TRUE(CommitLargeUpTo(world, kEndAfterCompaction));
  world.cluster.RunFor(1s);
  const std::size_t bytes = LatestOf(world, leader).state.size();
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied()) << "it stays behind";
  EXPECT_LE(watch.chunks(), bytes / kSnapshotChunkBytes + 4) << "chunks are sent again";
  ASSERT_TRUE(world.AllInvariantsHold());
}

void CatchUpAtTheEdgeOfTheLog() {
  std::uint64_t base = 0;
  {
    RaftWorld trial({.replicas = 3, .seed = kEdgeSeed});
    const PeerId leader = trial.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    ASSERT_TRUE(CommitLargeUpTo(trial, kEndAfterCompaction));
    trial.cluster.RunFor(1s);
    base = BaseOf(trial, leader);
  }
  ASSERT_GT(base, 2u) << "6 MB were committed, and the leader has compacted nothing";
  for (std::uint64_t last = base - 2; last <= base + 1; ++last) {
    ASSERT_NO_FATAL_FAILURE(CatchUpFrom(last));
  }
}

// In each round the leader dies while a follower is away, and the other one leads. In about a
// quarter of them that one has compacted meanwhile.
void TheNextLeaderHasEntries() {
  RaftWorld world({.replicas = 3, .seed = 791});
  const ChunkWatch watch(world);
  for (int round = 0; round < 16; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PeerId leader = world.WaitForLeader(6s);
    ASSERT_NE(leader, kNobody);
    ASSERT_TRUE(world.WaitForAllApplied());
    const PeerId away = world.Others(leader)[0];
    world.cluster.Partition({away});
    const std::uint64_t end = world.checker.MaxCommitIndex() + 24;
    ASSERT_TRUE(CommitLargeUpTo(world, end)) << "two of three replicas make no progress";
    world.cluster.RunFor(2 * kHeartbeatInterval);  // the other follower hears of the last commit
    world.cluster.Crash(leader);
    world.cluster.End(faults::PartitionFault({away}));
    ASSERT_NE(world.WaitForLeader(6s), kNobody) << "two of three replicas elect no leader";
    ASSERT_TRUE(world.cluster.RunUntil([&] { return world.checker.AppliedUpTo(away) >= end; }, 3s))
        << "it stays behind";
    ASSERT_EQ(watch.chunks(), 0) << "the next leader has no entries for it, and sends a snapshot";
    world.cluster.Restart(leader);
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

// In about half of the rounds the leader compacts while the follower is away.
GRADED_TEST(
    RaftSnapshots, AFollowerThatMissesLittleGetsEntries, "2d", 1,
    "A follower that missed 768 KB gets entries and no snapshot, also after compaction, and of the "
    "next leader; one at the edge of the leader's log catches up.") {
  ASSERT_NO_FATAL_FAILURE(TheNextLeaderHasEntries());
  ASSERT_NO_FATAL_FAILURE(CatchUpAtTheEdgeOfTheLog());
  RaftWorld world({.replicas = 3, .seed = 790});
  const ChunkWatch watch(world);
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const PeerId away = world.Others(leader)[0];
  for (int round = 0; round < 24; ++round) {
    world.cluster.Partition({away});
    // Not CommitBytes: it submits more if answers come late, and then the follower misses more.
    const std::uint64_t end = world.checker.MaxCommitIndex() + 24;
    for (int i = 0; i < 24; ++i) world.SubmitOneLarge();
    ASSERT_TRUE(world.cluster.RunUntil([&] { return world.checker.MaxCommitIndex() >= end; }, 3s))
        << "round " << round << ": two of three replicas make no progress";
    world.cluster.Heal();
    ASSERT_TRUE(world.cluster.RunUntil([&] { return world.checker.AppliedUpTo(away) >= end; }, 3s))
        << "round " << round << ": it stays behind";
    ASSERT_EQ(watch.chunks(), 0) << "round " << round
                                 << ": it was sent a snapshot by InstallSnapshot";
  }
  EXPECT_TRUE(world.checker.HasSnapshot(leader)) << "18 MB were committed";
  EXPECT_TRUE(world.AllInvariantsHold());
}

struct Transfer {
  PeerId leader = kNobody;
  PeerId away = kNobody;  // the follower that needs the snapshot
};

// A follower misses more entries than the leader keeps. So the leader sends it a snapshot from now
// on. Nothing if the cluster makes no progress.
std::optional<Transfer> BeginTransfer(RaftWorld& world) {
  const PeerId leader = world.WaitForLeader();
  if (leader == kNobody) return std::nullopt;
  const PeerId away = world.Others(leader)[0];
  world.cluster.Partition({away});
  if (!world.CommitBytes(6 * kMiB)) return std::nullopt;
  world.cluster.Heal();
  return Transfer{leader, away};
}

// A leader hears of a newer term while the follower takes its chunks.
void ADeposedLeaderEndsItsTransfer() {
  RaftWorld world({.replicas = 3, .seed = 805});
  const ChunkWatch watch(world);
  const auto transfer = BeginTransfer(world);
  ASSERT_TRUE(transfer) << "two of three replicas make no progress";
  const PeerId leader = transfer->leader, away = transfer->away;
  world.cluster.Begin(faults::LinkSlow({away}, {leader}, 50ms));
  ASSERT_TRUE(world.cluster.RunUntil([&] { return watch.chunks() > 2; }, 3s)) << "no chunk leaves";
  const std::uint64_t term = world.checker.claims(leader).term;
  testkit::Client client(world.cluster.simulator());
  client.Call(leader, RequestVote{term + 3, world.Others(leader)[1], 0, 0, false}, 1s,
              [](const auto&) {});
  world.cluster.RunFor(1s);
  const int before = watch.ChunksOf(term);
  world.cluster.RunFor(2s);
  EXPECT_EQ(watch.ChunksOf(term), before) << "it goes on although its term is over";
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied(3s));
  ASSERT_TRUE(world.AllInvariantsHold());
}

// The first answer to a leader that names this term or a later one.
class NewerTerm : private sim::Observer {
 public:
  NewerTerm(RaftWorld& world, PeerId leader, std::uint64_t term) : leader_(leader), term_(term) {
    world.cluster.simulator().AddObserver(this);
  }

  bool has_come() const { return has_come_; }
  bool is_of_a_chunk() const { return is_of_a_chunk_; }

 private:
  void OnFrame(sim::FrameStage stage, PeerId, PeerId to, Time, const Bytes& bytes) override {
    if (has_come_ || stage != sim::FrameStage::kArrived || to != leader_) return;
    std::string error;
    const auto frame = DecodeFrame(*bytes, error);
    if (!frame || frame->header.kind != FrameKind::kReply) return;
    is_of_a_chunk_ = frame->header.method == InstallSnapshot::kMethod;
    has_come_ =
        (is_of_a_chunk_ && Names<InstallSnapshotReply>(frame->body)) ||
        (frame->header.method == AppendEntries::kMethod && Names<AppendEntriesReply>(frame->body));
  }

  template <typename Reply>
  bool Names(std::string_view body) const {
    std::string error;
    const auto reply = DecodeBody<Reply>(body, error);
    return reply && reply->term >= term_;
  }

  const PeerId leader_;
  const std::uint64_t term_;
  bool has_come_ = false;
  bool is_of_a_chunk_ = false;
};

// The follower, whose answers are `late`, hears of a newer term between two chunks, `after` some.
// Returns whether the answer to a chunk is the first to name it: the leader steps down with that.
bool AChunksAnswerIsFirst(Duration late, Duration after) {
  constexpr Duration kAtOnce = 5ms;
  RaftWorld world({.replicas = 3, .seed = 807});
  const ChunkWatch watch(world);
  const auto transfer = BeginTransfer(world);
  if (!transfer) return false;
  const PeerId leader = transfer->leader, away = transfer->away;
  world.cluster.Begin(faults::LinkSlow({away}, {leader}, late));
  if (!world.cluster.RunUntil([&] { return watch.chunks() > 2; }, 3s)) return false;
  world.cluster.RunFor(after);
  const std::uint64_t newer = world.checker.claims(leader).term + 3;
  const NewerTerm answer(world, leader, newer);
  testkit::Client client(world.cluster.simulator());
  client.Call(away, RequestVote{newer, world.Others(leader)[1], 0, 0, false}, 1s,
              [](const auto&) {});
  world.cluster.RunUntil([&] { return answer.has_come(); }, 2s);
  if (!answer.is_of_a_chunk()) return false;
  world.cluster.RunFor(kAtOnce);
  EXPECT_GE(world.checker.claims(leader).term, newer)
      << "the answer to a chunk names a newer term, and the leader goes on";
  EXPECT_TRUE(world.AllInvariantsHold());
  return true;
}

void AChunksAnswerEndsALeadership() {
  bool is_first = false;
  // A leader may send each chunk right behind a beat, so the phase of the answers changes, too.
  for (const Duration late : {50ms, 63ms, 81ms}) {
    for (Duration after{0}; after < 100ms && !is_first; after += 7ms) {
      is_first = AChunksAnswerIsFirst(late, after);
    }
  }
  if (!is_first) {
    testkit::CouldNotBuild(
        "no leader that sends a snapshot learns of a newer term by the answer to a chunk first. "
        "Does "
        "it send chunks to a follower whose answers are late, and beats beside them?");
  }
}

// The leader and a follower that needs the snapshot are a bare majority. The follower answers.
void ATransferEndsNoTerm() {
  RaftWorld world({.replicas = 3, .seed = 806});
  const auto transfer = BeginTransfer(world);
  ASSERT_TRUE(transfer) << "two of three replicas make no progress";
  const PeerId leader = transfer->leader, away = transfer->away;
  world.cluster.Crash(3 - leader - away);
  const std::uint64_t term = world.checker.claims(leader).term;
  world.cluster.Begin(faults::LinkSlow({leader}, {away}, 200ms));
  world.cluster.Begin(faults::LinkSlow({away}, {leader}, 200ms));
  ASSERT_TRUE(world.cluster.RunUntil([&] { return world.checker.claims(away).restored > 0; }, 8s))
      << "no snapshot arrives within 8 s";
  EXPECT_EQ(world.checker.claims(leader).term, term) << "its leader has given up";
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The leader compacts every few chunks. It must go on with the snapshot that it has begun to send.
GRADED_TEST(
    RaftSnapshots, ATransferOutlivesCompactions, "2d", 1,
    "A snapshot on its way over a slow link arrives, although the leader takes new ones; "
    "its transfer ends with the leader's term, also if the answer to a chunk ends that. A follower "
    "that takes it keeps its leader.") {
  ASSERT_NO_FATAL_FAILURE(ADeposedLeaderEndsItsTransfer());
  ASSERT_NO_FATAL_FAILURE(AChunksAnswerEndsALeadership());
  ASSERT_NO_FATAL_FAILURE(ATransferEndsNoTerm());
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    RaftWorld world({.replicas = 3, .seed = 800 + seed});
    const ChunkWatch watch(world);
    const auto transfer = BeginTransfer(world);
    ASSERT_TRUE(transfer) << "two of three replicas make no progress";
    const PeerId leader = transfer->leader, away = transfer->away;
    world.cluster.Begin(faults::LinkSlow({leader}, {away}, 300ms));
    world.cluster.Begin(faults::LinkSlow({away}, {leader}, 300ms));
    const Time limit = world.cluster.now() + 8s;
    while (world.checker.claims(away).restored == 0 && world.cluster.now() < limit) {
      ASSERT_TRUE(world.CommitBytes(kMiB));
      world.cluster.RunFor(100ms);
    }
    EXPECT_GE(world.checker.claims(away).restored, 1u) << "no snapshot arrives within 8 s";
    EXPECT_LE(watch.largest(), kSnapshotChunkBytes) << "a chunk is too large";
    world.cluster.Heal();
    ASSERT_TRUE(world.WaitForAllApplied());
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

// Sends chunks to one replica, in the name of its leader, which leads the next term now. The
// replica hears of that term by a chunk.
class Sender {
 public:
  Sender(RaftWorld& world, PeerId leader, PeerId receiver)
      : world_(world),
        client_(world.cluster.simulator()),
        leader_(leader),
        receiver_(receiver),
        term_(world.checker.claims(leader).term + 1) {}

  // Returns the number of the snapshot's bytes that the replica says it has; nothing if it does not
  // answer.
  std::optional<std::uint64_t> Send(const Snapshot& snapshot, std::uint64_t offset) {
    std::optional<std::uint64_t> received;
    const InstallSnapshot chunk{term_,
                                leader_,
                                snapshot.last_index,
                                snapshot.last_term,
                                snapshot.state.size(),
                                offset,
                                snapshot.state.substr(offset, kSnapshotChunkBytes)};
    client_.Call(receiver_, chunk, 1s, [&](const std::optional<InstallSnapshotReply>& reply) {
      if (!reply) return;
      received = reply->received;
      EXPECT_EQ(reply->term, term_) << "it has heard of a leader's newer term";
    });
    world_.cluster.RunUntil([&] { return client_.outstanding() == 0; }, 2s);
    return received;
  }

 private:
  RaftWorld& world_;
  testkit::Client client_;
  const PeerId leader_;
  const PeerId receiver_;
  const std::uint64_t term_;
};

// In the middle of a transfer a chunk of another snapshot comes. The follower may drop those that
// it has: then its answers tell the leader where to go on.
void ATransferGoesOnWhereTheFollowerIs() {
  RaftWorld world({.replicas = 3, .seed = 808});
  const ChunkWatch watch(world);
  const auto transfer = BeginTransfer(world);
  ASSERT_TRUE(transfer) << "two of three replicas make no progress";
  const auto [leader, away] = *transfer;
  world.cluster.Begin(faults::LinkSlow({leader}, {away}, 50ms));
  ASSERT_TRUE(world.cluster.RunUntil([&] { return watch.chunks() > 2; }, 3s)) << "no chunk leaves";
  const Snapshot snapshot = LatestOf(world, leader);
  testkit::Client client(world.cluster.simulator());
  client.Call(away,
              InstallSnapshot{world.checker.claims(leader).term, leader, snapshot.last_index - 1,
                              snapshot.last_term, snapshot.state.size(), 0,
                              snapshot.state.substr(0, kSnapshotChunkBytes)},
              1s, [](const auto&) {});
  EXPECT_TRUE(world.WaitForAllApplied(6s))
      << "a follower whose transfer was disturbed stays behind";
  EXPECT_GE(world.checker.claims(away).restored, 1u);
  EXPECT_TRUE(world.AllInvariantsHold());
}

// A follower gets the chunks of two snapshots in any order. Each snapshot on its disk must be a
// state that the checker knows.
GRADED_TEST(
    RaftSnapshots, ChunksOfTwoSnapshotsAreNeverMixed, "2d", 1,
    "A follower that is sent chunks of two snapshots never makes one of both. A leader goes "
    "on where the follower is.") {
  ASSERT_NO_FATAL_FAILURE(ATransferGoesOnWhereTheFollowerIs());
  int partial = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    RaftWorld world({.replicas = 3, .seed = 810 + seed});
    RandomStream random(world.cluster.simulator().options().seed, 810);
    const PeerId leader = world.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    const PeerId away = world.Others(leader)[0];
    world.cluster.Partition({away});
    std::vector<Snapshot> snapshots;
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(world.CommitBytes(5 * kMiB));
      world.cluster.RunFor(1s);
      ASSERT_TRUE(world.checker.HasSnapshot(leader)) << "5 MB were committed";
      snapshots.push_back(LatestOf(world, leader));
    }
    ASSERT_LT(snapshots[0].last_index, snapshots[1].last_index);
    Sender sender(world, leader, away);
    const auto size = static_cast<std::uint64_t>(snapshots[1].state.size());
    // The last chunk of one snapshot after the first ones of the other completes nothing.
    ASSERT_EQ(sender.Send(snapshots[0], 0), kSnapshotChunkBytes);
    ASSERT_EQ(sender.Send(snapshots[0], kSnapshotChunkBytes), 2 * kSnapshotChunkBytes);
    EXPECT_EQ(sender.Send(snapshots[1], 2 * kSnapshotChunkBytes), 0u)
        << Unsafe(Safety::kEqualStates) << "it has no byte of that snapshot";
    for (int i = 0; i < 12; ++i) {
      const Snapshot& snapshot = snapshots[random.Below(2)];
      world.cluster.RunFor(100ms);  // the chunks alone tell it that its leader lives
      // No more than two chunks: neither snapshot is complete.
      const std::uint64_t offset = random.Below(2) * kSnapshotChunkBytes;
      const auto received = sender.Send(snapshot, offset);
      ASSERT_TRUE(received) << "a chunk is not answered";
      ASSERT_LE(*received, 2 * kSnapshotChunkBytes)
          << Unsafe(Safety::kEqualStates) << "it counts bytes that it was not sent";
      partial += *received > 0 ? 1 : 0;
    }
    EXPECT_EQ(world.checker.claims(away).restored, 0u)
        << Unsafe(Safety::kEqualStates) << "it restored an incomplete snapshot";
    for (std::uint64_t at = 0; at < size; at += kSnapshotChunkBytes) {
      EXPECT_GE(sender.Send(snapshots[1], at), std::min(size, at + kSnapshotChunkBytes));
    }
    EXPECT_EQ(world.checker.claims(away).restored, 1u);
    world.cluster.Heal();  // the leader hears of the next term
    ASSERT_TRUE(world.Commit(5, 6s));
    ASSERT_TRUE(world.WaitForAllApplied(3s));
    ASSERT_TRUE(world.AllInvariantsHold());
  }
  EXPECT_GE(partial, 16) << "too few chunks were taken";
}

GRADED_TEST(RaftReplication, ADistantFollowerCatchesUp, "2d", 1,
            "A follower whose messages take 400 ms makes up for 3,000 commands within 8 s.") {
  RaftWorld world({.replicas = 3, .seed = 820});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const PeerId away = world.Others(leader)[0];
  world.cluster.Partition({away});
  ASSERT_TRUE(world.Commit(3000, 6s));
  const std::uint64_t missed = world.checker.MaxCommitIndex();
  world.cluster.Heal();
  world.cluster.Begin(faults::NetSlow({away}, 400ms));
  const Time limit = world.cluster.now() + 8s;
  while (world.checker.AppliedUpTo(away) < missed && world.cluster.now() < limit) {
    ASSERT_TRUE(world.Commit(5));  // the others go on
    world.cluster.RunFor(100ms);
  }
  EXPECT_GE(world.checker.AppliedUpTo(away), missed) << "it stays behind";
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::raft
