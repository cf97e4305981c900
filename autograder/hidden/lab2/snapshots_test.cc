// Hidden tests: logs that are compacted, and snapshots that take their place.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "raft_world.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
// More than any replica keeps: whoever missed it needs a snapshot.
constexpr std::size_t kTooMuchToKeep = 8 * kMiB;

// Watches what the replicas' files take, all of a replica together.
class DiskWatch : private sim::Observer {
 public:
  explicit DiskWatch(RaftWorld& world) { world.cluster.simulator().AddObserver(this); }

  std::size_t most_bytes() const { return most_bytes_; }

 private:
  void OnDisk(PeerId, Time, const sim::SimDisk& disk) override {
    std::size_t bytes = 0;
    for (const auto& [name, file] : disk.files()) bytes += file.data.size();
    most_bytes_ = std::max(most_bytes_, bytes);
  }

  std::size_t most_bytes_ = 0;
};

std::optional<Snapshot> SnapshotOnDisk(RaftWorld& world, PeerId replica) {
  const auto& files = world.cluster.simulator().disk(replica).files();
  const auto file = files.find(kSnapshotFile);
  if (file == files.end()) return std::nullopt;
  return DecodeSnapshot(file->second.data);
}

GRADED_TEST(RaftSnapshots, TheLogStaysBounded, "2d", 3,
            "While 20 MB of commands pass, no replica's files take more than 10 MB.") {
  RaftWorld world({.replicas = 3, .seed = 701});
  const DiskWatch watch(world);
  ASSERT_NE(world.WaitForLeader(), kNobody);
  ASSERT_TRUE(world.CommitBytes(20 * kMiB));
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_LE(watch.most_bytes(), 10 * kMiB) << "some replica keeps what a snapshot would replace";
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(RaftSnapshots, AFollowerThatWasAwayGetsASnapshot, "2d", 2,
            "Two of five replicas that missed 8 MB are restored from a snapshot within 3 s.") {
  RaftWorld world({.replicas = 5, .seed = 702});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const auto others = world.Others(leader);
  world.cluster.Partition({others[0], others[1]});
  ASSERT_TRUE(world.CommitBytes(kTooMuchToKeep)) << "three of five replicas make no progress";
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied(3s)) << "the replicas that were away stay behind";
  for (PeerId id : {others[0], others[1]}) {
    EXPECT_GE(world.checker.claims(id).restored, 1u) << "it got every entry, and no snapshot";
  }
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(RaftSnapshots, CommandsCommitWhileASnapshotTravels, "2d", 2,
            "While a follower far away is sent a snapshot, nobody's commands wait for it.") {
  RaftWorld world({.replicas = 3, .seed = 703});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const PeerId away = world.Others(leader)[0];
  world.cluster.Crash(away);
  ASSERT_TRUE(world.CommitBytes(kTooMuchToKeep));
  world.cluster.Begin(
      faults::NetSlow({away}, 250ms));  // a chunk is answered a quarter second later
  world.cluster.Restart(away);
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(world.Commit(5, 100ms)) << "commands wait for a snapshot that somebody else needs";
    world.cluster.RunFor(25ms);
  }
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_GE(world.checker.claims(away).restored, 1u);
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(RaftSnapshots, LostDoubledAndLateChunksChangeNothing, "2d", 2,
            "With 20 % of messages lost, doubled or overtaken, a snapshot arrives as it was.") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    RaftWorld world({.replicas = 3, .seed = 710 + seed});
    const PeerId leader = world.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    const PeerId away = world.Others(leader)[0];
    world.cluster.Crash(away);
    ASSERT_TRUE(world.CommitBytes(kTooMuchToKeep));
    const std::vector<PeerId> both{leader, away};
    world.cluster.Begin(faults::DropFault(both, 200));
    world.cluster.Begin(faults::DuplicateFault(both, 300));
    world.cluster.Begin(faults::ReorderFault(both, 200));
    world.cluster.Restart(away);
    ASSERT_TRUE(
        world.cluster.RunUntil([&] { return world.checker.claims(away).restored > 0; }, 20s))
        << "a snapshot never gets through a lossy network";
    world.cluster.Heal();
    ASSERT_TRUE(world.Commit(10, 6s));
    ASSERT_TRUE(world.WaitForAllApplied());
    ASSERT_TRUE(world.IsSound());
  }
}

GRADED_TEST(
    RaftSnapshots, ACrashWhileInstallingIsSurvived, "2d", 2,
    "A follower that loses power while it installs a snapshot recovers, and gets it again.") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    RaftWorld world({.replicas = 3, .seed = 720 + seed});
    const auto& simulator = world.cluster.simulator();
    RandomStream random(simulator.options().seed, 720);
    const PeerId leader = world.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    const PeerId away = world.Others(leader)[0];
    world.cluster.Crash(away);
    ASSERT_TRUE(world.CommitBytes(kTooMuchToKeep));
    for (int i = 0; i < 3; ++i) {
      world.cluster.Restart(away);
      // Nothing but a snapshot makes so large a write there.
      world.cluster.RunUntil(
          [&] { return simulator.disk(away).queued_bytes() > 2 * kSnapshotChunkBytes; }, 2s);
      world.cluster.RunFor(Duration(static_cast<std::int64_t>(random.Below(1'500'000))));
      world.cluster.Crash(away);
      world.cluster.RunFor(50ms);
    }
    world.cluster.Restart(away);
    ASSERT_TRUE(world.Commit(10, 6s));
    ASSERT_TRUE(world.WaitForAllApplied()) << "the replica stays behind";
    ASSERT_TRUE(world.IsSound());
  }
}

GRADED_TEST(RaftSnapshots, ACrashWhileCompactingIsSurvived, "2d", 2,
            "A replica that loses power while it compacts its log loses nothing.") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    RaftWorld world({.replicas = 3, .seed = 730 + seed});
    const auto& simulator = world.cluster.simulator();
    RandomStream random(simulator.options().seed, 730);
    const PeerId leader = world.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    for (int i = 0; i < 3; ++i) {
      const PeerId victim = world.Others(leader)[static_cast<std::size_t>(i % 2)];
      for (int j = 0; j < 160; ++j) world.SubmitOneLarge();  // 5 MB: enough for one compaction
      // The log that remains is written anew: 1 MB at once.
      world.cluster.RunUntil([&] { return simulator.disk(victim).queued_bytes() > kMiB / 2; }, 3s);
      world.cluster.RunFor(Duration(static_cast<std::int64_t>(random.Below(8'000'000))));
      world.cluster.Crash(victim);
      world.cluster.RunFor(50ms);
      world.cluster.Restart(victim);
      ASSERT_TRUE(world.Commit(10, 6s));
      ASSERT_TRUE(world.WaitForAllApplied()) << "a replica stays behind";
      ASSERT_TRUE(world.IsSound());
    }
  }
}

GRADED_TEST(
    RaftSnapshots, ARestartBeginsWithTheSnapshot, "2d", 2,
    "When all lose power after their logs were compacted, snapshot and log give all back.") {
  RaftWorld world({.replicas = 3, .seed = 740});
  ASSERT_NE(world.WaitForLeader(), kNobody);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(world.CommitBytes(6 * kMiB)) << "round " << round;
    ASSERT_TRUE(world.WaitForAllApplied()) << "round " << round;
    for (PeerId id = 0; id < 3; ++id) world.cluster.Crash(id);
    world.cluster.RunFor(50ms);
    for (PeerId id = 0; id < 3; ++id) world.cluster.Restart(id);
    ASSERT_NE(world.WaitForLeader(), kNobody) << "round " << round << ": no leader";
    for (PeerId id = 0; id < 3; ++id) {
      EXPECT_GE(world.checker.claims(id).restored, 1u) << "round " << round;
    }
  }
  ASSERT_TRUE(world.Commit(10));
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.IsSound());
}

// The checker compares every snapshot on a disk with the state that the commands must have led to.
GRADED_TEST(RaftSnapshots, TheStateAfterARestoreIsTheSame, "2d", 2,
            "A restored replica's own next snapshot is that of one that applied every command.") {
  RaftWorld world({.replicas = 3, .seed = 750});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const PeerId away = world.Others(leader)[0];
  world.cluster.Crash(away);
  ASSERT_TRUE(world.CommitBytes(kTooMuchToKeep));
  world.cluster.Restart(away);
  ASSERT_TRUE(world.WaitForAllApplied()) << "the replica that was away stays behind";
  const auto installed = SnapshotOnDisk(world, away);
  ASSERT_TRUE(installed) << "it has applied everything, without a snapshot on its disk";
  ASSERT_TRUE(world.CommitBytes(kTooMuchToKeep));
  ASSERT_TRUE(world.WaitForAllApplied());
  world.cluster.RunFor(100ms);  // the last snapshot gets to the disk
  const auto own = SnapshotOnDisk(world, away);
  ASSERT_TRUE(own);
  EXPECT_GT(own->last_index, installed->last_index) << "it has taken no snapshot of its own";
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(RaftSnapshots, OnlyWhatIsAppliedIsCompacted, "2d", 1,
            "A leader with 7 MB of entries that are not committed yet keeps them all.") {
  RaftWorld world({.replicas = 3, .seed = 760});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(world.Commit(10));
  world.cluster.Partition({leader});
  for (int i = 0; i < 220; ++i) world.SubmitOneLarge();
  world.cluster.RunFor(200ms);  // it still leads, and has them all on its disk
  world.cluster.Heal();
  ASSERT_TRUE(world.Commit(10, 6s)) << "no progress after the partition";
  ASSERT_TRUE(world.WaitForAllApplied());
  for (PeerId id = 0; id < 3; ++id) world.cluster.Crash(id);
  world.cluster.RunFor(50ms);
  world.cluster.Heal();
  ASSERT_TRUE(world.Commit(10, 6s)) << "no progress after a restart of all";
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.IsSound());
}

GRADED_TEST(RaftSnapshots, AnOldSnapshotChangesNothing, "2d", 1,
            "A snapshot that arrives after later entries were applied takes nothing back.") {
  RaftWorld world({.replicas = 3, .seed = 770});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const PeerId follower = world.Others(leader)[0];
  ASSERT_TRUE(world.CommitBytes(5 * kMiB));
  ASSERT_TRUE(world.WaitForAllApplied());
  world.cluster.RunFor(100ms);
  const auto old = SnapshotOnDisk(world, leader);
  ASSERT_TRUE(old) << "5 MB were committed, and the leader has taken no snapshot";
  ASSERT_TRUE(world.Commit(50));
  ASSERT_TRUE(world.WaitForAllApplied());

  testkit::Client late(world.cluster.simulator());  // what the network kept back until now
  const std::uint64_t term = world.checker.claims(leader).term;
  for (std::size_t at = 0; at < old->state.size(); at += kSnapshotChunkBytes) {
    const InstallSnapshot chunk{term,
                                leader,
                                old->last_index,
                                old->last_term,
                                old->state.size(),
                                at,
                                old->state.substr(at, kSnapshotChunkBytes)};
    late.Call(follower, chunk, 1s, [&](const std::optional<InstallSnapshotReply>& reply) {
      ASSERT_TRUE(reply) << "a late chunk is not answered";
      EXPECT_EQ(reply->received, old->state.size()) << "it needs none of this, and should say so";
    });
    world.cluster.RunFor(20ms);
  }
  EXPECT_EQ(world.checker.claims(follower).restored, 0u) << "it went back to an old state";
  ASSERT_TRUE(world.Commit(50));
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.IsSound());
}

// A leader is cut off with many small entries of its own; the others commit few large ones, and
// compact them. Its log is longer than their snapshot, and wrong.
GRADED_TEST(RaftSnapshots, ASnapshotReplacesALogThatDiffers, "2d", 1,
            "A log that differs from the snapshot's is dropped, also where it is longer.") {
  RaftWorld world({.replicas = 3, .seed = 780});
  const PeerId stray = world.WaitForLeader();
  ASSERT_NE(stray, kNobody);
  ASSERT_TRUE(world.Commit(10));
  ASSERT_TRUE(world.WaitForAllApplied());
  world.cluster.Partition({stray});
  for (int i = 0; i < 2000; ++i) world.SubmitOne();
  world.cluster.RunFor(100ms);
  ASSERT_TRUE(world.cluster.RunUntil([&] { return world.checker.Leader() != stray; }, 4s));
  ASSERT_NE(world.WaitForLeader(4s), kNobody);
  ASSERT_TRUE(world.CommitBytes(kTooMuchToKeep)) << "two of three replicas make no progress";
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied()) << "the old leader does not adopt the others' state";
  EXPECT_GE(world.checker.claims(stray).restored, 1u);
  ASSERT_TRUE(world.Commit(10));
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.IsSound());
}

}  // namespace
}  // namespace depfast::raft
