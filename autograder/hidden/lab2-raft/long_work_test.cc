// Hidden tests: other events in the middle of a compaction or an installation. The disk is slow
// from its beginning on, so a solution that works in the background is long at it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "depfast/host/frame.h"
#include "raft_world.h"
#include "safety.h"
#include "sizes.h"
#include "testkit/client.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

// More than any replica keeps: a follower that missed it needs a snapshot.
constexpr std::size_t kMoreThanIsKept = 6 * kMiB;
constexpr std::size_t kFileBytesMax = 10 * kMiB;

class LongWorkWorld : public RaftWorld {
 public:
  using RaftWorld::RaftWorld;

  testkit::Client asker{cluster.simulator()};  // speaks for other replicas
};

// Whether the replica writes files that will replace others: they are there, or a large write is on
// its way.
bool ReplacesFiles(RaftWorld& world, PeerId replica) {
  const sim::SimDisk& disk = world.cluster.simulator().disk(replica);
  return disk.queued_bytes() > kMiB / 2 || std::ranges::any_of(disk.files(), [](const auto& file) {
           return file.first != kWalFile && file.first != kSnapshotFile;
         });
}

std::uint64_t SnapshotIndex(RaftWorld& world, PeerId replica) {
  const auto& files = world.cluster.simulator().disk(replica).files();
  const auto file = files.find(kSnapshotFile);
  if (file == files.end()) return 0;
  return DecodeSnapshot(file->second.data).value_or(Snapshot()).last_index;
}

enum class Work { kCompaction, kInstallation };

// Runs until the replica is in the middle of such work, and slows its disk down then.
testing::AssertionResult BeginWork(RaftWorld& world, PeerId replica, Work work, Duration delay) {
  if (work == Work::kInstallation) {
    world.cluster.Partition({replica});
    if (const auto done = world.CommitBytes(kMoreThanIsKept); !done) return done;
    world.cluster.Heal();
  }
  if (work == Work::kCompaction) {
    for (std::size_t i = 0; i < kMoreThanIsKept / kLargeCommandBytes; ++i) world.SubmitOneLarge();
  }
  // A failure shows later: a solution may do such work at once.
  world.cluster.RunUntil([&] { return ReplacesFiles(world, replica); }, 3s);
  world.cluster.Begin(faults::FsDelay({replica}, delay));
  return testing::AssertionSuccess();
}

// Runs until the work is over, and the disk has nothing left to do.
void EndWork(RaftWorld& world, PeerId replica) {
  const sim::SimDisk& disk = world.cluster.simulator().disk(replica);
  const auto is_over = [&] {
    return !ReplacesFiles(world, replica) && disk.queued_operations() == 0;
  };
  world.cluster.RunUntil(is_over, 60s);
}

// Whether the replica votes for the candidate, whose log is longer than any other.
std::optional<bool> AskForVote(LongWorkWorld& world, PeerId voter, std::uint64_t term,
                               PeerId candidate) {
  constexpr std::uint64_t kLongLog = 1'000'000;
  std::optional<bool> granted;
  world.asker.Call(voter, RequestVote{term, candidate, kLongLog, term, false}, 30s,
                   [&](const auto& reply) {
                     if (reply) granted = reply->granted;
                   });
  world.cluster.RunUntil([&] { return world.asker.outstanding() == 0; }, 31s);
  return granted;
}

// A replica votes in the middle of its work, ends that, and loses power. Then it is asked again.
void VoteInTheMiddle(LongWorkWorld& world, Work work, bool leads, Duration after) {
  SCOPED_TRACE(std::string(leads ? "a leader" : "a follower") + " that votes " +
               std::to_string(after / 1ms) + " ms after the beginning");
  const PeerId leader = world.WaitForLeader(6s);
  ASSERT_NE(leader, kNobody);
  const PeerId voter = leads ? leader : world.Others(leader)[0];
  ASSERT_TRUE(BeginWork(world, voter, work, 100ms));
  world.cluster.RunFor(after);
  for (int i = 0; i < 5; ++i) world.SubmitOne();
  world.cluster.RunFor(5ms);
  world.cluster.Partition({voter});
  const std::uint64_t term = world.checker.claims(voter).term + 1;
  const auto others = world.Others(voter);
  const auto granted = AskForVote(world, voter, term, others[0]);
  ASSERT_TRUE(granted) << "a request for a vote has no answer within 30 s";
  EndWork(world, voter);
  world.cluster.Crash(voter);
  world.cluster.End(faults::FsDelay({voter}, 100ms));
  world.cluster.Restart(voter);
  if (*granted) {
    EXPECT_EQ(AskForVote(world, voter, term, others[1]), false)
        << Unsafe(Safety::kOneVote) << "it votes for replica " << others[1] << " in term " << term
        << ", in which it has voted for replica " << others[0];
  }
  world.cluster.Heal();
  ASSERT_TRUE(world.Commit(10, 6s)) << "a healed majority makes no progress";
  ASSERT_TRUE(world.WaitForAllApplied()) << "a replica stays behind";
  ASSERT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftSnapshots, AVoteInTheMiddleIsKept, "2d", 1,
            "A vote that a replica grants while it compacts, or installs a snapshot, is on its "
            "disk afterwards, too.") {
  LongWorkWorld world({.replicas = 3, .seed = 871});
  for (const Duration after : {Duration(0), Duration(1ms), Duration(4ms), Duration(300ms)}) {
    for (const bool leads : {false, true}) {
      ASSERT_NO_FATAL_FAILURE(VoteInTheMiddle(world, Work::kCompaction, leads, after));
    }
    ASSERT_NO_FATAL_FAILURE(VoteInTheMiddle(world, Work::kInstallation, false, after));
  }
}

// An event that meets a replica in the middle of a compaction.
struct Middle {
  const char* name;
  bool leads;  // the replica to which it happens
  std::function<void(LongWorkWorld& world, PeerId replica)> happens;
};

// A replica is cut off, and the others go on without it: it is sent a snapshot later.
void MissALot(LongWorkWorld& world, PeerId replica) {
  for (int i = 0; i < 40; ++i) world.SubmitOne();  // of a leader's own, which give way later
  world.cluster.RunFor(5ms);
  world.cluster.Partition({replica});
  world.cluster.RunUntil([&] { return world.checker.Leader() != replica; }, 4s);
  ASSERT_NE(world.WaitForLeader(4s), kNobody) << "two of three replicas elect no leader";
  ASSERT_TRUE(world.CommitBytes(kMoreThanIsKept)) << "two of three replicas make no progress";
  world.cluster.End(faults::PartitionFault({replica}));
}

void HearOfANewTerm(LongWorkWorld& world, PeerId replica) {
  AskForVote(world, replica, world.checker.claims(replica).term + 1, world.Others(replica)[0]);
}

void LoseItsLeader(LongWorkWorld& world, PeerId replica) {
  const PeerId leader = world.checker.Leader();
  if (leader == replica || leader == kNobody) return;
  world.cluster.Crash(leader);
  ASSERT_NE(world.WaitForLeader(20s), kNobody) << "two of three replicas elect no leader";
}

void BeCutOffForAWhile(LongWorkWorld& world, PeerId replica) {
  world.cluster.Partition({replica});
  world.cluster.RunFor(3s);
  world.cluster.End(faults::PartitionFault({replica}));
}

// Its files are bounded by new snapshots.
void ExpectToGoOn(RaftWorld& world, PeerId replica) {
  const std::uint64_t before = world.checker.MaxCommitIndex();
  ASSERT_TRUE(world.CommitBytes(10 * kMiB)) << "a healed majority makes no progress";
  ASSERT_TRUE(world.WaitForAllApplied()) << "a replica stays behind";
  world.cluster.RunFor(1s);  // a snapshot that is being written replaces the one before
  EXPECT_GT(SnapshotIndex(world, replica), before)
      << "10 MB later replica " << replica << " has taken no other snapshot";
  EXPECT_LE(world.cluster.simulator().disk(replica).file_bytes(), kFileBytesMax)
      << "replica " << replica << " keeps entries that a snapshot replaces";
}

GRADED_TEST(RaftSnapshots, CompactionGoesOnAfterAnInterruption, "2d", 1,
            "A leader's snapshot, a new term, a lost leader or a cut in the middle of a compaction "
            "loses nothing. Later compactions bound the log as before, without a restart.") {
  const std::vector<Middle> middles = {
      {"a follower is sent a snapshot", false, MissALot},
      {"a leader is deposed and sent a snapshot", true, MissALot},
      {"a follower hears of a new term", false, HearOfANewTerm},
      {"a leader hears of a new term", true, HearOfANewTerm},
      {"a follower loses its leader", false, LoseItsLeader},
      {"a leader is cut off", true, BeCutOffForAWhile},
  };
  LongWorkWorld world({.replicas = 3, .seed = 872});
  for (const Middle& middle : middles) {
    SCOPED_TRACE(std::string("In the middle of a compaction ") + middle.name);
    const PeerId leader = world.WaitForLeader(6s);
    ASSERT_NE(leader, kNobody);
    const PeerId replica = middle.leads ? leader : world.Others(leader)[0];
    ASSERT_TRUE(BeginWork(world, replica, Work::kCompaction, 200ms));
    ASSERT_NO_FATAL_FAILURE(middle.happens(world, replica));
    EndWork(world, replica);
    world.cluster.Heal();
    ASSERT_TRUE(world.WaitForAllApplied(6s)) << "a replica stays behind";
    ASSERT_NO_FATAL_FAILURE(ExpectToGoOn(world, replica));
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

// The entries that replicas have sent, by index.
class SentEntries : private sim::Observer {
 public:
  explicit SentEntries(RaftWorld& world) { world.cluster.simulator().AddObserver(this); }

  // Requires: all were sent.
  std::vector<LogEntry> From(std::uint64_t first, std::size_t count) const {
    std::vector<LogEntry> entries;
    for (std::uint64_t i = first; i < first + count; ++i) entries.push_back(entries_.at(i));
    return entries;
  }

  bool Has(std::uint64_t first, std::uint64_t last) const {
    return std::ranges::distance(entries_.lower_bound(first), entries_.upper_bound(last)) ==
           static_cast<std::ptrdiff_t>(last + 1 - first);
  }

 private:
  void OnOutputsLeave(PeerId, Time, const std::vector<sim::Output>& outputs) override {
    for (const sim::Output& output : outputs) {
      if (const auto* sent = std::get_if<sim::SendFrame>(&output)) Take(*sent->bytes);
    }
  }

  void Take(const std::string& bytes) {
    std::string error;
    const auto frame = DecodeFrame(bytes, error);
    if (!frame || frame->header.kind != FrameKind::kRequest) return;
    if (frame->header.method != AppendEntries::kMethod) return;
    const auto request = DecodeBody<AppendEntries>(frame->body, error);
    if (!request) return;
    std::uint64_t index = request->prev_log_index;
    for (const LogEntry& entry : request->entries) entries_[++index] = entry;
  }

  std::map<std::uint64_t, LogEntry> entries_;
};

// Speaks for the leader of a follower that is cut off from it.
class LeadersVoice {
 public:
  LeadersVoice(RaftWorld& world, PeerId leader, PeerId follower)
      : world_(world),
        client_(world.cluster.simulator()),
        leader_(leader),
        follower_(follower),
        term_(world.checker.claims(leader).term) {}

  // Whether the follower has the log up to these entries. They are not committed.
  bool Append(std::uint64_t prev, std::uint64_t prev_term, std::vector<LogEntry> entries,
              std::uint64_t commit) {
    const std::uint64_t end = prev + entries.size();
    bool is_taken = false;
    client_.Call(follower_,
                 AppendEntries{term_, leader_, prev, prev_term, std::move(entries), commit}, 1s,
                 [&](const std::optional<AppendEntriesReply>& reply) {
                   is_taken = reply && reply->success && reply->match_index >= end;
                 });
    Run();
    return is_taken;
  }

  // Whether the follower says that it has all of the snapshot. `then`: happens when the last chunk
  // is on its way.
  bool Install(const Snapshot& snapshot, const std::function<void()>& then) {
    std::uint64_t received = 0;
    for (std::size_t at = 0; at < snapshot.state.size(); at += kSnapshotChunkBytes) {
      const InstallSnapshot chunk{term_,
                                  leader_,
                                  snapshot.last_index,
                                  snapshot.last_term,
                                  snapshot.state.size(),
                                  at,
                                  snapshot.state.substr(at, kSnapshotChunkBytes)};
      client_.Call(follower_, chunk, 1s, [&](const std::optional<InstallSnapshotReply>& reply) {
        if (reply) received = reply->received;
      });
      if (at + kSnapshotChunkBytes >= snapshot.state.size()) then();
      Run();
    }
    return received == snapshot.state.size();
  }

 private:
  void Run() {
    world_.cluster.RunUntil([&] { return client_.outstanding() == 0; }, 2s);
  }

  RaftWorld& world_;
  testkit::Client client_;
  const PeerId leader_;
  const PeerId follower_;
  const std::uint64_t term_;
};

// A follower has all entries on its disk, and has heard that few are committed. A snapshot that was
// long on its way ends before them.
// `commits`: they are committed while it installs the snapshot, and its disk is slow.
void InstallBeforeTheEnd(bool commits) {
  RaftWorld world({.replicas = 3, .seed = 873});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(world.Commit(5));
  ASSERT_TRUE(world.WaitForAllApplied());
  const PeerId follower = world.Others(leader)[0];
  const std::uint64_t known = world.checker.MaxCommitIndex();
  const SentEntries sent(world);
  world.cluster.Partition({follower});
  ASSERT_TRUE(world.CommitBytes(kMoreThanIsKept));
  ASSERT_TRUE(world.Commit(20));
  world.cluster.RunFor(1s);  // a snapshot that is being written replaces the one before
  const std::uint64_t last = world.checker.MaxCommitIndex();
  ASSERT_GT(SnapshotIndex(world, leader), 0u) << "6 MB were committed, and the leader has none";
  const auto snapshot =
      DecodeSnapshot(world.cluster.simulator().disk(leader).files().at(kSnapshotFile).data);
  ASSERT_TRUE(snapshot && snapshot->last_index > known && snapshot->last_index < last);
  ASSERT_TRUE(sent.Has(known + 1, last)) << "the leader has not sent its entries to the other";
  LeadersVoice voice(world, leader, follower);
  const std::uint64_t term = snapshot->last_term;
  for (std::uint64_t prev = known; prev < last;) {
    const std::size_t count = std::min<std::uint64_t>(last - prev, 4);
    ASSERT_TRUE(voice.Append(prev, term, sent.From(prev + 1, count), known))
        << "it does not take the entries after index " << prev;
    prev += count;
  }
  const auto slow = faults::FsDelay({follower}, 100ms);
  const auto commit = [&] {
    if (!commits) return;
    world.cluster.Begin(slow);
    world.cluster.RunFor(5ms);
    EXPECT_TRUE(voice.Append(last, term, {}, last));
  };
  ASSERT_TRUE(voice.Install(*snapshot, commit)) << "it does not take the snapshot";
  world.cluster.End(slow);
  ASSERT_TRUE(world.AllInvariantsHold());
  EXPECT_TRUE(voice.Append(last, term, {}, known))
      << Unsafe(Safety::kAcknowledgedIsKept) << "it has lost entries behind the snapshot";
  world.cluster.Crash(follower);
  world.cluster.Restart(follower);
  EXPECT_TRUE(voice.Append(last, term, {}, known))
      << Unsafe(Safety::kAcknowledgedIsKept) << "its disk has lost entries";
  world.cluster.Heal();
  ASSERT_TRUE(world.Commit(10, 6s));
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftSnapshots, ASnapshotLeavesTheEntriesBehindIt, "2d", 1,
            "A follower whose log matches a leader's snapshot, and is longer, keeps the entries "
            "behind it: it has acknowledged them. If they commit meanwhile, they stay applied.") {
  for (const bool commits : {false, true}) {
    SCOPED_TRACE(commits ? "they commit in the middle" : "they commit later");
    ASSERT_NO_FATAL_FAILURE(InstallBeforeTheEnd(commits));
  }
}

}  // namespace
}  // namespace depfast::raft
