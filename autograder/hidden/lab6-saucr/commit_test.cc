// Hidden tests: the entries that are committed, and that are acknowledged.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "safety.h"
#include "stage.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

// Entries that are larger than a catch-up request is at first.
constexpr std::size_t kLargeBytes = std::size_t{6} << 10;
// Less than to the next beat, and more than an answer needs that no disk delays.
constexpr Duration kMemoriesAlone = 15ms;

// The last replica is dead, and the leader has one follower, which alone gets what it proposes.
// Then the leader dies, too: the follower is elected, because the other two are no majority.
GRADED_TEST(Commit, AnEntryOfAnEarlierTermWaits, "6a", 2,
            "Entries of earlier terms commit only with one of the leader's.") {
  SaucrWorld world({.replicas = 5, .seed = 701}, SaucrWorld::Parts::k6A);
  ASSERT_TRUE(world.BeginFast(5));
  const PeerId old_leader = world.Leader();
  const auto followers = world.Followers();
  world.cluster.Crash(followers[3]);
  const auto cut = faults::PartitionFault({old_leader, followers[0]});
  world.cluster.Begin(cut);
  const EntryIndex before = world.checker.CommittedUpTo();
  for (int i = 0; i < 3; ++i) world.SubmitOne(kLargeBytes);
  ASSERT_TRUE(world.cluster.RunUntil(
      [&] { return world.checker.disk(followers[0]).last().index >= before + 3; }, 140ms))
      << "a follower does not flush what it has";
  world.cluster.Crash(old_leader);
  world.cluster.End(cut);
  // They have the earlier entries on their disks when the new leader's first round ends.
  const auto slow = faults::LinkSlow({followers[0]}, {followers[1], followers[2]}, 30ms);
  world.cluster.Begin(slow);
  ASSERT_TRUE(world.WaitForMode(Mode::kSlow));
  EXPECT_EQ(world.Leader(), followers[0]);
  world.cluster.End(slow);
  EXPECT_TRUE(world.Commit(5));
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_GE(world.checker.CommittedUpTo(), before + 3 + 1 + 5)
      << "the entries of the earlier term are committed with the others";
}

// With disks that hang, memories alone decide: f + 2 are enough, and f + 1 are not.
void ExpectFastQuorum(int replicas, std::uint64_t seed) {
  SCOPED_TRACE(std::to_string(replicas) + " replicas");
  SaucrWorld world({.replicas = replicas, .seed = seed}, SaucrWorld::Parts::k6A);
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  ASSERT_TRUE(world.Commit(1));  // the marker is on the disks
  ASSERT_TRUE(world.WaitForAllApplied());
  world.cluster.RunFor(20ms);
  const auto hang = faults::FsDelay(world.Others(kNobody), 1s);
  world.cluster.Begin(hang);
  auto followers = world.Followers();
  const auto crash_one = [&] {
    world.cluster.Crash(followers.back());
    followers.pop_back();
  };
  const Quorums quorums(replicas);
  while (std::ssize(followers) + 1 > quorums.fast()) crash_one();
  world.cluster.RunFor(3 * kBeat);
  EXPECT_LT(world.SlowestOf(5), kMemoriesAlone) << quorums.fast() << " memories are a fast quorum";
  crash_one();
  const auto acknowledged = world.acknowledged();
  for (int i = 0; i < 3; ++i) world.SubmitOne();
  world.cluster.RunFor(500ms);
  EXPECT_EQ(world.acknowledged(), acknowledged)
      << Unsafe(Safety::kAcknowledgedIsKept) << quorums.fast() - 1
      << " memories are no quorum, and no disk has written anything";
  world.cluster.End(hang);
  EXPECT_TRUE(world.Commit(5, 10s)) << "a majority is up, and its disks write again";
}

GRADED_TEST(Commit, FourOfFive, "6a", 2,
            "With one answer short of f + 2, and disks that hang, nothing is acknowledged.") {
  ExpectFastQuorum(5, 702);
}

GRADED_TEST(
    Commit, FiveOfSevenAndThreeOfThree, "6a", 1,
    "With one answer short of f + 2 of 7 and of 3 replicas, and disks that hang, nothing is "
    "acknowledged.") {
  ExpectFastQuorum(7, 703);
  ExpectFastQuorum(3, 704);
}

GRADED_TEST(Commit, TheLeadersOwnPartCounts, "6a", 2,
            "The leader counts itself in slow mode only when its disk has the entry. Late answers "
            "of slow disks count.") {
  constexpr Duration kDelay = 50ms;
  SaucrWorld world({.replicas = 5, .seed = 706}, SaucrWorld::Parts::k6A);
  ASSERT_TRUE(world.BeginFast(5));
  ASSERT_TRUE(world.LeaveABareMajority());
  ASSERT_TRUE(world.Commit(5));
  world.cluster.Begin(faults::FsDelay({world.Leader()}, kDelay));
  world.cluster.RunFor(10ms);
  for (int i = 0; i < 5; ++i) {
    EXPECT_GE(world.SlowestOf(1), kDelay) << Unsafe(Safety::kDurablePromise);
    EXPECT_TRUE(world.HasOnDisk(world.Leader(), world.LastCommitted()))
        << Unsafe(Safety::kDurablePromise);
  }
  world.cluster.Begin(faults::FsDelay(world.Others(kNobody), 130ms));
  EXPECT_LT(world.SlowestOf(1), 1s) << "the disks are later than a round waits";
}

// In fast mode replica 0 acknowledges an entry that no marker protects.
void ExpectOnTheDisk(Stage& stage, const AppendEntries& request, EntryId last) {
  const auto reply = stage.Ask(0, request);
  ASSERT_TRUE(reply && reply->success);
  EXPECT_TRUE(stage.HasOnDisk(0, last) || !stage.SaysAllIsThere(0))
      << Unsafe(Safety::kDurablePromise)
      << "a crash would lose the entry, and the disk would not tell";
}

GRADED_TEST(Markers, ARepeatedEntryWaitsForItsFlush, "6b", 1,
            "An entry that comes again in fast mode, during the flush that writes it, is "
            "acknowledged when it is on the disk. So are entries of an older term than that of "
            "the marker.") {
  Stage stage(707);
  ASSERT_TRUE(stage.Ask(0, stage.Beat(1, Mode::kSlow)));
  stage.cluster.Begin(faults::FsDelay({0}, 50ms));
  stage.Send(0, stage.Message(1, {}, {1}, Mode::kSlow));
  stage.cluster.RunFor(5ms);
  ExpectOnTheDisk(stage, stage.Message(1, {}, {1}, Mode::kFast), {1, 1});
  // The leader of term 3 has never had (2,2), which is latest-on-disk.
  ASSERT_TRUE(stage.Ask(0, stage.Message(2, {1, 1}, {2}, Mode::kSlow)));
  ASSERT_TRUE(stage.Ask(0, stage.Beat(3, Mode::kFast)));
  ExpectOnTheDisk(stage, stage.Message(3, {1, 1}, {1, 1}, Mode::kFast), {1, 3});
}

}  // namespace
}  // namespace depfast::saucr
