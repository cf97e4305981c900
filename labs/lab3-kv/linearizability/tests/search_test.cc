// The search: its verdicts, and the savings of its reductions.
#include "linearizability/search.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "histories.h"

namespace depfast::kv {
namespace {

struct Case {
  const char* what;
  KvHistory history;
  Verdict verdict;
};

TEST(Search, DecidesWhetherAnOrderExplainsTheReplies) {
  constexpr Verdict kGood = Verdict::kLinearizable;
  constexpr Verdict kBad = Verdict::kViolation;
  const auto incr = [](int client, int begin, int end, int reply) {
    return Done(client, "INCR x", begin, end, Reply::Integer(reply));
  };
  const auto get = [](const std::string& key, int begin, Reply reply) {
    return Done(2, "GET " + key, begin, begin + 1, std::move(reply));
  };
  const KvOperation pending = NoAnswer(1, "INCR x", 2);
  const KvOperation none = get("x", 3, Reply::Nil());
  const KvOperation one = get("x", 5, Reply::String("1"));
  const KvOperation set = Done(1, "MSET x 1 y 1", 0, 9, Reply::Ok());
  const KvOperation x_is_set = get("x", 1, Reply::String("1"));
  const Case cases[] = {
      {"nothing", {}, kGood},
      {"one after the other", {incr(1, 0, 1, 1), incr(2, 2, 3, 2)}, kGood},
      {"in the wrong order", {incr(1, 0, 1, 2), incr(2, 2, 3, 1)}, kBad},
      {"they overlap", {incr(1, 0, 2, 2), incr(2, 1, 3, 1)}, kGood},
      {"they touch: they overlap", {incr(1, 0, 2, 2), incr(2, 2, 3, 1)}, kGood},
      {"a lost update", {incr(1, 0, 2, 1), incr(2, 1, 3, 1)}, kBad},
      {"two CAS over one value",
       {Done(1, "CAS x 0 1", 2, 5, Reply::Integer(1)),
        Done(2, "CAS x 0 2", 2, 5, Reply::Integer(1)), Done(3, "SET x 0", 0, 1, Reply::Ok())},
       kBad},
      {"it has not happened", {pending, none}, kGood},
      {"it has happened", {pending, none, one}, kGood},
      {"not twice", {pending, get("x", 7, Reply::String("2"))}, kBad},
      {"not before it began", {pending, get("x", 0, Reply::String("1"))}, kBad},
      {"not back", {pending, one, get("x", 7, Reply::Nil())}, kBad},
      {"both keys", {set, x_is_set, get("y", 3, Reply::String("1"))}, kGood},
      {"several keys at one instant", {set, x_is_set, get("y", 3, Reply::Nil())}, kBad}};
  for (const auto& [what, history, verdict] : cases) {
    EXPECT_EQ(Search(ProblemOf(history), kPlenty).verdict, verdict) << what;
  }
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

TEST(Search, AtItsBoundNothingIsDecided) {
  const SearchResult few = Search(ProblemOf(Hard("x", 5)), 100'000);
  EXPECT_EQ(few.verdict, Verdict::kViolation);
  const SearchResult many = Search(ProblemOf(Hard("x", 14)), 100'000);
  EXPECT_EQ(many.verdict, Verdict::kUndecided);
  EXPECT_GE(many.steps, 100'000U);
  EXPECT_LE(many.steps, 100'000U + 15U) << "more than one further configuration was tried";
  EXPECT_EQ(Search(ProblemOf(Hard("x", 5)), few.steps - 1).verdict, Verdict::kUndecided);
  EXPECT_EQ(Search(ProblemOf(Hard("x", 5)), few.steps + 1).verdict, Verdict::kViolation);
}

// A read that nothing explains, at the end.
void ExpectViolationWithin(std::uint64_t steps, KvHistory history, int begin) {
  history.push_back(Done(50, "GET x", begin, begin + 1, Reply::String("z")));
  const SearchResult result = Search(ProblemOf(history), kPlenty);
  EXPECT_EQ(result.verdict, Verdict::kViolation);
  EXPECT_LT(result.steps, steps);
}

TEST(Search, ManyOperationsWithoutAnAnswerDoNotMultiply) {
  KvHistory history;
  for (int i = 0; i < 40; ++i) history.push_back(NoAnswer(i, "SET x p" + std::to_string(i), 0));
  for (int i = 0; i < 20; ++i) {
    history.push_back(Done(50, "CAS x p0 q", 10 * i + 1, 10 * i + 2, Reply::Integer(0)));
  }
  ExpectViolationWithin(100'000, history, 900);
}

TEST(Search, OverlappingReadsDoNotMultiply) {
  KvHistory history = {Done(0, "SET x a", 0, 1, Reply::Ok())};
  for (int i = 1; i <= 40; ++i) history.push_back(Done(i, "GET x", 2, 3, Reply::String("a")));
  ExpectViolationWithin(2'000, history, 2);
}

TEST(Search, AConfigurationIsEnteredOnce) {
  // 12 overlapping SETs: 12! orders, but 2^12 sets times the last one.
  KvHistory history;
  for (int i = 0; i < 12; ++i) {
    history.push_back(Done(i, "SET x v" + std::to_string(i), 0, 1, Reply::Ok()));
  }
  ExpectViolationWithin(12 * 12 * 4096, history, 2);
}

}  // namespace
}  // namespace depfast::kv
