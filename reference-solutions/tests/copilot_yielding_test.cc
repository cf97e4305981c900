// When a pilot of lab 5 leaves the commands to the other one.
#include <gtest/gtest.h>

#include "yielding.h"

namespace depfast::copilot {
namespace {

constexpr Duration kUsual = 8ms;
constexpr Duration kTurn = 15ms;
constexpr Duration kDecided = 4ms;
constexpr int kCommands = 4;  // of each entry
constexpr std::size_t kWaiting = 10;

// A pilot whose entries run one after the other, each with commands that took `took`.
struct Pilot {
  // `first`: the number of commands of each entry that had not run by the other lane.
  void Run(int entries, int first, Duration took = kUsual) {
    for (int i = 0; i < entries; ++i) {
      now += 3ms;
      for (int k = 0; k < kCommands; ++k) yielding.OnRun(now - took, k < first, now);
      ++latest;
      yielding.OnDecision(/*is_ours=*/true, decided_after);
      yielding.OnDecision(/*is_ours=*/false, kDecided);
      yielding.OnOwnEntry({latest, kCommands, first, is_taken_over}, {latest, kTurn, waiting, now});
      has_yielded |= yielding.yields();
    }
  }
  // Its entries come too late.
  void RunUntilItYields(int first = 1, Duration took = kUsual) {
    for (int i = 0; i < 100 && !yielding.yields(); ++i) Run(1, first, took);
    ASSERT_TRUE(yielding.yields());
  }
  // The other lane alone runs commands.
  void RunByOther(int commands, Duration took = kUsual) {
    for (int i = 0; i < commands; ++i) {
      now += 1ms;
      yielding.OnRun(now - took, /*is_ours=*/false, now);
    }
  }

  Yielding yielding;
  std::size_t waiting = kWaiting;
  Duration decided_after = kDecided;
  bool is_taken_over = false;
  bool has_yielded = false;
  Time now{0};
  EntryIndex latest = 0;
};

TEST(CopilotYielding, APilotThatIsFirstWithHalfTakesItsTurns) {
  Pilot pilot;
  pilot.Run(1000, 2);
  EXPECT_FALSE(pilot.yielding.yields());
}

TEST(CopilotYielding, ALatePilotYields) {
  Pilot pilot;
  pilot.Run(100, 2);
  EXPECT_FALSE(pilot.yielding.yields());
  pilot.RunUntilItYields();
}

// A healthy pilot is first with all commands of an entry or with none, and may lose two by chance.
TEST(CopilotYielding, AFewLargeEntriesDoNotDecide) {
  Yielding yielding;
  for (EntryIndex index = 1; index <= 2; ++index) {
    yielding.OnOwnEntry({index, 100, 0}, {index, kTurn, kWaiting, Time(0)});
  }
  EXPECT_FALSE(yielding.yields());
}

// The order may put first what a taker has had to decide: it counts as late, and twice.
TEST(CopilotYielding, APilotWhoseEntriesAreTakenOverYieldsSooner) {
  Pilot late;
  late.RunUntilItYields(/*first=*/0);
  Pilot taken_over;
  taken_over.is_taken_over = true;
  taken_over.RunUntilItYields(kCommands);
  EXPECT_GT(taken_over.latest, late.latest / 3);
  EXPECT_LT(taken_over.latest, late.latest);
}

// It is first with its share, but its disk is later, and its votes for itself.
TEST(CopilotYielding, APilotWhoseEntriesAreDecidedLaterYields) {
  for (const bool later : {false, true}) {
    Pilot pilot;
    pilot.decided_after = later ? kDecided * 6 / 5 : kDecided * 21 / 20;
    pilot.Run(1000, 2);
    EXPECT_EQ(pilot.has_yielded, later);
  }
}

// A saturated cluster is no measure, nor what is left of that time.
TEST(CopilotYielding, NobodyYieldsForLateDecisionsWhileManyCommandsWait) {
  Pilot pilot;
  pilot.decided_after = 2 * kDecided;
  pilot.waiting = 100;
  pilot.Run(1000, 2);
  pilot.waiting = kWaiting;
  pilot.Run(100, 2);
  EXPECT_FALSE(pilot.has_yielded);
}

// A link stalls now and then. An entry that waits for it tells nothing of its pilot.
TEST(CopilotYielding, AStalledLinkMakesNobodyYield) {
  Pilot pilot;
  for (int i = 0; i < 20; ++i) {
    pilot.Run(60, 2);
    pilot.yielding.OnDecision(/*is_ours=*/true, 60ms);
    pilot.yielding.OnDecision(/*is_ours=*/false, kDecided);
  }
  EXPECT_FALSE(pilot.has_yielded);
}

// The other pilot yields, so this one's later entries have none beside them.
TEST(CopilotYielding, OnlyEntriesOfTheSameTimeCompare) {
  Pilot pilot;
  for (int i = 0; i < 20; ++i) {
    for (int k = 0; k < 100; ++k) pilot.yielding.OnDecision(/*is_ours=*/true, kDecided * 5 / 4);
    pilot.Run(10, 2);
  }
  EXPECT_FALSE(pilot.has_yielded);
}

// The cluster is saturated: shares are a matter of chance then.
TEST(CopilotYielding, NobodyYieldsWhileManyCommandsWait) {
  Pilot pilot;
  pilot.waiting = 100;
  pilot.Run(1000, 0);
  EXPECT_FALSE(pilot.yielding.yields());
  // Nothing is kept of that time.
  pilot.waiting = kWaiting;
  pilot.Run(1, 0);
  EXPECT_FALSE(pilot.yielding.yields());
  pilot.RunUntilItYields();
}

// A replica that stands still for a part of each tenth of a second, while `waiting` commands come.
void PauseAgain(Pilot& pilot, int pauses, Duration apart, std::size_t waiting = 200) {
  pilot.waiting = waiting;
  pilot.is_taken_over = true;
  for (int i = 0; i < pauses; ++i) {
    pilot.now += apart;
    pilot.Run(3, 0, /*took=*/0ms);
  }
}

TEST(CopilotYielding, APilotThatPausesAgainAndAgainYields) {
  Pilot pilot;
  PauseAgain(pilot, 3, 100ms);
  EXPECT_FALSE(pilot.yielding.yields());
  PauseAgain(pilot, 1, 100ms);
  EXPECT_TRUE(pilot.yielding.yields());
}

TEST(CopilotYielding, PausesThatAreFarApartDoNotCount) {
  Pilot pilot;
  PauseAgain(pilot, 100, 500ms);
  EXPECT_FALSE(pilot.has_yielded);
}

// Then entry after entry is taken over.
TEST(CopilotYielding, ALinkThatStallsFor200MsIsNoPause) {
  Pilot pilot;
  pilot.Run(100, 2);
  const Time begin = pilot.now;
  while (pilot.now < begin + 200ms) PauseAgain(pilot, 1, 1ms);
  EXPECT_FALSE(pilot.has_yielded);
}

// Others decided nothing for it: it is only that many commands come.
TEST(CopilotYielding, ASaturatedPilotThatDecidesItsEntriesTakesItsTurns) {
  Pilot pilot;
  pilot.waiting = 200;
  for (int i = 0; i < 100; ++i) {
    pilot.now += 100ms;
    pilot.Run(1, 0);
  }
  EXPECT_FALSE(pilot.has_yielded);
}

// Its commands take long because it pauses itself.
TEST(CopilotYielding, APilotThatPausesDoesNotBlameTheOther) {
  for (const bool pauses : {true, false}) {
    Pilot pilot;
    pilot.Run(100, 2);
    pilot.RunUntilItYields();
    pilot.RunByOther(100);
    ASSERT_TRUE(pilot.yielding.yields());
    const Time due = pilot.yielding.DueAt(pilot.now);
    pilot.yielding.NoticePause(pilot.now, pauses ? due + 90ms : due);
    pilot.RunByOther(300, 4 * kUsual);
    EXPECT_EQ(pilot.yielding.yields(), pauses);
    // It has not paused for long.
    pilot.RunByOther(600, 4 * kUsual);
    EXPECT_FALSE(pilot.yielding.yields());
  }
}

// It hears of a command and of its decision at once, and the time between them tells nothing.
TEST(CopilotYielding, AfterAPauseCommandsSeemToTakeNoTime) {
  Pilot pilot;
  pilot.Run(100, 2);
  PauseAgain(pilot, 4, 100ms);
  const Time later = pilot.now + 100ms;
  EXPECT_GE(pilot.yielding.DueAt(later), later + kTurn);
  pilot.RunByOther(200, 0ms);
  EXPECT_GE(pilot.yielding.DueAt(later), later + kTurn);
}

TEST(CopilotYielding, APilotThatComesLateHearsFirst) {
  Pilot pilot;
  pilot.Run(100, 2);
  pilot.RunUntilItYields();
  const Time since = pilot.now + 100ms;
  const Time due = pilot.yielding.DueAt(since);
  pilot.yielding.NoticePause(since, due + 1ms);
  EXPECT_EQ(pilot.yielding.DueAt(since), due);
  const Time came = due + 90ms;
  pilot.yielding.NoticePause(since, came);
  const Time then = pilot.yielding.DueAt(since);
  EXPECT_GE(then, came + kTurn);
  // It is always late, and the other pilot is dead.
  pilot.yielding.NoticePause(since, then + 90ms);
  EXPECT_EQ(pilot.yielding.DueAt(since), then);
  // A younger command waits anew.
  const Time younger = came + 3ms;
  const Time again = then + 90ms;
  pilot.yielding.NoticePause(younger, again);
  EXPECT_GE(pilot.yielding.DueAt(younger), again + kTurn);
}

// It pauses after the trial has failed, and recovers.
TEST(CopilotYielding, AFailedTrialIsForgottenWhenAPilotYields) {
  Pilot pilot;
  pilot.RunUntilItYields();
  pilot.RunByOther(6000);
  pilot.yielding.TryAgainIfDue(pilot.now);
  ASSERT_FALSE(pilot.yielding.yields());
  pilot.waiting = 200;
  pilot.Run(18, 2, 2 * kUsual);
  PauseAgain(pilot, 4, 100ms);
  ASSERT_TRUE(pilot.yielding.yields());
  pilot.waiting = kWaiting;
  pilot.is_taken_over = false;
  pilot.Run(2, kCommands);
  ASSERT_FALSE(pilot.yielding.yields());
  pilot.has_yielded = false;
  pilot.Run(10, 2);
  EXPECT_FALSE(pilot.has_yielded);
}

// The other pilot is a little nearer to a client that waits for each answer.
TEST(CopilotYielding, NobodyYieldsWhileHardlyACommandWaits) {
  Pilot pilot;
  pilot.waiting = 1;
  pilot.Run(1000, 0);
  PauseAgain(pilot, 100, 100ms, /*waiting=*/1);
  EXPECT_FALSE(pilot.has_yielded);
}

TEST(CopilotYielding, ACommandIsProposedAfterTwiceTheUsualTime) {
  Pilot pilot;
  pilot.Run(100, 2);
  pilot.RunUntilItYields();
  const Time later = pilot.now + 100ms;
  EXPECT_GE(pilot.yielding.DueAt(later), later + 2 * kUsual);
  EXPECT_LE(pilot.yielding.DueAt(later), later + 3 * kUsual);
  // The other pilot still waits for the next turn.
  EXPECT_GE(pilot.yielding.DueAt(Time(0)), 2 * kUsual + kTurn);
}

TEST(CopilotYielding, TheHoldIsBounded) {
  Pilot pilot;
  pilot.RunByOther(200, 400ms);
  pilot.RunUntilItYields(1, 400ms);
  const Time later = pilot.now + 100ms;
  EXPECT_LE(pilot.yielding.DueAt(later), later + 50ms);
}

TEST(CopilotYielding, APilotThatIsFirstAgainTakesItsTurns) {
  Pilot pilot;
  pilot.RunUntilItYields();
  pilot.Run(2, kCommands);
  EXPECT_FALSE(pilot.yielding.yields());
}

// They were proposed before it yielded.
TEST(CopilotYielding, EntriesUnderWayDoNotCount) {
  Yielding yielding;
  constexpr EntryIndex kLatest = 100;
  for (EntryIndex index = 1; !yielding.yields(); ++index) {
    ASSERT_LT(index, kLatest);
    yielding.OnOwnEntry({index, kCommands, 0}, {kLatest, kTurn, kWaiting, Time(0)});
  }
  for (EntryIndex index = kLatest - 4; index <= kLatest; ++index) {
    yielding.OnOwnEntry({index, kCommands, kCommands}, {kLatest, kTurn, kWaiting, Time(0)});
  }
  EXPECT_TRUE(yielding.yields());
}

TEST(CopilotYielding, APilotWhosePartnerIsLateTakesItsTurns) {
  Pilot pilot;
  pilot.RunUntilItYields();
  pilot.RunByOther(100);
  EXPECT_TRUE(pilot.yielding.yields());
  pilot.RunByOther(200, 2 * kUsual);
  EXPECT_FALSE(pilot.yielding.yields());
}

TEST(CopilotYielding, ItTriesAgainAndLaterAgain) {
  Pilot pilot;
  pilot.RunUntilItYields();
  for (const Duration after : {5s, 10s, 20s}) {
    pilot.now += after - 400ms;
    pilot.yielding.TryAgainIfDue(pilot.now);
    EXPECT_TRUE(pilot.yielding.yields());
    pilot.now += 400ms;
    pilot.yielding.TryAgainIfDue(pilot.now);
    EXPECT_FALSE(pilot.yielding.yields());
    pilot.RunUntilItYields(/*first=*/0);
  }
  // It was in time for long.
  pilot.now += 80s;
  pilot.yielding.TryAgainIfDue(pilot.now);
  pilot.now += 81s;
  pilot.RunUntilItYields();
  pilot.now += 5s;
  pilot.yielding.TryAgainIfDue(pilot.now);
  EXPECT_FALSE(pilot.yielding.yields());
}

// It is late before the trial has its mean. Commands that take long later are no part of it.
TEST(CopilotYielding, ATrialIsOverWhenAPilotYields) {
  Pilot pilot;
  pilot.RunUntilItYields();
  pilot.RunByOther(6000);
  pilot.yielding.TryAgainIfDue(pilot.now);
  pilot.RunUntilItYields(/*first=*/0);
  pilot.Run(2, kCommands);
  ASSERT_FALSE(pilot.yielding.yields());
  pilot.has_yielded = false;
  pilot.Run(40, 2, 2 * kUsual);
  EXPECT_FALSE(pilot.has_yielded);
}

// It is first with its share, but everybody waits longer than without it.
TEST(CopilotYielding, ATrialThatDelaysCommandsHasFailed) {
  for (const bool delays : {false, true}) {
    Pilot pilot;
    pilot.RunUntilItYields();
    pilot.RunByOther(6000);
    pilot.yielding.TryAgainIfDue(pilot.now);
    ASSERT_FALSE(pilot.yielding.yields());
    pilot.Run(18, 2, delays ? 2 * kUsual : kUsual);
    EXPECT_EQ(pilot.yielding.yields(), delays);
  }
}

}  // namespace
}  // namespace depfast::copilot
