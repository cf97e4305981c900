// The crash sequences of lab 6's tester, and their ideal models. The figures beside those of
// document 003, table 2, are in the handbook.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "depfast/host/random.h"
#include "sequence_oracle.h"
#include "sequences.h"
#include "testkit/some.h"

namespace depfast::saucr {
namespace {

std::uint64_t HashOf(const std::vector<Sequence>& sequences) {
  std::uint64_t hash = 0;
  for (const Sequence& sequence : sequences) {
    for (const UpSet state : sequence) hash = RandomStream::Mix(31 * hash + state + 1);
  }
  return hash;
}

// The sequences with that outcome.
template <typename Ideal>
std::int64_t Count(int replicas, const Ideal& is_it) {
  return std::ranges::count_if(TheSequences(replicas), is_it);
}

// The example of the document, 5.1.
const Sequence kExample = {0b11111, 0b11100, 0b11000, 0b11011, 0b00001, 0b00101, 0b11111};

TEST(Sequences, AreThoseOfTheDesignOnEveryMachine) {
  EXPECT_EQ(SequencesOf(TreeOf(5)).size(), 525U);
  EXPECT_EQ(SequencesOf(TreeOf(7)).size(), 1039U);
  EXPECT_EQ(TheSequences(5).size(), 498U);
  EXPECT_EQ(TheSequences(7).size(), 766U);
  EXPECT_EQ(HashOf(TheSequences(5)), 0xbc89c1a24848b9efU);
  EXPECT_EQ(HashOf(TheSequences(7)), 0xc1649aa667f17457U);
  EXPECT_EQ(ToString(TheSequences(5).front()), "12345, 23, 2, 12, 125, 15, 1, 12345");
  EXPECT_EQ(ToString(TheSequences(7).front()), "1234567, 12356, 1235, 1234567");
}

TEST(Sequences, CrashOrStartReplicasAndDoNotMixBoth) {
  for (const int replicas : {5, 7}) {
    for (const Sequence& sequence : testkit::Some(TheSequences(replicas))) {
      EXPECT_EQ(sequence.front(), AllUp(replicas));
      EXPECT_EQ(sequence.back(), AllUp(replicas));
      for (std::size_t i = 1; i < sequence.size(); ++i) {
        const UpSet common = sequence[i - 1] & sequence[i];
        EXPECT_NE(sequence[i - 1], sequence[i]);
        EXPECT_TRUE(common == sequence[i - 1] || common == sequence[i]) << ToString(sequence);
        EXPECT_NE(sequence[i], 0U);
      }
    }
  }
}

TEST(Sequences, SomeAreSpreadOverAll) {
  const std::vector<Sequence> all = TheSequences(5);
  const std::vector<Sequence> some = Some(all, 40);
  ASSERT_EQ(some.size(), 40U);
  EXPECT_EQ(some.front(), all.front());
  EXPECT_EQ(some[1], all[498 / 40]);
  EXPECT_EQ(Some(all, 1000).size(), all.size());
}

TEST(IdealModels, HaveTheFiguresOfTheDesign) {
  struct Figures {
    int replicas;
    int vr_unavailable;
    int memory_certain;
    int memory_possible;  // the certain ones among them
    int saucr_at_once;    // unavailable
  };
  for (const Figures& want : {Figures{5, 472, 15, 267, 20}, Figures{7, 576, 14, 348, 39}}) {
    const int n = want.replicas;
    const auto loses = [n](const Sequence& each) { return IdealMemory(each, n); };
    EXPECT_EQ(want.vr_unavailable, Count(n, [&](const Sequence& each) {
                return IdealVr(each, n) == Verdict::kUnavailable;
              }));
    EXPECT_EQ(want.memory_certain,
              Count(n, [&](const Sequence& each) { return loses(each) == Loss::kCertain; }));
    EXPECT_EQ(want.memory_possible,
              Count(n, [&](const Sequence& each) { return loses(each) != Loss::kNone; }));
    const auto is_unavailable = [n](const Sequence& each, Crashes crashes) {
      return IdealSaucr(each, n, crashes) == Verdict::kUnavailable;
    };
    EXPECT_EQ(0, Count(n, [&](const Sequence& each) {
                return is_unavailable(each, Crashes::kWithGaps);
              }));
    EXPECT_EQ(want.saucr_at_once, Count(n, [&](const Sequence& each) {
                return is_unavailable(each, Crashes::kAtOnce);
              }));
  }
}

TEST(IdealModels, FollowTheDocumentsExample) {
  EXPECT_EQ(IdealVr(kExample, 5), Verdict::kUnavailable);
  EXPECT_EQ(IdealSaucr(kExample, 5, Crashes::kWithGaps), Verdict::kCorrect);
  EXPECT_EQ(IdealSaucr(kExample, 5, Crashes::kAtOnce), Verdict::kCorrect);
  EXPECT_EQ(IdealMemory(kExample, 5), Loss::kPossible)
      << "at the end four of five have lost theirs";
}

TEST(IdealModels, ThreeLostOfFiveRecoverAndFourDoNot) {
  SaucrIdeal ideal(5);
  ideal.Crash(0b00111);
  EXPECT_FALSE(ideal.Serves());
  ideal.Start(0b00001);
  EXPECT_EQ(ideal.recovered(), 0b11001U);
  EXPECT_TRUE(ideal.Serves() && !ideal.IsFast());
  ideal.Start(0b00110);
  EXPECT_TRUE(ideal.IsFast());
  ideal.Crash(0b01111);
  ideal.Start(0b01111);
  EXPECT_EQ(ideal.recovered(), 0b10000U);
  EXPECT_FALSE(ideal.Serves());
}

TEST(IdealModels, HearTheOrderOfCrashes) {
  SaucrIdeal ideal(5);
  ideal.Crash(0b10000);
  ideal.Crash(0b01000);  // four are up: fast mode still
  ideal.Crash(0b00100);  // slow mode: it has flushed
  ideal.Start(0b00100);
  EXPECT_TRUE(ideal.Serves());
  EXPECT_EQ(ideal.recovered(), 0b00111U);
}

}  // namespace
}  // namespace depfast::saucr
