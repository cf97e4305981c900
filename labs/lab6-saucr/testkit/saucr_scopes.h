// The scopes whose runs are explored. Each is safe by the rules of saucr_rules.h. W1 to W22 are the
// runs of the handout: they begin so.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "saucr_model.h"

namespace depfast::saucr {

using Steps = std::vector<std::string>;

// These steps, and then those.
inline Steps Then(Steps steps, const Steps& more) {
  steps.insert(steps.end(), more.begin(), more.end());
  return steps;
}

inline constexpr unsigned kAllFollowersOfFive = 0b11110;

// Replica 0 leads term 1.
inline const Steps kLedOfThree = {"replica 0 campaigns in term 1",
                                  "replica 1 votes for replica 0 in term 1, which leads"};
inline const Steps kLedOfFive = {"replica 0 campaigns in term 1",
                                 "replica 1 votes for replica 0 in term 1",
                                 "replica 2 votes for replica 0 in term 1, which leads"};

// (1,1) is in all memories.
inline const Steps kHasOneEntry =
    Then(kLedOfThree,
         {"replica 0 proposes (1,1) to 1 and 2", "replica 0 buffers (1,1)",
          "replica 1 buffers (1,1)", "replica 2 buffers (1,1); (1,1) is committed in memory"});
// (1,2) is in two, of which a third one makes a fast quorum.
inline const Steps kHasHalfASecond = Then(
    kHasOneEntry,
    {"replica 0 proposes (1,2) to 1 and 2", "replica 0 buffers (1,2)", "replica 1 buffers (1,2)"});
// (1,1) is in four of five memories. Replica 4 is the straggler.
inline const Steps kHasOneOfFive =
    Then(kLedOfFive, {"replica 0 proposes (1,1) to 1 and 2 and 3 and 4", "replica 0 buffers (1,1)",
                      "replica 1 buffers (1,1)", "replica 2 buffers (1,1)",
                      "replica 3 buffers (1,1); (1,1) is committed in memory"});

// ---- three replicas ----

inline const Scope kOneEntry{.begin = kLedOfThree};
inline const Scope kOneEntryOnDisks{
    .crashes = 1, .disks = true, .background = true, .begin = kLedOfThree};
inline const Scope kTwoEntries{.entries = 2, .begin = kHasOneEntry};
// W3: a crash in the middle of a flush.
inline const Scope kACrashInAFlush{
    .disks = true,
    .begin = Then(kLedOfThree, {"replica 0 proposes (1,1) to 1 and 2", "replica 0 buffers (1,1)"})};
// W4: replica 1 has flushed under the leader, and goes on.
inline const Scope kAFlushBetween{
    .entries = 2,
    .disks = true,
    .begin = Then(kLedOfThree, {"replica 0 proposes (1,1) to 1 and 2", "replica 0 buffers (1,1)",
                                "replica 1 buffers (1,1)", "replica 1 flushes",
                                "replica 0 proposes (1,2) to 1 and 2", "replica 0 buffers (1,2)",
                                "replica 1 buffers (1,2)"})};
// W5: a longer log of an older term is overwritten.
inline const Scope kAnOverwrittenLog{
    .terms = 3,
    .entries = 2,
    .disks = true,
    .begin = Then(kLedOfThree, {"replica 0 proposes (1,1)", "replica 0 proposes (1,2)",
                                "replica 0 has (1,2) on its disk", "replica 1 campaigns in term 2",
                                "replica 2 votes for replica 1 in term 2, which leads",
                                "replica 1 proposes (2,1) to 0 and 2", "replica 1 buffers (2,1)",
                                "replica 0 buffers (2,1)"})};
// W6: the round of (1,2) does not name replica 2.
inline const Scope kARoundWithoutAll{
    .entries = 2,
    .begin = Then(kHasOneEntry, {"replica 0 proposes (1,2) to 1", "replica 0 buffers (1,2)"})};
// W6, and the next round names replica 2 again.
inline const Scope kALaterRoundWithAll{
    .entries = 3,
    .begin = Then(kHasOneEntry, {"replica 0 proposes (1,2) to 1", "replica 0 buffers (1,2)",
                                 "replica 1 buffers (1,2)", "replica 0 proposes (1,3) to 1 and 2",
                                 "replica 1 crashes, and is recovering"})};
// W7: messages of (1,1) may come behind those of (1,2).
inline const Scope kALateRound{.entries = 2, .begin = kHasHalfASecond};
// W8: replica 1 has acknowledged (1,2), and has forgotten it.
inline const Scope kAnOldLife{
    .entries = 2, .begin = Then(kHasHalfASecond, {"replica 1 crashes, and is recovering"})};
// W9: so may do those who know of it.
inline const Scope kTwoOldLives{
    .entries = 2,
    .crashes = 3,
    .begin = Then(kHasHalfASecond, {"replica 1 crashes, and is recovering"})};
// W13 and W21: replica 0 has (1,2) on its disk, and (1,3) in its memory.
inline const Steps kOnDiskAndInMemory =
    Then(kHasOneEntry, {"replica 0 proposes (1,2)", "replica 0 has (1,2) on its disk",
                        "replica 1 has (1,2) on its disk; (1,2) is committed on disks",
                        "replica 0 proposes (1,3) to 1 and 2", "replica 0 buffers (1,3)"});
inline const Scope kSlowBeforeFast{
    .entries = 3,
    .crashes = 1,
    .disks = true,
    .begin = Then(kOnDiskAndInMemory, {"replica 0 crashes, and is recovering"})};
// W17: replica 1 may flush before it has its data again.
inline const Scope kAFlushBeforeItIsWhole{
    .crashes = 3,
    .disks = true,
    .begin = Then(kHasOneEntry, {"replica 1 crashes, and is recovering"})};
// W22: as in figure 8 of Raft.
inline const Scope kAnEntryOfAnEarlierTerm{
    .terms = 4,
    .crashes = 0,
    .disks = true,
    .begin = Then(
        kLedOfThree,
        {"replica 0 proposes (1,1)", "replica 0 has (1,1) on its disk",
         "replica 1 campaigns in term 2", "replica 2 votes for replica 1 in term 2, which leads",
         "replica 1 proposes (2,1)", "replica 1 has (2,1) on its disk",
         "replica 0 campaigns in term 3", "replica 2 votes for replica 0 in term 3, which leads"})};

// ---- five replicas ----

// W10: three of four that have the entry crash at once.
inline const Scope kThreeOfFiveCrash{
    .replicas = 5,
    .crashes = 3,
    .names = {kAllFollowersOfFive},
    .begin = Then(kHasOneOfFive,
                  {"replica 0 crashes, and is recovering", "replica 1 crashes, and is recovering",
                   "replica 2 crashes, and is recovering"})};
// W11, W12 and W16: a straggler votes, and is asked.
inline const Scope kAStraggler{
    .replicas = 5,
    .names = {kAllFollowersOfFive},
    .begin = Then(kHasOneOfFive, {"replica 0 crashes, and is recovering"})};
// W19: replica 0 leads again, and has no data.
inline const Scope kALeaderWithoutData{
    .replicas = 5,
    .names = {kAllFollowersOfFive},
    .begin =
        Then(kHasOneOfFive,
             {"replica 0 crashes, and is recovering", "replica 0 hears of (1,1) from replica 1",
              "replica 0 hears of (1,1) from replica 2: its LLE is (1,1)",
              "replica 0 campaigns in term 2", "replica 1 votes for replica 0 in term 2",
              "replica 2 votes for replica 0 in term 2, which needs its data"})};
// W20: a new leader asks for its data, and the old one goes on.
inline const Scope kAFetchBesideAnOldLeader{
    .replicas = 5,
    .crashes = 1,
    .disks = true,
    .names = {kAllFollowersOfFive},
    .begin = Then(kLedOfFive, {"replica 0 proposes (1,1) to 1 and 2 and 3 and 4",
                               "replica 0 has (1,1) on its disk", "replica 1 buffers (1,1)",
                               "replica 1 crashes, and is recovering"})};

struct NamedScope {
  std::string name;
  Scope scope;
};

// Small ones first.
inline std::vector<NamedScope> ScopesOfThree() {
  return {{"3 replicas, 1 entry", kOneEntry},
          {"3 replicas, 1 entry, on disks", kOneEntryOnDisks},
          {"3 replicas, 2 entries", kTwoEntries},
          {"3 replicas, a crash in a flush", kACrashInAFlush},
          {"3 replicas, a flush between two entries", kAFlushBetween},
          {"3 replicas, an overwritten log", kAnOverwrittenLog},
          {"3 replicas, a round without one of them", kARoundWithoutAll},
          {"3 replicas, a later round with all", kALaterRoundWithAll},
          {"3 replicas, a late round", kALateRound},
          {"3 replicas, an old life", kAnOldLife},
          {"3 replicas, two old lives", kTwoOldLives},
          {"3 replicas, slow entries before fast ones", kSlowBeforeFast},
          {"3 replicas, a flush before it is whole", kAFlushBeforeItIsWhole},
          {"3 replicas, an entry of an earlier term", kAnEntryOfAnEarlierTerm}};
}

inline std::vector<NamedScope> ScopesOfFive() {
  return {{"5 replicas, three crash at once", kThreeOfFiveCrash},
          {"5 replicas, a straggler", kAStraggler},
          {"5 replicas, a leader without data", kALeaderWithoutData},
          {"5 replicas, a fetch beside an old leader", kAFetchBesideAnOldLeader}};
}

inline std::vector<NamedScope> AllScopes() {
  std::vector<NamedScope> all = ScopesOfThree();
  for (const NamedScope& each : ScopesOfFive()) all.push_back(each);
  return all;
}

}  // namespace depfast::saucr
