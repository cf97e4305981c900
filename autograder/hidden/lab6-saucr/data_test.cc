// Hidden tests: the data of a leader that has lost them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "safety.h"
#include "stage.h"
#include "testkit/environment.h"
#include "testkit/history.h"
#include "testkit/some.h"

namespace depfast::saucr {
namespace {

bool HasCommitted(const SaucrWorld& world, const std::string& command) {
  return world.checker.HasApplied(DigestOf(command));
}

// Replicas 0, 1 and 2 of five know that their logs ended at (1,3), and have (1,1) alone. Replica 3
// has all, and 4 nothing.
void LoseTheData(Stage& stage) {
  const std::vector<PeerId> lost{0, 1, 2};
  stage.TakeThree({0, 1, 2, 3}, {0, 1, 2, 3});
  ASSERT_TRUE(stage.CrashAndRecover(lost, {0, 1, 2, 3, 4})) << "replicas 3 and 4 answer";
  for (const PeerId id : lost) ASSERT_EQ(stage.LleOf(id).index, 3U);
}

// The longest time in which the leader of a term has asked for logs.
Duration LongestSearch(const SentRequests<FetchLog>& questions) {
  std::map<std::uint64_t, Time> began;
  Duration longest{0};
  for (const auto& [from, to, when, request] : questions.all()) {
    longest = std::max(longest, when - began.try_emplace(request.term, when).first->second);
  }
  return longest;
}

// A candidate asks for this replica's vote until there is a leader. So it does not campaign itself.
void LeadWithoutCampaignsOf(PeerId voter, PeerId candidate, EntryId lle, SaucrWorld& world) {
  const RequestVote request{world.checker.claims(voter).term + 1, candidate, lle, false};
  const auto leads = [&] { return world.Leader() != kNobody; };
  for (int i = 0; i < 30 && !leads(); ++i) {
    world.asker.Call(voter, request, 90ms, [](const auto&) {});
    world.cluster.RunUntil(leads, 100ms);
  }
  ASSERT_TRUE(leads());
  ASSERT_NE(world.Leader(), voter);
}

// A leader has chosen replica 3's log, and has asked for it.
void ChooseReplica3(Stage& stage, const SentRequests<FetchLog>& questions) {
  stage.Connect({0, 1, 3});
  ASSERT_NO_FATAL_FAILURE(LeadWithoutCampaignsOf(3, 0, {1, 3}, stage));
  const auto asks_for_entries = [&] {
    return std::ranges::any_of(questions.all(),
                               [](const auto& each) { return each.request.first > 0; });
  };
  ASSERT_TRUE(stage.cluster.RunUntil(asks_for_entries, kElectionTimeoutMax));
}

// `group` elects a leader that has no data. It must wait for replica 3.
void WaitForReplica3(std::uint64_t seed, std::vector<PeerId> group, bool is_chosen = false) {
  Stage world(seed, 5);
  ASSERT_NO_FATAL_FAILURE(LoseTheData(world));
  const SentRequests<FetchLog> questions(world.cluster);
  const SentRequests<AppendEntries> messages(world.cluster);
  if (is_chosen) {
    ASSERT_NO_FATAL_FAILURE(ChooseReplica3(world, questions));
  }
  world.Connect(group);
  world.cluster.RunFor(900ms);
  const Duration asked = LongestSearch(questions);
  EXPECT_GE(asked, kLleRetry) << "no leader asks again for its data";
  EXPECT_LE(asked, kElectionTimeoutMax) << "a leader without data does not give its term up";
  EXPECT_TRUE(std::ranges::all_of(testkit::Some(messages.all()),
                                  [](const auto& each) { return each.request.beat; }))
      << Unsafe(Safety::kAcknowledgedIsKept) << "a leader without data sends more than beats";
  EXPECT_EQ(world.LastCommitted(), EntryId()) << Unsafe(Safety::kAcknowledgedIsKept);
  group.push_back(3);
  world.Connect(group);
  EXPECT_NE(world.WaitForProposer(), kNobody) << "replica 3 has the data";
  EXPECT_TRUE(HasCommitted(world, "entry 3 of term 1")) << Unsafe(Safety::kAcknowledgedIsKept);
  EXPECT_TRUE(world.ServesAgain());
}

GRADED_TEST(
    Data, ALeaderWaitsForItsData, "6c", 2,
    "A leader that is not whole sends no entries, and overwrites nothing. It asks again, and "
    "gives its term up after a while.") {
  ASSERT_NO_FATAL_FAILURE(WaitForReplica3(771, {0, 1, 2}));
  WaitForReplica3(780, {0, 1, 2, 4}, /*is_chosen=*/true);
}

// All answer at once. Nobody has the data, and one of them alone is whole.
void SearchInVain(std::uint64_t seed) {
  constexpr Duration kTime = 900ms;
  Stage stage(seed, 5);
  const LleMap map = stage.MapOf({0, 1, 2, 3}, {1, 3});
  stage.TakeThree({0, 1, 2}, {0, 1, 2, 3});
  ASSERT_TRUE(stage.Ask(3, stage.Message(1, {}, {1}, Mode::kFast, map)));
  ASSERT_TRUE(stage.CrashAndRecover({0, 1, 2}, {0, 1, 2, 3, 4}));
  ASSERT_TRUE(stage.Ask(3, stage.Message(1, {1, 1}, {1}, Mode::kFast, map)));
  ASSERT_TRUE(stage.CrashAndRecover({3}, {0, 1, 3}));
  ASSERT_EQ(stage.LleOf(3).index, 3U);
  const SentRequests<FetchLog> questions(stage.cluster);
  stage.Connect({0, 1, 2, 3, 4});
  stage.cluster.RunFor(kTime);
  EXPECT_GT(questions.all().size(), 0U);
  EXPECT_LE(questions.all().size(), 4 * (kTime / 5ms)) << "leaders ask without a pause";
  EXPECT_EQ(stage.LastCommitted(), EntryId()) << Unsafe(Safety::kAcknowledgedIsKept);
}

GRADED_TEST(Data, NotFromTheIncomplete, "6c", 2,
            "An answer of a replica that is not whole does not let a leader give up anything. It "
            "asks again, after a pause.") {
  ASSERT_NO_FATAL_FAILURE(WaitForReplica3(772, {0, 1, 2, 4}));
  SearchInVain(781);
}

void TakeALog(std::uint64_t seed) {
  Stage stage(seed, 5);
  ASSERT_NO_FATAL_FAILURE(LoseTheData(stage));
  stage.Connect({0, 1, 2, 3});
  // Its answer is always the last of three. Two would be a minority.
  stage.cluster.Begin(faults::LinkSlow({3}, {0, 1, 2}, 10ms));
  ASSERT_NO_FATAL_FAILURE(LeadWithoutCampaignsOf(3, 0, {1, 3}, stage));
  EXPECT_NE(stage.WaitForProposer(), kNobody);
  EXPECT_TRUE(HasCommitted(stage, "entry 3 of term 1")) << Unsafe(Safety::kAcknowledgedIsKept);
  EXPECT_TRUE(stage.ServesAgain());
}

// The disk of a replica hangs while the others take snapshots. It crashes with the leader.
void TakeASnapshot() {
  SaucrWorld world({.replicas = 3, .seed = 779});
  ASSERT_TRUE(world.BeginFast(5));
  const PeerId dies = world.Leader();
  const PeerId lost = world.Followers()[0], has = world.Followers()[1];
  const auto hangs = faults::FsDelay({lost}, 30s);
  world.cluster.Begin(hangs);
  for (int i = 0; i < 100 && !world.checker.HasSnapshot(has); ++i) {
    ASSERT_TRUE(world.SubmitAndWait(1s, 64 << 10));
  }
  ASSERT_TRUE(world.checker.HasSnapshot(has));
  ASSERT_TRUE(world.WaitForAllApplied());
  const EntryId last = world.LastCommitted();
  world.cluster.Crash(dies);
  world.cluster.Crash(lost);
  world.cluster.End(hangs);
  world.cluster.Restart(lost);
  ASSERT_NO_FATAL_FAILURE(LeadWithoutCampaignsOf(has, lost, last, world));
  EXPECT_EQ(world.WaitForProposer(), lost);
  EXPECT_GE(world.checker.claims(lost).restored, 1U) << "its disk has the first entries alone";
  EXPECT_TRUE(world.ServesAgain());
}

GRADED_TEST(Data, FromAFollowerThatHasIt, "6c", 2,
            "A leader that is not whole takes the log of a follower that reaches its LLE, also by "
            "a snapshot.") {
  // Other replicas lead, and ask.
  for (std::uint64_t seed = 783; seed < 789; ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(TakeALog(seed));
  }
  TakeASnapshot();
}

// The leader of term 1 has named replica 0 with (1,3). It alone got that entry, and has lost it.
void GiveUp(int replicas, std::uint64_t seed, const std::vector<PeerId>& minority,
            Duration distance = 0ms) {
  SCOPED_TRACE(std::to_string(replicas) + " replicas, " + testkit::FormatTime(Time(distance)) +
               " from each other");
  Stage world(seed, replicas);
  world.TakeThree({0}, {0});
  const LleMap map = world.MapOf({0}, {1, 3});
  for (const PeerId id : testkit::Some(minority)) {
    ASSERT_TRUE(world.Ask(id, world.Message(1, {}, {1, 1}, Mode::kFast, map)));
  }
  world.CrashAndStart(0);
  std::vector<PeerId> group = minority;
  group.push_back(0);
  world.Connect(group);
  world.cluster.Begin(faults::LinkSlow(group, group, distance));
  EXPECT_EQ(world.WaitForProposer(), 0) << "its LLE is ahead of all logs";
  EXPECT_EQ(world.LleOf(0).index, 2U) << "a minority of whole logs ends there";
  EXPECT_TRUE(world.Commit(5)) << "nobody has the lost entry, and nobody ever committed it";
  EXPECT_TRUE(HasCommitted(world, "entry 2 of term 1")) << Unsafe(Safety::kAcknowledgedIsKept);
  EXPECT_FALSE(HasCommitted(world, "entry 3 of term 1"));
  EXPECT_TRUE(world.ServesAgain());
}

GRADED_TEST(Data, NobodyHasIt, "6c", 2,
            "With the answers of f whole replicas a leader gives up entries that nobody has, and "
            "serves. An answer counts also if the leader has asked again before it comes.") {
  GiveUp(3, 774, {1});
  GiveUp(3, 777, {1}, 3 * kLleRetry / 5);
  GiveUp(5, 775, {2, 3});
}

// A leader that looks for its data hears of a later leader.
void HearOfALaterLeader(std::uint64_t seed) {
  Stage stage(seed, 5);
  ASSERT_NO_FATAL_FAILURE(LoseTheData(stage));
  SentRequests<FetchLog> questions(stage.cluster);
  stage.Connect({0, 1, 2});
  ASSERT_TRUE(stage.cluster.RunUntil([&] { return !questions.all().empty(); }, 3s));
  const auto [asks, to, when, question] = questions.all().front();
  ASSERT_TRUE(stage.Ask(asks, stage.Beat(question.term + 1, Mode::kSlow)));
  questions.Forget();
  stage.Connect({});
  stage.cluster.RunFor(2 * kLleRetry);
  EXPECT_TRUE(questions.all().empty()) << "it leads no longer, and asks for logs";
}

GRADED_TEST(Data, EndsOlderTerms, "6c", 2,
            "A replica that was asked for its log takes no more entries of an older term. A leader "
            "that looks for its data ends its search when it hears of a later one.") {
  ASSERT_NO_FATAL_FAILURE(HearOfALaterLeader(782));
  Stage stage(776);
  ASSERT_TRUE(stage.Ask(0, stage.Message(1, {}, {1}, Mode::kFast)));
  const auto told = stage.Ask(0, FetchLog{2, 2, 0, 0});
  ASSERT_TRUE(told);
  EXPECT_EQ(told->term, 2U) << Unsafe(Safety::kDurablePromise);
  EXPECT_EQ(told->last.index, 1U);
  EXPECT_EQ(stage.checker.disk(0).wal().hard_state.term, 2U)
      << Unsafe(Safety::kDurablePromise) << "on its disk";
  const auto late = stage.Ask(0, stage.Message(1, {1, 1}, {1}, Mode::kFast));
  EXPECT_FALSE(late && late->success)
      << Unsafe(Safety::kAcknowledgedIsKept) << "an entry of term 1";
}

// W17.
GRADED_TEST(Data, AFlushBeforeItIsWhole, "6c", 2,
            "A replica that flushes and crashes again before it is whole is recovering again.") {
  for (const bool by_silence : {true, false}) {
    Stage stage(by_silence ? 777 : 778);
    stage.TakeThree({0, 1}, {0, 1, 2});
    for (int crash = 0; crash < 3; ++crash) {
      ASSERT_TRUE(stage.CrashAndRecover({0}, {0, 1})) << "start " << crash + 1;
      EXPECT_EQ(stage.LleOf(0).index, 3U)
          << Unsafe(Safety::kAcknowledgedIsKept) << "at start " << crash + 1;
      if (by_silence) {
        ASSERT_TRUE(stage.Ask(0, stage.Message(1, {1, 1}, {1}, Mode::kFast)));
        stage.cluster.RunFor(kSilence + 20ms);
        EXPECT_TRUE(stage.HasOnDisk(0, {1, 2})) << "its flush writes the entries that it has";
      } else {
        ASSERT_TRUE(stage.Ask(0, stage.Message(1, {1, 1}, {}, Mode::kSlow)));
        stage.cluster.RunFor(5ms);
      }
      EXPECT_FALSE(stage.SaysAllIsThere(0))
          << Unsafe(Safety::kAcknowledgedIsKept) << "it lacks (1,3)";
    }
  }
}

}  // namespace
}  // namespace depfast::saucr
