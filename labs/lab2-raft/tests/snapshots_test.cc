// Public tests: log compaction and snapshots.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "raft_world.h"
#include "testkit/client.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
// More than any replica keeps: a follower that missed it needs a snapshot.
constexpr std::size_t kTooMuchToKeep = 8 * kMiB;

// The most bytes that the files of one replica have taken together.
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

GRADED_TEST(RaftSnapshots, TheLogStaysBounded, "2d", 2,
            "During 20 MB of commands no replica's files exceed 10 MB.") {
  RaftWorld world({.replicas = 3, .seed = 701});
  const DiskWatch watch(world);
  ASSERT_NE(world.WaitForLeader(), kNobody);
  ASSERT_TRUE(world.CommitBytes(20 * kMiB));
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_LE(watch.most_bytes(), 10 * kMiB) << "a replica keeps entries that a snapshot replaces";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftSnapshots, AFollowerThatWasAwayGetsASnapshot, "2d", 1,
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
    EXPECT_GE(world.checker.claims(id).restored, 1u) << "it received all entries and no snapshot";
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftSnapshots, CommandsCommitWhileASnapshotTravels, "2d", 2,
            "Commands do not wait while a follower on a slow network receives a snapshot.") {
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
    ASSERT_TRUE(world.Commit(5, 100ms)) << "commands wait for a snapshot transfer";
    world.cluster.RunFor(25ms);
  }
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_GE(world.checker.claims(away).restored, 1u);
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(
    RaftSnapshots, ARestartBeginsWithTheSnapshot, "2d", 1,
    "After compaction and a power loss of all replicas, snapshot and log restore the state.") {
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
  // Alone, a replica hears of no committed entry.
  world.cluster.Crash(0);
  world.cluster.Partition({0});
  world.cluster.Restart(0);
  world.cluster.RunFor(500ms);
  EXPECT_GE(world.checker.claims(0).commit_index, world.checker.AppliedUpTo(0))
      << "it has restored a snapshot, and reports a lower commit index";
  EXPECT_GE(world.checker.AppliedUpTo(0), 1u) << "it has not restored its snapshot";
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

// Larger than any batch.
void MissALargeCommand() {
  RaftWorld world({.replicas = 3, .seed = 339});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  world.cluster.Partition({world.Others(leader)[0]});
  testkit::Client client(world.cluster.simulator());
  bool committed = false;
  client.Call(leader, Submit{CommandText(1'000'000, 400'000)}, 3s, [&](const auto& reply) {
    committed = reply && reply->status == SubmitStatus::kCommitted;
  });
  ASSERT_TRUE(world.cluster.RunUntil([&] { return committed; }, 3s)) << "a command of 400 KB";
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied(2s))
      << "a follower that missed a command of 400 KB is behind";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftReplication, AFollowerFarBehindCatchesUpQuickly, "2d", 1,
            "A follower that missed 5,000 commands, or one of 400 KB, catches up within 2 s, while "
            "others commit.") {
  ASSERT_NO_FATAL_FAILURE(MissALargeCommand());
  RaftWorld world({.replicas = 3, .seed = 340});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const PeerId victim = (leader + 1) % 3;
  world.cluster.Partition({victim});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(world.Commit(500));
  world.cluster.Heal();
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(world.Commit(10, 1s)) << "commands wait for the catch-up of a lagging follower";
    world.cluster.RunFor(50ms);
  }
  ASSERT_TRUE(world.WaitForAllApplied(200ms)) << "the follower is still behind after 2 s";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftReplication, TheBacklogOfASlowFollowerIsBounded, "2d", 1,
            "The leader holds at most 2 MB for a follower that does not keep up.") {
  RaftWorld world({.replicas = 3, .seed = 360});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  world.cluster.Begin(faults::CpuSlow({world.Others(leader)[0]}, 1));
  for (int i = 0; i < 80; ++i) ASSERT_TRUE(world.Commit(500, 2s)) << "commands stall";
  EXPECT_LE(world.cluster.simulator().PeakHeldBytes(leader), std::size_t{2} << 20)
      << "the backlog of a slow follower grows in the leader's memory";
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied(5s));
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::raft
