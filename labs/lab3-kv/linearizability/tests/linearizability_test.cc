// The checker as tests use it: objects, verdicts, explanations.
#include "linearizability/linearizability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "histories.h"

namespace depfast::kv {
namespace {

using Keys = std::vector<std::string>;
using Indices = std::vector<std::size_t>;

TEST(CheckLinearizability, NothingIsLinearizable) {
  const LinearizabilityResult result = CheckLinearizability({}, kPlenty);
  EXPECT_EQ(result.verdict, Verdict::kLinearizable);
  EXPECT_EQ(result.explanation, "");
  EXPECT_TRUE(result.keys.empty());
  EXPECT_TRUE(result.window.empty());
}

TEST(CheckLinearizability, ExplainsAStaleRead) {
  const LinearizabilityResult result = CheckLinearizability(
      {Done(4, "SET x v6", 0, 22, Reply::Ok()), Done(3, "SET x v7", 12, 25, Reply::Ok()),
       Done(1, "GET x", 13, 15, Reply::String("v6")), Done(1, "GET x", 16, 18, Reply::String("v7")),
       Done(5, "SET y v8", 0, 1, Reply::Ok()), Done(2, "GET x", 19, 24, Reply::String("v6")),
       NoAnswer(6, "SET x v9", 26)},
      kPlenty);
  EXPECT_EQ(result.verdict, Verdict::kViolation);
  EXPECT_EQ(result.keys, Keys({"x"}));
  EXPECT_EQ(result.window, Indices({0, 1, 2, 3, 5}));
  EXPECT_EQ(result.marked, 5U);
  EXPECT_EQ(result.explanation,
            "key \"x\": no order of these operations explains the replies\n"
            "  the replies before the marked one can be explained\n"
            "  left out: 1 operation\n"
            "  0.000 to 22.000 ms, client 4: SET x v6 -> OK\n"
            "  12.000 to 25.000 ms, client 3: SET x v7 -> OK\n"
            "  13.000 to 15.000 ms, client 1: GET x -> \"v6\"\n"
            "  16.000 to 18.000 ms, client 1: GET x -> \"v7\"\n"
            "  19.000 to 24.000 ms, client 2: GET x -> \"v6\"  <--\n");
}

TEST(CheckLinearizability, ListsTheLatestOperations) {
  KvHistory history;
  for (int i = 0; i < 50; ++i) {
    history.push_back(Done(1, "INCR n", 2 * i, 2 * i + 1, Reply::Integer(i + 1)));
  }
  history[40].answer->reply = Reply::Integer(40);
  const LinearizabilityResult result = CheckLinearizability(history, kPlenty);
  EXPECT_EQ(result.marked, 40U);
  EXPECT_EQ(result.window.size(), 20U);
  EXPECT_EQ(result.window.back(), 40U);
}

TEST(CheckLinearizability, KeysAreObjectsOfTheirOwn) {
  // Each key alone is linearizable, although the reads of both keys together look inconsistent.
  const KvHistory history = {
      Done(1, "SET x 1", 0, 9, Reply::Ok()),      Done(1, "SET y 1", 0, 9, Reply::Ok()),
      Done(2, "GET x", 1, 2, Reply::String("1")), Done(2, "GET y", 3, 4, Reply::Nil()),
      Done(3, "GET y", 5, 6, Reply::String("1")), Done(3, "GET x", 7, 8, Reply::String("1"))};
  EXPECT_EQ(CheckLinearizability(history, kPlenty).verdict, Verdict::kLinearizable);
}

TEST(CheckLinearizability, CommandsOfSeveralKeysMergeThem) {
  KvHistory history = {Done(1, "MSET a 1 b 1", 0, 9, Reply::Ok()),
                       Done(2, "GET a", 1, 2, Reply::String("1")),
                       Done(2, "GET b", 3, 4, Reply::Nil()), Done(2, "GET c", 3, 4, Reply::Nil())};
  EXPECT_EQ(CheckLinearizability(history, kPlenty).keys, Keys({"a", "b"}));
  history.push_back(Done(3, "EXISTS c d b", 0, 5, Reply::Integer(0)));
  const LinearizabilityResult result = CheckLinearizability(history, kPlenty);
  EXPECT_EQ(result.keys, Keys({"a", "b", "c", "d"}));
  EXPECT_EQ(result.explanation.substr(0, 31), "keys \"a\", \"b\", \"c\", \"d\": no ord");
}

TEST(CheckLinearizability, ChainsOfKeysAreMergedInAnyOrder) {
  const auto pair = [](const std::string& keys) {
    return Done(1, "MGET " + keys, 0, 1, Reply::Array({std::nullopt, std::nullopt}));
  };
  KvHistory history = {pair("a b"), pair("c d"), pair("e f"),
                       pair("d e"), pair("b c"), Done(1, "GET f", 0, 1, Reply::String("z"))};
  EXPECT_EQ(CheckLinearizability(history, kPlenty).keys, Keys({"a", "b", "c", "d", "e", "f"}));
  std::reverse(history.begin(), history.end());
  EXPECT_EQ(CheckLinearizability(history, kPlenty).keys, Keys({"a", "b", "c", "d", "e", "f"}));
}

TEST(CheckLinearizability, AReadWithoutAnAnswerSaysNothingAndMergesNothing) {
  const LinearizabilityResult result = CheckLinearizability(
      {NoAnswer(1, "MGET a b", 0), NoAnswer(1, "GET b", 0), Done(1, "GET b", 0, 1, Reply::Ok())},
      kPlenty);
  EXPECT_EQ(result.verdict, Verdict::kViolation);
  EXPECT_EQ(result.keys, Keys({"b"}));
  EXPECT_EQ(result.window, Indices({2}));
}

TEST(CheckLinearizability, TheFirstKeyThatFailsIsTold) {
  const auto bad = [](const std::string& key) {
    return Done(1, "GET " + key, 0, 1, Reply::String("z"));
  };
  EXPECT_EQ(CheckLinearizability({bad("c"), bad("b"), bad("d")}, kPlenty).keys, Keys({"b"}));
}

// For any bound.
KvHistory Undecidable(const std::string& key) { return Hard(key, 20); }

KvHistory operator+(KvHistory a, const KvHistory& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(CheckLinearizability, UndecidedIsNeitherPassNorViolation) {
  const LinearizabilityResult result = CheckLinearizability(Undecidable("x"), 10'000);
  EXPECT_EQ(result.verdict, Verdict::kUndecided);
  EXPECT_EQ(result.keys, Keys({"x"}));
  EXPECT_EQ(result.explanation,
            "key \"x\": the search for an order of 21 operations stopped at its bound of 10000 "
            "steps: it is not known whether there is one\n");
  EXPECT_TRUE(result.window.empty());
}

TEST(CheckLinearizability, UndecidedIsToldBeforeAPassAndAfterAViolation) {
  const KvHistory good = {Done(1, "GET a", 0, 1, Reply::Nil()),
                          Done(1, "GET z", 0, 1, Reply::Nil())};
  const KvHistory bad = {Done(1, "GET z", 0, 1, Reply::String("q"))};
  const LinearizabilityResult mixed =
      CheckLinearizability(good + Undecidable("x") + Undecidable("y"), 10'000);
  EXPECT_EQ(mixed.verdict, Verdict::kUndecided);
  EXPECT_EQ(mixed.keys, Keys({"x"}));
  const LinearizabilityResult worst = CheckLinearizability(Undecidable("x") + bad, 10'000);
  EXPECT_EQ(worst.verdict, Verdict::kViolation);
  EXPECT_EQ(worst.keys, Keys({"z"}));
  EXPECT_GT(worst.steps, 10'000U) << "the steps of all objects";
}

std::string Refusal(const KvHistory& history) {
  try {
    CheckLinearizability(history, kPlenty);
    return "taken";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(CheckLinearizability, RefusesTimesThatMakeNoSense) {
  EXPECT_EQ(Refusal({Done(1, "GET x", 0, 0, Reply::Nil()), Done(1, "GET x", 2, 1, Reply::Nil())}),
            "operation 1 of the history (GET x) has an answer that is before its begin");
  KvHistory never = {Done(1, "SET x 1", 0, 1, Reply::Ok())};
  never[0].answer->at = kNever;
  EXPECT_EQ(Refusal(never), "operation 0 of the history (SET x 1) has an answer that is never");
}

// ---- many operations ----

TEST(CheckLinearizability, ALongHistoryOfPutsAndGetsTakesStepsInProportion) {
  for (const std::size_t size : {1'000U, 20'000U}) {
    RandomStream random(3, size);
    const KvHistory history = LongRegisterHistory(random, 6, size);
    const LinearizabilityResult result = CheckLinearizability(history, kPlenty);
    EXPECT_EQ(result.verdict, Verdict::kLinearizable) << result.explanation;
    EXPECT_LT(result.steps, 50 * size);
  }
}

TEST(CheckLinearizability, OneBadReadAmongManyIsFound) {
  RandomStream random(4);
  KvHistory history = LongRegisterHistory(random, 6, 20'000);
  const auto is_read = [](const KvOperation& operation) {
    return operation.answer && operation.answer->reply.kind == Reply::Kind::kString;
  };
  const auto early = std::find_if(history.begin() + 8'000, history.end(), is_read);
  const auto late = std::find_if(history.begin() + 12'000, history.end(), is_read);
  late->answer->reply = early->answer->reply;
  const LinearizabilityResult result = CheckLinearizability(history, kPlenty);
  EXPECT_EQ(result.verdict, Verdict::kViolation);
  EXPECT_EQ(result.marked, static_cast<std::size_t>(late - history.begin()));
}

}  // namespace
}  // namespace depfast::kv
