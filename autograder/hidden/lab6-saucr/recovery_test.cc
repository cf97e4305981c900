// Hidden tests: the LLE of a replica that has lost entries, and its vote.
#include <gtest/gtest.h>

#include <vector>

#include "safety.h"
#include "stage.h"
#include "testkit/environment.h"
#include "testkit/some.h"

namespace depfast::saucr {
namespace {

// `lost` crash and start among `group`, which is cut off. Nobody of them may recover. Then all hear
// each other, and all recover.
void StayLost(int replicas, std::uint64_t seed, std::size_t lost, std::size_t group) {
  SCOPED_TRACE(std::to_string(replicas) + " replicas");
  SaucrWorld world({.replicas = replicas, .seed = seed});
  ASSERT_TRUE(world.BeginFast(5));
  std::vector<PeerId> cut_off = world.Followers();
  cut_off.resize(group);
  world.cluster.Partition(cut_off);
  cut_off.resize(lost);
  for (const PeerId id : cut_off) world.cluster.Crash(id);
  for (const PeerId id : cut_off) world.cluster.Restart(id);
  world.cluster.RunFor(400ms);
  for (const PeerId id : testkit::Some(cut_off)) {
    EXPECT_EQ(world.checker.claims(id).recovery, Recovery::kRecovering)
        << Unsafe(Safety::kAcknowledgedIsKept) << "replica " << id << " has too few answers";
  }
  EXPECT_TRUE(world.ServesAgain());
  EXPECT_TRUE(world.WaitForMode(Mode::kFast));
}

GRADED_TEST(Lle, WaitsForAMinority, "6c", 2,
            "With f - 1 answers, which come again and again, a replica of 5 and of 7 stays "
            "recovering.") {
  StayLost(5, 761, 1, 2);
  StayLost(7, 762, 1, 3);
}

// All are recovering: each question has its answer at once, and no answer counts.
void AskInVain(std::uint64_t seed) {
  constexpr int kPairs = 6;
  constexpr Duration kTime = 500ms;
  SaucrWorld world({.replicas = 3, .seed = seed});
  ASSERT_TRUE(world.BeginFast(5));
  for (PeerId id = 0; id < 3; ++id) world.cluster.Crash(id);
  for (PeerId id = 0; id < 3; ++id) world.cluster.Restart(id);
  const SentRequests<LleQuery> questions(world.cluster);
  world.cluster.RunFor(kTime);
  EXPECT_GE(questions.all().size(), kPairs * (kTime / kLleRetry - 2)) << "they do not ask again";
  EXPECT_LE(questions.all().size(), kPairs * (kTime / 5ms)) << "they ask without a pause";
}

GRADED_TEST(Lle, ARecoveringReplicaDoesNotAnswer, "6c", 2,
            "Two recovering replicas do not recover from each other. They ask again, after a "
            "pause.") {
  StayLost(3, 763, 2, 2);
  StayLost(5, 764, 2, 3);
  AskInVain(769);
}

GRADED_TEST(Lle, TheOwnDiskCounts, "6c", 1,
            "A replica whose disk is ahead of the others' maps keeps what its disk says. An answer "
            "counts that comes after the next question.") {
  Stage stage(765);
  stage.cluster.Begin(faults::LinkSlow({1}, {0}, kLleRetry + 20ms));
  ASSERT_TRUE(stage.Ask(0, stage.Message(1, {}, {1}, Mode::kSlow)));
  ASSERT_TRUE(stage.Ask(0, stage.Message(1, {1, 1}, {1}, Mode::kFast)));
  ASSERT_TRUE(stage.CrashAndRecover({0}, {0, 1}));
  EXPECT_GE(stage.LleOf(0), (EntryId{1, 1}))
      << Unsafe(Safety::kAcknowledgedIsKept) << "the entry is on its disk";
  EXPECT_FALSE(stage.WouldVoteFor(0, {}))
      << Unsafe(Safety::kAcknowledgedIsKept) << "for a log without the entry";
  const auto reply = stage.Ask(0, stage.Message(1, {1, 1}, {1, 1}, Mode::kFast));
  EXPECT_TRUE(reply && reply->success) << "it has the entry before these";
}

// Replica 0 knows that its log ended at (1,3), and has (1,1) alone. Replica 1 has all, and knows of
// replica 2's second life.
void LoseTheEnd(Stage& stage) {
  stage.TakeThree({0, 1}, {0, 1, 2});
  ASSERT_TRUE(stage.Ask(1, LleQuery{1, {0, 0, 1}}));
  ASSERT_TRUE(stage.CrashAndRecover({0}, {0, 1})) << "one of two others has answered";
  EXPECT_EQ(stage.LleOf(0).index, 3U)
      << Unsafe(Safety::kAcknowledgedIsKept) << "replica 1's map names it with (1,3)";
}

GRADED_TEST(Lle, ARecoveredReplicaPassesTheMapOn, "6c", 2,
            "The second of two lost replicas learns its LLE from the first, which has also kept "
            "the lives that it was told.") {
  Stage stage(766);
  ASSERT_NO_FATAL_FAILURE(LoseTheEnd(stage));
  const auto answer = stage.Ask(0, LleQuery{1, stage.NoLives()});
  ASSERT_TRUE(answer && answer->lives.size() == 3);
  EXPECT_EQ(answer->last, (EntryId{1, 1}))
      << Unsafe(Safety::kAcknowledgedIsKept) << "the last entry of its log";
  EXPECT_EQ(answer->lives[2], 1U) << Unsafe(Safety::kAcknowledgedIsKept)
                                  << "replica 1 told it of replica 2's life";
  ASSERT_TRUE(stage.CrashAndRecover({1}, {0, 1})) << "replica 0 knows its own LLE";
  EXPECT_EQ(stage.LleOf(1).index, 3U)
      << Unsafe(Safety::kAcknowledgedIsKept) << "replica 0 was told that 1 has (1,3)";
}

GRADED_TEST(Votes, ByTheRecoveredLle, "6c", 2,
            "A replica without data refuses candidates whose log is shorter than its recovered "
            "LLE.") {
  Stage stage(767);
  ASSERT_NO_FATAL_FAILURE(LoseTheEnd(stage));
  stage.cluster.RunFor(kElectionTimeoutMin);  // no leader is alive
  std::uint64_t term = 1;
  for (const EntryId behind : {EntryId{}, EntryId{1, 1}, EntryId{1, 2}}) {
    EXPECT_FALSE(stage.WouldVoteFor(0, behind))
        << Unsafe(Safety::kAcknowledgedIsKept) << "index " << behind.index;
    const auto vote = stage.Ask(0, RequestVote{++term, 2, behind, /*pre_vote=*/false});
    EXPECT_FALSE(vote && vote->granted)
        << Unsafe(Safety::kAcknowledgedIsKept) << "index " << behind.index;
  }
  EXPECT_TRUE(stage.WouldVoteFor(0, {1, 3}));
  const auto vote = stage.Ask(0, RequestVote{++term, 2, {1, 3}, /*pre_vote=*/false});
  ASSERT_TRUE(vote && vote->granted);
  EXPECT_EQ(vote->map, stage.MapOf({0, 1, 2}, {1, 3}))
      << Unsafe(Safety::kAcknowledgedIsKept) << "of the vote";
}

// Replica 0 is ahead. It, or its voter, knows more of replica 2.
void LeadWithMaps(std::uint64_t seed, EntryIndex leaders, EntryIndex voters) {
  Stage stage(seed);
  const LleMap map = stage.MapOf({2}, {1, leaders}), told = stage.MapOf({2}, {1, voters});
  ASSERT_TRUE(stage.Ask(0, stage.Message(1, {}, {1, 1, 1}, Mode::kFast, map)));
  ASSERT_TRUE(stage.Ask(1, stage.Message(1, {}, {1, 1}, Mode::kFast, told)));
  const SentRequests<AppendEntries> sent(stage.cluster);
  stage.Connect({0, 1});
  ASSERT_EQ(stage.WaitForProposer(), 0) << "its log is ahead";
  ASSERT_TRUE(
      stage.cluster.RunUntil([&] { return !sent.all().empty(); }, 2 * raft::kHeartbeatInterval))
      << "a leader says nothing";
  for (const auto& [from, to, when, request] : sent.all()) {
    EXPECT_EQ(request.map[2].index, 2U)
        << Unsafe(Safety::kAcknowledgedIsKept) << "of replica 2. The leader's map says " << leaders
        << ", its voter's " << voters;
  }
  EXPECT_TRUE(stage.ServesAgain());
}

GRADED_TEST(Votes, CarryMaps, "6c", 1,
            "A new leader names each replica as it did, or as its voters did, by the larger "
            "value.") {
  ASSERT_NO_FATAL_FAILURE(LeadWithMaps(768, 1, 2));
  LeadWithMaps(770, 2, 1);
}

}  // namespace
}  // namespace depfast::saucr
