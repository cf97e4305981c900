// The states of a follower at the tuned Raft's leader: one test for each transition.
#include <gtest/gtest.h>

#include "raft.h"

namespace depfast::raft {
namespace {

using State = Progress::State;

constexpr std::uint64_t kEnd = 10;  // of the leader's log

// A follower that acknowledged the entries up to 3, and then did not answer a round.
Progress Probed() {
  Progress progress(kEnd);
  progress.Acknowledged(3);
  EXPECT_TRUE(progress.FellBehind(4));
  return progress;
}

Progress CaughtUpWith() {
  Progress progress = Probed();
  progress.RequestAnswered(1ms);
  return progress;
}

Progress Joining() {
  Progress progress = CaughtUpWith();
  progress.Join(kEnd);
  return progress;
}

TEST(Progress, StartsInRounds) {
  const Progress progress(kEnd);
  EXPECT_EQ(progress.state(), State::kReplicate);
  EXPECT_TRUE(progress.InRounds());
  EXPECT_EQ(progress.next_index(), kEnd);
  EXPECT_EQ(progress.match_index(), 0U);
}

TEST(Progress, ARoundMovesWhatIsSentAndAnAnswerWhatIsThere) {
  Progress progress(kEnd);
  progress.RoundSent(kEnd + 5);
  EXPECT_EQ(progress.next_index(), kEnd + 5);
  EXPECT_EQ(progress.match_index(), 0U);
  progress.Acknowledged(kEnd + 4);
  EXPECT_EQ(progress.match_index(), kEnd + 4);
  EXPECT_EQ(progress.next_index(), kEnd + 5);
  EXPECT_EQ(progress.state(), State::kReplicate);
}

TEST(Progress, AFollowerThatFallsBehindIsProbed) {
  const Progress progress = Probed();
  EXPECT_EQ(progress.state(), State::kProbe);
  EXPECT_FALSE(progress.InRounds());
  EXPECT_EQ(progress.next_index(), 4U);
}

TEST(Progress, OnlyTheFirstFallStartsACatchUp) {
  Progress progress = Probed();
  EXPECT_FALSE(progress.FellBehind(4)) << "its coroutine runs";
  progress.RequestAnswered(1ms);
  EXPECT_FALSE(progress.FellBehind(4));
  EXPECT_EQ(progress.state(), State::kCatchUp) << "it still answers promptly";
}

TEST(Progress, AcknowledgedEntriesAreNotSentAgain) {
  Progress progress = Probed();
  progress.Acknowledged(6);  // a late answer to the round
  EXPECT_EQ(progress.next_index(), 7U);
  EXPECT_FALSE(progress.FellBehind(2)) << "a straggler of an earlier round";
  EXPECT_EQ(progress.next_index(), 7U);
  EXPECT_EQ(progress.match_index(), 6U);
}

TEST(Progress, AnOldAnswerTakesNothingBack) {
  Progress progress = Probed();
  progress.Acknowledged(1);
  EXPECT_EQ(progress.match_index(), 3U);
  EXPECT_EQ(progress.next_index(), 4U);
}

TEST(Progress, APromptAnswerTurnsAProbeIntoCatchUp) {
  Progress progress = Probed();
  const std::size_t probe = progress.request_bytes();
  progress.RequestAnswered(1ms);
  EXPECT_EQ(progress.state(), State::kCatchUp);
  EXPECT_EQ(progress.request_bytes(), 2 * probe);
}

TEST(Progress, ALateAnswerTurnsCatchUpIntoAProbe) {
  Progress progress = CaughtUpWith();
  const std::size_t before = progress.request_bytes();
  progress.RequestAnswered(80ms);
  EXPECT_EQ(progress.state(), State::kProbe);
  EXPECT_EQ(progress.request_bytes(), before / 2);
}

TEST(Progress, RequestsToADistantFollowerGrowAndItStaysOutOfTheRounds) {
  Progress progress = Probed();
  const std::size_t probe = progress.request_bytes();
  progress.RequestAnswered(400ms);
  progress.RequestAnswered(420ms);
  EXPECT_EQ(progress.request_bytes(), 4 * probe);
  EXPECT_EQ(progress.state(), State::kProbe);
  progress.RequestAnswered(460ms);
  EXPECT_EQ(progress.request_bytes(), 2 * probe) << "it does not keep up with larger requests";
}

TEST(Progress, ALostRequestIsProbedAgainFromItsFirstEntry) {
  Progress progress = CaughtUpWith();
  const Duration before = progress.request_timeout();
  progress.RequestLost(4);
  EXPECT_EQ(progress.state(), State::kProbe);
  EXPECT_EQ(progress.next_index(), 4U);
  EXPECT_EQ(progress.request_timeout(), 2 * before);
}

TEST(Progress, RequestsStayWithinTheirBounds) {
  Progress progress = Probed();
  for (int i = 0; i < 20; ++i) progress.RequestAnswered(1ms);
  EXPECT_EQ(progress.request_bytes(), 128U * 1024);
  for (int i = 0; i < 20; ++i) progress.RequestLost(4);
  EXPECT_EQ(progress.request_bytes(), 4U * 1024);
  EXPECT_EQ(progress.request_timeout(), 1s);
}

TEST(Progress, AFollowerJoinsTheRoundsBehindItsLastRequest) {
  Progress progress = Joining();
  EXPECT_EQ(progress.state(), State::kJoin);
  EXPECT_TRUE(progress.InRounds());
  EXPECT_EQ(progress.next_index(), kEnd);
  progress.RoundSent(kEnd + 1);
  progress.RequestAnswered(1ms);
  EXPECT_EQ(progress.state(), State::kReplicate);
  EXPECT_EQ(progress.next_index(), kEnd + 1);
}

TEST(Progress, AFollowerThatMissesNothingJoinsAtOnce) {
  Progress progress = CaughtUpWith();
  progress.Acknowledged(kEnd - 1);
  progress.Join(kEnd);
  EXPECT_EQ(progress.state(), State::kReplicate);
}

TEST(Progress, AFollowerWhoseLastRequestIsLostLeavesTheRounds) {
  Progress progress = Joining();
  progress.RequestLost(4);
  EXPECT_EQ(progress.state(), State::kProbe);
  EXPECT_EQ(progress.next_index(), 4U);
}

TEST(Progress, AFollowerThatFallsBehindWhileItJoinsKeepsItsCatchUp) {
  Progress progress = Joining();
  EXPECT_FALSE(progress.FellBehind(kEnd)) << "its coroutine runs";
  EXPECT_EQ(progress.state(), State::kProbe);
  progress.RequestAnswered(1ms);
  EXPECT_EQ(progress.state(), State::kCatchUp);
}

TEST(Progress, ACatchUpBeginsAnewWithSmallRequests) {
  Progress progress = Joining();
  progress.RequestAnswered(1ms);
  EXPECT_TRUE(progress.FellBehind(kEnd));
  EXPECT_EQ(progress.request_bytes(), Probed().request_bytes());
  EXPECT_EQ(progress.request_timeout(), Probed().request_timeout());
}

TEST(Progress, ASnapshotLeadsFromAProbeToAProbe) {
  Progress progress = Probed();
  progress.SnapshotNeeded();
  EXPECT_EQ(progress.state(), State::kSnapshot);
  EXPECT_FALSE(progress.InRounds());
  progress.Acknowledged(8);
  EXPECT_EQ(progress.state(), State::kProbe);
  EXPECT_EQ(progress.next_index(), 9U);
  EXPECT_EQ(progress.match_index(), 8U);
}

TEST(Progress, ASnapshotMayBeNeededDuringCatchUp) {
  Progress progress = CaughtUpWith();
  progress.SnapshotNeeded();
  EXPECT_EQ(progress.state(), State::kSnapshot);
  EXPECT_FALSE(progress.FellBehind(1));
  EXPECT_EQ(progress.state(), State::kSnapshot);
}

TEST(ProgressDeath, RefusesTransitionsThatDoNotExist) {
  EXPECT_DEATH(Probed().RoundSent(kEnd), "InRounds");
  EXPECT_DEATH(Probed().Join(kEnd), "kCatchUp");
  EXPECT_DEATH(Progress(kEnd).RequestAnswered(1ms), "kReplicate");
  EXPECT_DEATH(Progress(kEnd).RequestLost(1), "kReplicate");
  EXPECT_DEATH(Progress(kEnd).SnapshotNeeded(), "InRounds");
}

}  // namespace
}  // namespace depfast::raft
