// Hidden tests: the mode of a leader, and flushes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <variant>
#include <vector>

#include "stage.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

GRADED_TEST(Mode, BelowAMajorityIsSlow, "6a", 2,
            "With fewer than a majority functional the leader has flushed within 60 ms.") {
  SaucrWorld world({.replicas = 5, .seed = 711}, SaucrWorld::Parts::k6A);
  ASSERT_TRUE(world.BeginInMemory());
  ASSERT_TRUE(world.Commit(5));
  const PeerId leader = world.Leader();
  const EntryId last = world.LastCommitted();
  for (int i = 0; i < 3; ++i) world.cluster.Crash(world.Followers().front());
  world.SubmitOne();
  world.cluster.RunFor(60ms);
  EXPECT_EQ(world.checker.claims(leader).mode, Mode::kSlow);
  EXPECT_TRUE(world.HasOnDisk(leader, last)) << "committed in memories that are gone";
  EXPECT_TRUE(world.HasOnDisk(leader, {last.term, last.index + 1})) << "proposed after that";
}

GRADED_TEST(Mode, ALaggardIsNotFunctional, "6a", 2,
            "The leader stays slow while a follower that returned is still catching up.") {
  constexpr std::size_t kBytes = std::size_t{16} << 10;
  SaucrWorld world({.replicas = 5, .seed = 714}, SaucrWorld::Parts::k6A);
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  const auto followers = world.Followers();
  const PeerId laggard = followers[1];
  world.cluster.Crash(followers[0]);
  const auto away = faults::PartitionFault({laggard});
  world.cluster.Begin(away);
  ASSERT_TRUE(world.WaitForMode(Mode::kSlow));
  const EntryIndex before = world.checker.CommittedUpTo();
  for (int i = 0; i < 40; ++i) {
    world.SubmitOne(kBytes);
    world.cluster.RunFor(5ms);
  }
  ASSERT_TRUE(world.Commit(1));
  ASSERT_GE(world.checker.CommittedUpTo(), before + 40);
  const EntryIndex behind = world.checker.CommittedUpTo();
  world.cluster.Begin(faults::DiskSlow({laggard}, 1 << 20));
  world.cluster.End(away);
  const Time back = world.cluster.now();
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  EXPECT_GE(world.cluster.now() - back, 300ms) << "640 KB take longer at 1 MB/s";
  EXPECT_GE(world.checker.claims(laggard).commit_index, behind);
}

GRADED_TEST(Mode, ASlowDiskIsNoFailure, "6a", 2,
            "With one disk at 128 KB/s five replicas return to fast mode, and its replica answers "
            "beats at once.") {
  constexpr std::size_t kBytes = std::size_t{2} << 10;
  SaucrWorld world({.replicas = 5, .seed = 715}, SaucrWorld::Parts::k6A);
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  const auto followers = world.Followers();
  const PeerId slow = followers[0];
  world.cluster.Begin(faults::DiskSlow({slow}, 128 << 10));
  const auto away = faults::PartitionFault({followers[1], followers[2]});
  for (int round = 0; round < 3; ++round) {
    world.cluster.Begin(away);
    ASSERT_TRUE(world.WaitForMode(Mode::kSlow));
    for (int i = 0; i < 20; ++i) world.SubmitOne(kBytes);
    world.cluster.RunFor(40ms);
    const PeerId leader = world.Leader();
    const std::uint64_t term = world.checker.claims(leader).term;
    const AppendEntries beat{term, leader, {}, {}, 0, Mode::kSlow, true, LleMap(5), Lives(5)};
    const Time asked = world.cluster.now();
    EXPECT_TRUE(world.Ask(slow, beat));
    EXPECT_LT(world.cluster.now() - asked, 10ms) << "a beat waits for its disk";
    world.cluster.End(away);
    ASSERT_TRUE(world.WaitForMode(Mode::kFast, 500ms));
  }
}

GRADED_TEST(Mode, TheSpecialRequest, "6a", 2,
            "At the switch all outstanding entries are on a majority's disks within 10 ms, and "
            "clients have their answers.") {
  SaucrWorld world({.replicas = 5, .seed = 716, .profile = sim::Profile::SteadyLab()},
                   SaucrWorld::Parts::k6A);
  ASSERT_TRUE(world.BeginInMemory());
  ASSERT_TRUE(world.Commit(5));
  const EntryId last = world.LastCommitted();
  const auto followers = world.Followers();
  world.cluster.Crash(followers[0]);
  world.cluster.Crash(followers[1]);
  // The followers' answers come before the leader has its own part.
  world.cluster.Begin(faults::FsDelay({world.Leader()}, 2ms));
  const auto acknowledged = world.acknowledged();
  for (int i = 0; i < 3; ++i) {
    world.SubmitOne();
    world.cluster.RunFor(1ms);
  }
  ASSERT_TRUE(world.WaitForMode(Mode::kSlow));
  world.cluster.RunFor(10ms);
  for (const PeerId id : {world.Leader(), followers[2], followers[3]}) {
    EXPECT_TRUE(world.HasOnDisk(id, {last.term, last.index + 3})) << "of replica " << id;
  }
  EXPECT_EQ(world.acknowledged(), acknowledged + 3);
}

GRADED_TEST(
    Mode, ALostReplicaIsNotFunctional, "6c", 1,
    "A follower that crashes in fast mode, and is back before the next beat, does not count "
    "until it has its data. It gets them without a new command.") {
  SaucrWorld world({.replicas = 5, .seed = 718});
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  const PeerId leader = world.Leader(), lost = world.Followers()[1];
  world.cluster.Crash(world.Followers()[0]);
  world.cluster.RunFor(60ms);
  ASSERT_TRUE(world.BeginInMemory());
  ASSERT_TRUE(world.Commit(5));
  world.cluster.RunFor(2ms);  // the leader has no more to send than beats
  const SentRequests<AppendEntries> beats(world.cluster);
  ASSERT_TRUE(world.cluster.RunUntil([&] { return !beats.all().empty(); }, 2 * kBeat));
  world.cluster.RunFor(2ms);  // it answers the beat
  world.cluster.Crash(lost);
  world.cluster.Restart(lost);
  // Its data cannot come before the next beat is due.
  const auto late = faults::LinkSlow({leader}, {lost}, kBeat);
  world.cluster.Begin(late);
  const auto is_slow = [&] { return world.checker.claims(leader).mode == Mode::kSlow; };
  EXPECT_TRUE(world.cluster.RunUntil(is_slow, kBeat)) << "three of five have all entries";
  world.cluster.End(late);
  EXPECT_TRUE(world.WaitForMode(Mode::kFast, 300ms)) << "it has its data again";
  EXPECT_TRUE(world.WaitForAllApplied());
}

// ---- flushes ----

GRADED_TEST(Flush, OnTheFirstMissedBeat, "6a", 3,
            "Followers flush between 20 and 45 ms after the leader's last message, and do not "
            "campaign before 150 ms.") {
  SaucrWorld world({.replicas = 5, .seed = 717}, SaucrWorld::Parts::k6A);
  SentRequests<AppendEntries> appends(world.cluster);
  SentRequests<RequestVote> votes(world.cluster);
  ASSERT_TRUE(world.BeginInMemory());
  ASSERT_TRUE(world.Commit(5));
  world.cluster.RunFor(2ms);  // the latest entries reach the last follower
  const EntryId last = world.LastCommitted();
  const auto followers = world.Followers();
  const auto flushed = [&] {
    return std::ranges::count_if(followers, [&](PeerId id) { return world.HasOnDisk(id, last); });
  };
  EXPECT_EQ(flushed(), 0) << "without a reason";
  const Time silent_since = appends.all().back().when;
  votes.Forget();
  world.cluster.Crash(world.Leader());
  ASSERT_TRUE(world.cluster.RunUntil([&] { return flushed() > 0; }, 1s));
  EXPECT_GE(world.cluster.now() - silent_since, 20ms);
  ASSERT_TRUE(world.cluster.RunUntil([&] { return flushed() == 4; }, 1s));
  EXPECT_LE(world.cluster.now() - silent_since, 50ms) << "the last of them has flushed";
  ASSERT_TRUE(world.cluster.RunUntil([&] { return !votes.all().empty(); }, 1s));
  EXPECT_GE(world.cluster.now() - silent_since, kElectionTimeoutMin);
}

GRADED_TEST(Flush, InTheBackground, "6b", 4,
            "Without a failure entries are on all disks 150 ms after they were committed, and no "
            "disk says that a crash loses nothing.") {
  SaucrWorld world({.replicas = 5, .seed = 711});
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(world.Commit(5));
    const EntryId last = world.LastCommitted();
    world.cluster.RunFor(150ms);
    for (PeerId id = 0; id < 5; ++id) {
      EXPECT_TRUE(world.HasOnDisk(id, last)) << "replica " << id << " does not flush";
      EXPECT_FALSE(world.SaysAllIsThere(id)) << "replica " << id << " writes a marker";
    }
  }
  EXPECT_EQ(world.checker.coverage().switches, 1U) << "no replica has failed";
}

GRADED_TEST(Fast, NoSyncOnThePath, "6a", 2,
            "In 5 s of fast mode a replica syncs at most 60 times.") {
  SaucrWorld world({.replicas = 5, .seed = 719}, SaucrWorld::Parts::k6A);
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  std::map<PeerId, int> syncs;
  const Watch watch(world.cluster, [&](PeerId from, Time, const sim::Output& output) {
    const auto* const request = std::get_if<IoRequest>(&output);
    if (request != nullptr && request->sync) ++syncs[from];
  });
  for (int i = 0; i < 500; ++i) {
    world.SubmitOne();
    world.cluster.RunFor(10ms);
  }
  EXPECT_GE(world.acknowledged(), 490U);
  for (PeerId id = 0; id < 5; ++id) EXPECT_LE(syncs[id], 60) << "of replica " << id;
}

}  // namespace
}  // namespace depfast::saucr
