// SAUCR's rules in all runs of small clusters, and what is lost without each of them. Of the large
// scopes the nearest 300,000 states; SAUCR_STATES sets another number.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "saucr_model.h"
#include "saucr_scopes.h"
#include "testkit/some.h"

namespace depfast::saucr {
namespace {

constexpr std::size_t kAll = 1'000'000;

std::size_t StatesOfLargeScopes() {
  const char* const text = std::getenv("SAUCR_STATES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 300'000;
}

Coverage ExpectSafe(const std::vector<NamedScope>& scopes) {
  Coverage all;
  for (const auto& [name, scope] : testkit::Some(scopes)) {
    const Explored explored = Explore(scope, LinkedRules(), StatesOfLargeScopes());
    const auto& [states, fast, slow, recoveries, taken, cuts] = explored.coverage;
    std::printf("%s: %zu states%s\n", name.c_str(), static_cast<std::size_t>(states),
                explored.complete ? ", all" : "");
    EXPECT_EQ(explored.violated, "") << name << ": " << explored.InWords();
    all.states += states, all.fast_commits += fast, all.slow_commits += slow;
    all.recoveries += recoveries, all.data_taken += taken, all.cuts += cuts;
  }
  return all;
}

void ExpectAllSituations(const Coverage& coverage) {
  EXPECT_GT(coverage.fast_commits, 0U);
  EXPECT_GT(coverage.slow_commits, 0U);
  EXPECT_GT(coverage.recoveries, 0U);
  EXPECT_GT(coverage.data_taken, 0U);
}

TEST(SaucrExploration, ThreeReplicasLoseNothing) {
  const Coverage coverage = ExpectSafe(ScopesOfThree());
  ExpectAllSituations(coverage);
  EXPECT_GT(coverage.cuts, 0U);
}

TEST(SaucrExploration, FiveReplicasLoseNothing) { ExpectAllSituations(ExpectSafe(ScopesOfFive())); }

TEST(SaucrExploration, AScopeBeginsWithSteps) {
  Scope scope = kOneEntry;
  scope.begin.push_back("replica 9 flies");
  EXPECT_THROW(Explore(scope, LinkedRules(), 1), std::invalid_argument);
  EXPECT_THROW(Explore({.replicas = 7}, LinkedRules(), 1), std::invalid_argument);
}

// ---- what if a rule were left out: the runs W1 to W22 of the handout ----

// An acknowledged entry is lost. Prints the shortest way to it.
void ExpectLost(const Scope& scope, const Rules& rules) {
  const Explored explored = Explore(scope, rules, kAll);
  EXPECT_NE(explored.violated.find("lacks it"), std::string::npos);
  EXPECT_FALSE(explored.steps.empty());
  std::printf("%zu states: %s\n", static_cast<std::size_t>(explored.coverage.states),
              explored.InWords().c_str());
}

// The right rules with another member.
template <typename Member, typename Wrong>
Rules With(Member Rules::* member, Wrong wrong) {
  Rules rules = LinkedRules();
  rules.*member = std::move(wrong);
  return rules;
}

// The right rule of commit, by acknowledgements that say something else.
template <typename Change>
Rules CommittedIf(const Change& change) {
  return With(&Rules::committed, [change](EntryIndex term_began_at, std::vector<Acks> acks,
                                          const Lives& lives, const Quorums& quorums) {
    for (std::size_t replica = 0; replica < acks.size(); ++replica) {
      change(acks[replica], lives[replica]);
    }
    return CommittedUpTo(term_began_at, acks, lives, quorums);
  });
}

struct WhatIf {
  const char* name;
  Scope scope;
  Rules rules;
};

std::vector<WhatIf> WhatIfs() {
  return {
      {"W1MemoryNeededNoMoreThanDisks", kOneEntry, CommittedIf([](Acks& each, Life) {
         if (each.named_from != 0) each.durable = std::max(each.durable, each.buffered);
       })},
      {"W2NothingWereMarked", kOneEntry,
       With(&Rules::fast_switch,
            [](const Markers&, std::span<const EntryId>) { return std::optional<EntryId>(); })},
      {"W3TheMarkerCameBeforeTheEntries", kACrashInAFlush,
       With(&Rules::marker_is_behind_entries, false)},
      {"W4OnlyTheFirstEntryWereMarked", kAFlushBetween,
       With(&Rules::fast_switch,
            [](const Markers& markers, std::span<const EntryId> appended) {
              return markers.fast_switch == EntryId() ? FastSwitch(markers, appended)
                                                      : std::nullopt;
            })},
      {"W5MarkersComparedByIndex", kAnOverwrittenLog,
       With(&Rules::is_on_disk,
            [](const Markers& markers) {
              return markers.latest_on_disk.index >= markers.fast_switch.index;
            })},
      {"W6EveryAcknowledgementCounted", kARoundWithoutAll,
       CommittedIf([](Acks& each, Life) { each.named_from = 1; })},
      {"W7TheToldMapReplacedTheOwn", kALateRound,
       With(&Rules::merged, [](const LleMap&, const LleMap& told) { return told; })},
      {"W8AnEarlierLifeCounted", kAnOldLife,
       CommittedIf([](Acks& each, Life latest) { each.life = latest; })},
      {"W9ALifeWereForgotten", kTwoOldLives, With(&Rules::lives_are_durable, false)},
      {"W10RecoveringReplicasAnswered", kThreeOfFiveCrash,
       With(&Rules::recovering_are_silent, false)},
      {"W11RecoveringReplicasVoted", kAStraggler,
       With(&Rules::grants_vote,
            [](bool, EntryId ours, EntryId candidates) { return candidates >= ours; })},
      {"W12OneAnswerWereEnough", kAStraggler,
       With(&Rules::recovered_lle,
            [](PeerId self, EntryId on_disk, const std::vector<LleMap>& answers, const Quorums&) {
              return RecoveredLle(self, on_disk, answers, Quorums(3));
            })},
      {"W14MapsWereNotPassedOn", kOneEntry, With(&Rules::maps_are_passed_on, false)},
      {"W16TheLogAloneVoted", kAStraggler, With(&Rules::recovered_lle_votes, false)},
      {"W17AFlushBeforeTheDataWereMarked", kAFlushBeforeItIsWhole,
       With(&Rules::latest_on_disk, [](const Markers& markers, EntryId last,
                                       EntryId) { return LatestOnDisk(markers, last, {}); })},
      {"W18ALeaderWithoutItsDataProposed", kOneEntry, With(&Rules::leaders_wait_for_data, false)},
      {"W19OneWholeAnswerWereEnough", kALeaderWithoutData,
       With(&Rules::choose,
            [](EntryId own, EntryId recovered, const std::vector<LogAnswer>& answers,
               const Quorums&) { return ChooseData(own, recovered, answers, Quorums(3)); })},
      // Two of the three disks have the entry when the new leader asks. Its voters are not asked:
      // they have left the older term.
      {"W20AFetchedLogWentOnInAnOlderTerm", kAFetchBesideAnOldLeader,
       With(&Rules::fetch_ends_terms, false)},
      {"W21TheOwnDiskWereGivenUp", kSlowBeforeFast,
       With(&Rules::choose,
            [](EntryId, EntryId recovered, const std::vector<LogAnswer>& answers,
               const Quorums& quorums) { return ChooseData({}, recovered, answers, quorums); })},
      {"W22AnEarlierTermCommittedByItself", kAnEntryOfAnEarlierTerm,
       With(&Rules::committed,
            [](EntryIndex, const std::vector<Acks>& acks, const Lives& lives,
               const Quorums& quorums) { return CommittedUpTo(1, acks, lives, quorums); })},
  };
}

class SaucrWhatIf : public testing::TestWithParam<WhatIf> {};

TEST_P(SaucrWhatIf, AnEntryIsLost) { ExpectLost(GetParam().scope, GetParam().rules); }

INSTANTIATE_TEST_SUITE_P(Of, SaucrWhatIf, testing::ValuesIn(WhatIfs()),
                         [](const auto& what_if) { return std::string(what_if.param.name); });

// The own disk counts twice: in the LLE (R21), and in the vote (R25). Either is enough.
TEST(SaucrRedundantRules, W13TheOwnDiskDidNotCount) {
  Rules rules =
      With(&Rules::recovered_lle,
           [](PeerId self, EntryId, const std::vector<LleMap>& answers, const Quorums& quorums) {
             return RecoveredLle(self, {}, answers, quorums);
           });
  EXPECT_EQ(Explore(kSlowBeforeFast, rules, kAll).violated, "");
  rules.log_votes = false;
  ExpectLost(kSlowBeforeFast, rules);
}

}  // namespace
}  // namespace depfast::saucr
