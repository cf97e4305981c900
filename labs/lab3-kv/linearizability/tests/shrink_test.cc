// Windows: the operations left of a failing history, and that none of them can be left out.
#include "linearizability/shrink.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "histories.h"

namespace depfast::kv {
namespace {

using Indices = std::vector<std::size_t>;

constexpr std::uint64_t kPlenty = 1'000'000;

WindowResult Find(const KvHistory& history, std::uint64_t steps_max = kPlenty) {
  Indices all;
  Indices completed;
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (history[i].answer) completed.push_back(i);
    if (history[i].answer || !history[i].command.IsRead()) all.push_back(i);
  }
  const SearchResult result = Search(ProblemOf(history), kPlenty);
  EXPECT_EQ(result.verdict, Verdict::kViolation);
  return FindWindow(history, all, completed[result.stuck], steps_max);
}

void ExpectWindow(const KvHistory& history, const Indices& operations, std::size_t marked) {
  const WindowResult result = Find(history);
  ASSERT_TRUE(result.window);
  EXPECT_EQ(result.window->operations, operations);
  EXPECT_EQ(result.window->marked, marked);
  EXPECT_TRUE(result.window->is_first);
  EXPECT_TRUE(result.window->is_smallest);
}

TEST(FindWindow, AReplyThatNoStoreWouldGiveStandsAlone) {
  ExpectWindow({Done(1, "SET x a", 0, 9, Reply::Ok()), Done(2, "GET x", 1, 2, Reply::Integer(1)),
                Done(2, "GET x", 3, 4, Reply::String("a"))},
               {1}, 1);
}

TEST(FindWindow, AValueFromNowhereStandsAlone) {
  ExpectWindow(
      {Done(1, "CAS x a b", 0, 1, Reply::Integer(0)), Done(1, "SETNX x c", 0, 9, Reply::Integer(1)),
       Done(2, "GET x", 2, 3, Reply::String("z"))},
      {2}, 2);
}

TEST(FindWindow, OperationsLongBeforeAreLeftOut) {
  KvHistory history;
  for (int i = 1; i <= 50; ++i) {
    history.push_back(Done(1, "INCR x", 2 * i, 2 * i + 1, Reply::Integer(i)));
  }
  history.push_back(Done(2, "GET x", 200, 201, Reply::String("49")));
  ExpectWindow(history, {49, 50}, 50);
}

TEST(FindWindow, LaterOperationsAreLeftOut) {
  ExpectWindow(
      {Done(1, "INCR x", 0, 1, Reply::Integer(1)), Done(2, "INCR x", 2, 3, Reply::Integer(1)),
       Done(3, "INCR x", 4, 5, Reply::Integer(1)), Done(3, "DEL x", 6, 7, Reply::Integer(1))},
      {0, 1}, 1);
}

TEST(FindWindow, AWriteThatCouldExplainIsKept) {
  // Each APPEND may have come last, so each is needed to exclude the value that was read.
  ExpectWindow(
      {Done(1, "SET x a", 0, 1, Reply::Ok()), Done(2, "APPEND x b", 2, 5, Reply::Integer(2)),
       Done(3, "GET x", 6, 7, Reply::String("a"))},
      {1, 2}, 2);
}

TEST(FindWindow, ALooseWriteMayStillExplain) {
  // Leaving out the DEL would not show the violation: then it might have come last.
  ExpectWindow({Done(1, "DEL x", 0, 3, Reply::Integer(0)), Done(2, "SET x a", 1, 2, Reply::Ok()),
                Done(3, "GET x", 4, 5, Reply::Nil())},
               {1, 2}, 2);
  ExpectWindow({Done(4, "SET x z", 0, 1, Reply::Ok()), Done(1, "DEL x", 2, 5, Reply::Integer(1)),
                Done(2, "SET x a", 3, 4, Reply::Ok()), Done(5, "GET x", 6, 7, Reply::String("a")),
                Done(3, "GET x", 8, 9, Reply::Nil())},
               {3, 4}, 4);
}

TEST(FindWindow, AReplyCountsFromTheEndOfItsOperation) {
  // The search cannot get past the end of the GET, because of the reply to GETSET. But that was not
  // known then: the GET may have read b, until GETSET answered.
  const KvHistory history = {Done(1, "GETSET x b", 0, 9, Reply::String("a")),
                             Done(2, "GET x", 1, 2, Reply::String("b"))};
  EXPECT_EQ(Search(ProblemOf(history), kPlenty).stuck, 1U);
  ExpectWindow(history, {0}, 0);
  // Here the answer of GETSET was known.
  ExpectWindow({Done(1, "GETSET x b", 0, 9, Reply::String("a")),
                Done(2, "SET x a", 1, 2, Reply::Ok()), Done(3, "GET x", 3, 4, Reply::String("c"))},
               {2}, 2);
}

TEST(FindWindow, AMuchLaterReplyIsFound) {
  KvHistory history = {Done(1, "GETSET x b", 0, 900, Reply::String("a"))};
  for (int i = 1; i <= 30; ++i) {
    history.push_back(Done(2, "GET x", 10 * i, 10 * i + 1, Reply::String("b")));
  }
  ExpectWindow(history, {0}, 0);
}

TEST(FindWindow, SeveralKeys) {
  ExpectWindow(
      {Done(1, "MSET x 1 y 1", 0, 1, Reply::Ok()), Done(1, "MSET x 2 y 2", 2, 9, Reply::Ok()),
       Done(2, "GET z", 3, 4, Reply::Nil()), Done(2, "MGET x y", 3, 4, Reply::Array({"2", "1"}))},
      {1, 3}, 3);
}

// Concurrent APPENDs of letters and STRLENs; then a GET with an impossible value.
KvHistory Letters() {
  KvHistory history = {Done(1, "SET x a", 0, 1, Reply::Ok())};
  for (int i = 0; i < 4; ++i) {
    const std::string letter(1, static_cast<char>('b' + i));
    history.push_back(Done(2, "APPEND x " + letter, 2, 9, Reply::Integer(2 + i)));
  }
  for (int i = 0; i < 20; ++i) {
    history.push_back(Done(3, "STRLEN x", 2, 9, Reply::Integer(1 + i % 5)));
  }
  history.push_back(Done(4, "GET x", 10, 11, Reply::String("azzzz")));
  return history;
}

TEST(FindWindow, AtItsBoundItMayFindNone) {
  const WindowResult result = Find(Letters(), 50);
  EXPECT_FALSE(result.window);
  EXPECT_LE(result.steps, 50U);
}

}  // namespace
}  // namespace depfast::kv
