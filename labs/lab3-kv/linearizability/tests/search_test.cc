// The search: its verdicts, and the savings of its reductions.
#include "linearizability/search.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "histories.h"

namespace depfast::kv {
namespace {

Verdict Decide(const KvHistory& history) { return Search(ProblemOf(history), kPlenty).verdict; }

TEST(Search, OneAfterTheOther) {
  EXPECT_EQ(Decide({}), Verdict::kLinearizable);
  EXPECT_EQ(Decide({Done(1, "INCR x", 0, 1, Reply::Integer(1)),
                    Done(2, "INCR x", 2, 3, Reply::Integer(2))}),
            Verdict::kLinearizable);
  EXPECT_EQ(Decide({Done(1, "INCR x", 0, 1, Reply::Integer(2)),
                    Done(2, "INCR x", 2, 3, Reply::Integer(1))}),
            Verdict::kViolation);
}

TEST(Search, OverlappingOperationsMayComeInEitherOrder) {
  EXPECT_EQ(Decide({Done(1, "INCR x", 0, 2, Reply::Integer(2)),
                    Done(2, "INCR x", 1, 3, Reply::Integer(1))}),
            Verdict::kLinearizable);
  EXPECT_EQ(Decide({Done(1, "INCR x", 0, 2, Reply::Integer(2)),
                    Done(2, "INCR x", 2, 3, Reply::Integer(1))}),
            Verdict::kLinearizable)
      << "they touch: they overlap";
}

TEST(Search, NoUpdateIsLost) {
  EXPECT_EQ(Decide({Done(1, "INCR x", 0, 2, Reply::Integer(1)),
                    Done(2, "INCR x", 1, 3, Reply::Integer(1))}),
            Verdict::kViolation);
  EXPECT_EQ(Decide({Done(1, "CAS x 0 1", 2, 5, Reply::Integer(1)),
                    Done(2, "CAS x 0 2", 2, 5, Reply::Integer(1)),
                    Done(3, "SET x 0", 0, 1, Reply::Ok())}),
            Verdict::kViolation);
}

TEST(Search, WithoutAnAnswerItMayHaveHappenedOnceOrNot) {
  const KvOperation pending = NoAnswer(1, "INCR x", 2);
  const KvOperation none = Done(2, "GET x", 3, 4, Reply::Nil());
  const KvOperation one = Done(2, "GET x", 5, 6, Reply::String("1"));
  const KvOperation two = Done(2, "GET x", 7, 8, Reply::String("2"));
  const KvOperation early = Done(2, "GET x", 0, 1, Reply::String("1"));
  EXPECT_EQ(Decide({pending, none}), Verdict::kLinearizable);
  EXPECT_EQ(Decide({pending, none, one}), Verdict::kLinearizable);
  EXPECT_EQ(Decide({pending, two}), Verdict::kViolation) << "not twice";
  EXPECT_EQ(Decide({pending, early}), Verdict::kViolation) << "not before it began";
  EXPECT_EQ(Decide({pending, one, Done(2, "GET x", 7, 8, Reply::Nil())}), Verdict::kViolation)
      << "not back";
}

TEST(Search, SeveralKeysHappenAtOneInstant) {
  const KvOperation set = Done(1, "MSET x 1 y 1", 0, 9, Reply::Ok());
  const auto get = [](const std::string& key, int begin, Reply reply) {
    return Done(2, "GET " + key, begin, begin + 1, std::move(reply));
  };
  EXPECT_EQ(Decide({set, get("x", 1, Reply::String("1")), get("y", 3, Reply::String("1"))}),
            Verdict::kLinearizable);
  EXPECT_EQ(Decide({set, get("x", 1, Reply::String("1")), get("y", 3, Reply::Nil())}),
            Verdict::kViolation);
}

TEST(Search, IsStuckAtTheFirstReplyThatNothingExplains) {
  const KvHistory history = {
      Done(1, "SET x a", 0, 1, Reply::Ok()), Done(2, "GET x", 6, 7, Reply::String("c")),
      Done(3, "GET x", 2, 5, Reply::String("b")), Done(4, "GET x", 2, 9, Reply::String("d"))};
  const SearchResult result = Search(ProblemOf(history), kPlenty);
  EXPECT_EQ(result.verdict, Verdict::kViolation);
  EXPECT_EQ(result.stuck, 2U);
}

TEST(Search, OfRepliesAtOneMomentItIsStuckAtTheFirstInTheList) {
  const KvHistory history = {Done(1, "GET x", 0, 5, Reply::Nil()),
                             Done(2, "GET x", 3, 5, Reply::String("b")),
                             Done(3, "GET x", 2, 5, Reply::String("c"))};
  EXPECT_EQ(Search(ProblemOf(history), kPlenty).stuck, 1U);
}

// ---- the bound, and the saved steps ----

// Many APPENDs without an answer, then a read of a value that they cannot have made.
KvHistory Hard(int appends) {
  KvHistory history;
  for (int i = 0; i < appends; ++i)
    history.push_back(NoAnswer(i, "APPEND x " + std::to_string(i), 0));
  history.push_back(Done(99, "GET x", 1, 2, Reply::String("z")));
  return history;
}

TEST(Search, AtItsBoundNothingIsDecided) {
  const SearchResult few = Search(ProblemOf(Hard(5)), 100'000);
  EXPECT_EQ(few.verdict, Verdict::kViolation);
  const SearchResult many = Search(ProblemOf(Hard(14)), 100'000);
  EXPECT_EQ(many.verdict, Verdict::kUndecided);
  EXPECT_GE(many.steps, 100'000U);
  EXPECT_LE(many.steps, 100'000U + 15U) << "more than one further configuration was tried";
  EXPECT_EQ(Search(ProblemOf(Hard(5)), few.steps - 1).verdict, Verdict::kUndecided);
  EXPECT_EQ(Search(ProblemOf(Hard(5)), few.steps + 1).verdict, Verdict::kViolation);
}

TEST(Search, ManyOperationsWithoutAnAnswerDoNotMultiply) {
  KvHistory history;
  for (int i = 0; i < 40; ++i) history.push_back(NoAnswer(i, "SET x p" + std::to_string(i), 0));
  for (int i = 0; i < 20; ++i) {
    history.push_back(Done(50, "CAS x p0 q", 10 * i + 1, 10 * i + 2, Reply::Integer(0)));
  }
  history.push_back(Done(50, "GET x", 900, 901, Reply::String("z")));
  const SearchResult result = Search(ProblemOf(history), kPlenty);
  EXPECT_EQ(result.verdict, Verdict::kViolation);
  EXPECT_LT(result.steps, 100'000U);
}

TEST(Search, OverlappingReadsDoNotMultiply) {
  KvHistory history = {Done(0, "SET x a", 0, 1, Reply::Ok())};
  for (int i = 1; i <= 40; ++i) history.push_back(Done(i, "GET x", 2, 3, Reply::String("a")));
  history.push_back(Done(50, "GET x", 2, 3, Reply::String("z")));
  const SearchResult result = Search(ProblemOf(history), kPlenty);
  EXPECT_EQ(result.verdict, Verdict::kViolation);
  EXPECT_LT(result.steps, 2'000U);
}

TEST(Search, AConfigurationIsEnteredOnce) {
  // 12 overlapping SETs: 12! orders, but 2^12 sets times the last one.
  KvHistory history;
  for (int i = 0; i < 12; ++i) {
    history.push_back(Done(i, "SET x v" + std::to_string(i), 0, 1, Reply::Ok()));
  }
  history.push_back(Done(50, "GET x", 2, 3, Reply::String("z")));
  const SearchResult result = Search(ProblemOf(history), kPlenty);
  EXPECT_EQ(result.verdict, Verdict::kViolation);
  EXPECT_LT(result.steps, 12U * 12U * 4096U);
}

TEST(Search, ALongHistoryTakesStepsInProportion) {
  RandomStream random(5);
  const KvHistory history = LongRegisterHistory(random, 5, 5'000);
  const SearchResult result = Search(ProblemOf(history), kPlenty);
  EXPECT_EQ(result.verdict, Verdict::kLinearizable);
  EXPECT_LT(result.steps, 100U * history.size());
}

}  // namespace
}  // namespace depfast::kv
