// The number of times that entries are sent, by ranges.
#include "depfast/verify/repeated_entries.h"

#include <gtest/gtest.h>

namespace depfast {
namespace {

TEST(RepeatedEntries, CountsTheSendsOfTheSameEntry) {
  RepeatedEntries entries;
  EXPECT_EQ(entries.most(), 0U);
  entries.Sent({1, 10, 20});
  entries.Sent({1, 20, 30});
  EXPECT_EQ(entries.most(), 1U) << "different entries";
  entries.Sent({1, 15, 25});
  EXPECT_EQ(entries.most(), 2U);
  entries.Sent({1, 19, 20});
  EXPECT_EQ(entries.most(), 3U) << "entry 19 was in three requests";
  entries.Sent({1, 30, 30});
  EXPECT_EQ(entries.most(), 3U) << "a heartbeat carries none";
}

TEST(RepeatedEntries, ASendThatWasGivenUpDoesNotCount) {
  RepeatedEntries entries;
  for (int i = 0; i < 5; ++i) {
    entries.Sent({1, 1, 100});
    entries.GivenUp({1, 1, 100});
  }
  entries.Sent({1, 50, 60});
  EXPECT_EQ(entries.most(), 1U);
  entries.Sent({1, 1, 100});
  entries.GivenUp({1, 1, 55});
  entries.Sent({1, 52, 53});
  EXPECT_EQ(entries.most(), 2U);
  entries.Sent({1, 55, 56});
  EXPECT_EQ(entries.most(), 3U) << "entry 55 was not given up";
}

TEST(RepeatedEntries, EntriesThatAreSentOneByOneAreTheSameAsARange) {
  for (const std::uint64_t repeated : {1U, 3U, 5U}) {
    RepeatedEntries entries;
    for (std::uint64_t entry = 1; entry <= 5; ++entry) entries.Sent({1, entry, entry + 1});
    EXPECT_EQ(entries.most(), 1U);
    entries.Sent({1, 1, 6});
    EXPECT_EQ(entries.most(), 2U);
    entries.GivenUp({1, 1, 6});
    entries.Sent({1, 6, 8});
    entries.Sent({1, repeated, repeated + 1});
    entries.Sent({1, repeated, repeated + 1});
    EXPECT_EQ(entries.most(), 3U);
  }
}

TEST(RepeatedEntries, WhatFollowsARepeatedRangeIsNotRepeated) {
  RepeatedEntries entries;
  entries.Sent({1, 1, 5});
  entries.Sent({1, 1, 5});
  entries.Sent({1, 5, 9});
  entries.Sent({1, 5, 9});
  EXPECT_EQ(entries.most(), 2U);
}

TEST(RepeatedEntries, ANewGenerationHasEntriesOfItsOwn) {
  RepeatedEntries entries;
  entries.Sent({1, 1, 5});
  entries.Sent({2, 1, 5});
  EXPECT_EQ(entries.most(), 1U);
  entries.Sent({1, 1, 5});
  entries.GivenUp({1, 1, 5});
  entries.Sent({2, 1, 5});
  EXPECT_EQ(entries.most(), 2U) << "what belongs to the older generation changes nothing";
}

}  // namespace
}  // namespace depfast
