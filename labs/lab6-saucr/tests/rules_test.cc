// The public tests of the rules alone: students see, run and replay them.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "asked_rules.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

using Kind = DataChoice::Kind;

const Quorums kFive(5);
const Lives kFirstLives(5, 0);

// A replica that each round of the term has named.
Acks Has(EntryIndex buffered, EntryIndex durable) { return {buffered, durable, 1, 0}; }

GRADED_TEST(SaucrRules, MemoryNeedsOneMoreThanDisks, "6a", 1,
            "An entry is committed by f + 2 replicas that have it in memory, or by f + 1 that have "
            "it on disk.") {
  AskedRules rules;
  const auto committed = [&](const std::vector<Acks>& acks, EntryIndex term_began_at = 1) {
    return rules.committed(term_began_at, acks, kFirstLives, kFive);
  };
  EXPECT_EQ(committed({Has(2, 0), Has(2, 0), Has(2, 0), Has(2, 0), Has(0, 0)}), 2U)
      << "four memories of five";
  EXPECT_EQ(committed({Has(2, 0), Has(2, 0), Has(2, 0), Has(0, 0), Has(0, 0)}), 0U)
      << "three memories of five";
  EXPECT_EQ(committed({Has(2, 2), Has(2, 2), Has(2, 2), Has(0, 0), Has(0, 0)}), 2U)
      << "three disks of five";
  EXPECT_EQ(committed({Has(3, 1), Has(3, 2), Has(3, 2), Has(3, 2), Has(1, 1)}), 3U)
      << "entry 3 in memories, entry 2 on disks";
  EXPECT_EQ(committed({Has(2, 2), Has(2, 2), Has(2, 2), Has(2, 2), Has(2, 2)}, 3), 0U)
      << "all entries are of earlier terms";
  std::vector<Acks> acks(5, Has(2, 0));
  acks[1].named_from = 2;
  acks[2].named_from = 3;
  EXPECT_EQ(committed(acks), 2U) << "entry 2 names four, one of them for the first time (R15)";
  acks[3].life = 1;
  EXPECT_EQ(rules.committed(1, acks, {0, 0, 0, 1, 0}, kFive), 2U) << "its present life";
  EXPECT_EQ(rules.committed(1, acks, {0, 0, 0, 2, 0}, kFive), 0U) << "an earlier life (R17)";
}

GRADED_TEST(SaucrRules, DownAtOnceUpAfterThree, "6a", 1,
            "The mode is slow after the first beat that a majority or fewer have answered, and "
            "fast after three beats with more.") {
  AskedRules rules;
  ModeState state;
  const auto mode = [&](int functional) {
    state = rules.next_mode(state, functional, kFive);
    return state.mode;
  };
  EXPECT_EQ(mode(4), Mode::kSlow) << "one beat";
  EXPECT_EQ(mode(5), Mode::kSlow) << "two beats";
  EXPECT_EQ(mode(4), Mode::kFast) << "three beats";
  EXPECT_EQ(mode(3), Mode::kSlow) << "a bare majority";
  EXPECT_EQ(mode(5), Mode::kSlow) << "one beat again";
}

GRADED_TEST(SaucrRules, MarkersTellTheMode, "6b", 1,
            "The two markers say whether a crash has lost entries. Equal ones say that it has "
            "not, and the term counts before the index.") {
  AskedRules rules;
  EXPECT_TRUE(rules.is_on_disk({})) << "a new replica";
  EXPECT_FALSE(rules.is_on_disk({.fast_switch = {1, 3}, .latest_on_disk = {1, 2}}));
  EXPECT_TRUE(rules.is_on_disk({.fast_switch = {1, 3}, .latest_on_disk = {1, 3}})) << "equal";
  EXPECT_FALSE(rules.is_on_disk({.fast_switch = {2, 1}, .latest_on_disk = {1, 2}})) << "two terms";
  const std::vector<EntryId> appended = {{1, 4}, {1, 5}};
  EXPECT_EQ(rules.fast_switch({{1, 3}, {1, 3}}, appended), (EntryId{1, 4}))
      << "all before entry 4 is on the disk";
  EXPECT_EQ(rules.fast_switch({{1, 3}, {1, 2}}, appended), std::nullopt)
      << "the disk says already that entries are missing";
  EXPECT_EQ(rules.latest_on_disk({{1, 3}, {1, 2}}, {1, 5}, {}), (EntryId{1, 5}));
  EXPECT_EQ(rules.latest_on_disk({{1, 3}, {1, 2}}, {1, 4}, {1, 5}), std::nullopt)
      << "the log has not reached the recovered LLE (R28)";
}

GRADED_TEST(SaucrRules, TheMapOfARound, "6b", 1,
            "The map of a round names its last entry for those in the round, and keeps the values "
            "of the others. A replica keeps the larger of two values.") {
  AskedRules rules;
  const LleMap known = {{1, 4}, {1, 4}, {1, 2}, {1, 4}, {0, 0}};
  const LleMap named = {{1, 5}, {1, 5}, {1, 2}, {1, 5}, {0, 0}};
  EXPECT_EQ(rules.map_of_round(known, {1, 5}, {0, 1, 3}), named);
  EXPECT_EQ(rules.merged(named, known), named) << "a late message";
  EXPECT_EQ(rules.merged({{1, 5}, {2, 1}, {0, 0}}, {{2, 1}, {1, 5}, {1, 1}}),
            (LleMap{{2, 1}, {2, 1}, {1, 1}}))
      << "each value for itself";
}

GRADED_TEST(SaucrRules, MaxAmongMinority, "6c", 1,
            "The LLE of a recovering replica is the largest of its values in the maps of f "
            "others, and of the last entry of its disk.") {
  AskedRules rules;
  const LleMap first = {{1, 2}, {1, 7}, {1, 7}, {1, 7}, {1, 7}};
  const LleMap second = {{1, 5}, {1, 6}, {1, 6}, {1, 6}, {1, 6}};
  EXPECT_EQ(rules.recovered_lle(0, {1, 1}, {first}, kFive), std::nullopt) << "one answer of two";
  EXPECT_EQ(rules.recovered_lle(0, {1, 1}, {first, second}, kFive), (EntryId{1, 5}));
  EXPECT_EQ(rules.recovered_lle(0, {2, 3}, {first, second}, kFive), (EntryId{2, 3})) << "its disk";
  EXPECT_FALSE(rules.grants_vote(true, {1, 1}, {1, 9})) << "a recovering replica grants no vote";
  EXPECT_FALSE(rules.grants_vote(false, {1, 5}, {1, 4}));
  EXPECT_TRUE(rules.grants_vote(false, {1, 5}, {2, 1}));
}

GRADED_TEST(SaucrRules, DataOfALeader, "6c", 1,
            "A leader without its data takes a log that has reached its LLE, or the most advanced "
            "of f whole ones and its own.") {
  AskedRules rules;
  const EntryId own = {1, 2};
  const EntryId recovered = {1, 5};
  EXPECT_EQ(rules.choose(own, recovered, {{3, {1, 5}, false}}, kFive), (DataChoice{Kind::kTake, 3}))
      << "a log that has reached the LLE";
  EXPECT_EQ(rules.choose(own, recovered, {{1, {1, 4}, true}}, kFive), DataChoice())
      << "one whole answer of two";
  EXPECT_EQ(rules.choose(own, recovered, {{1, {1, 4}, true}, {2, {1, 3}, true}}, kFive),
            (DataChoice{Kind::kTake, 1}));
  EXPECT_EQ(rules.choose(own, recovered, {{1, {1, 1}, true}, {2, {1, 1}, true}}, kFive),
            (DataChoice{Kind::kOwn}))
      << "its own disk has more";
}

}  // namespace
}  // namespace depfast::saucr
