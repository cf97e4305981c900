// Zones: each rule with the smallest history that needs it, and its explanation.
#include "linearizability/zones.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "histories.h"

namespace depfast::kv {
namespace {

ZoneResult Zones(const KvHistory& history) {
  std::vector<std::size_t> all(history.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return CheckZones(history, all);
}

KvOperation Set(const std::string& value, int begin, int end) {
  return Done(1, "SET x " + value, begin, end, Reply::Ok());
}

KvOperation Get(const std::string& value, int begin, int end) {
  const Reply reply = value == "nil" ? Reply::Nil() : Reply::String(value);
  return Done(2, "GET x", begin, end, reply);
}

KvOperation SetNoAnswer(const std::string& value, int begin) {
  return NoAnswer(1, "SET x " + value, begin);
}

void ExpectLinearizable(const KvHistory& history) {
  const ZoneResult result = Zones(history);
  EXPECT_TRUE(result.applies);
  EXPECT_TRUE(result.linearizable) << result.why;
  EXPECT_TRUE(HasOrder(history)) << "or else the test is wrong";
}

using Indices = std::vector<std::size_t>;

void ExpectConflict(const KvHistory& history, const Indices& window, std::size_t marked,
                    const std::string& why) {
  const ZoneResult result = Zones(history);
  EXPECT_TRUE(result.applies);
  EXPECT_FALSE(result.linearizable);
  EXPECT_EQ(result.window, window);
  EXPECT_EQ(result.marked, marked);
  EXPECT_EQ(result.why, why);
  EXPECT_FALSE(HasOrder(history)) << "or else the test is wrong";
}

TEST(Zones, OneAfterTheOther) {
  ExpectLinearizable({});
  ExpectLinearizable(
      {Get("nil", 0, 1), Set("a", 2, 3), Get("a", 4, 5), Set("b", 6, 7), Get("b", 8, 9)});
}

TEST(Zones, OverlappingOperationsMayComeInEitherOrder) {
  ExpectLinearizable({Set("a", 0, 9), Set("b", 0, 9), Get("a", 1, 2), Get("b", 3, 4)});
  ExpectLinearizable({Set("a", 0, 9), Set("b", 0, 9), Get("b", 1, 2), Get("a", 3, 4)});
  ExpectLinearizable({Set("a", 0, 9), Get("nil", 1, 2), Get("a", 3, 4)});
}

TEST(Zones, AValueFromNowhere) {
  ExpectConflict({Set("a", 0, 1), Get("z", 0, 5), Get("a", 2, 3)}, {1}, 1,
                 "value from nowhere: no command wrote \"z\"");
}

TEST(Zones, AReadBeforeItsWrite) {
  ExpectConflict({Get("a", 0, 1), Set("a", 2, 3)}, {0, 1}, 0,
                 "read before it was written: the marked read of \"a\" ended before the SET began");
  ExpectConflict({Get("a", 0, 1), SetNoAnswer("a", 2)}, {0, 1}, 0,
                 "read before it was written: the marked read of \"a\" ended before the SET began");
}

TEST(Zones, AnEndAndABeginAtOneMomentOverlap) {
  ExpectLinearizable({Get("a", 0, 2), Set("a", 2, 3)});
  ExpectLinearizable({Set("a", 0, 1), Set("b", 1, 2), Get("a", 3, 4)});
  ExpectLinearizable({Set("a", 0, 1), Set("b", 2, 3), Get("a", 3, 4)});
  ExpectLinearizable({Set("a", 0, 2), Get("nil", 2, 3)});
}

TEST(Zones, ALostWrite) {
  ExpectConflict(
      {Set("a", 0, 1), Set("b", 2, 3), Get("a", 4, 5)}, {0, 1, 2}, 2,
      "lost write: \"b\" was written before the marked read of \"a\" began,\n  and \"a\" "
      "was written before \"b\" was written");
}

TEST(Zones, AStaleRead) {
  // The writes overlap, so the reads order b after a.
  ExpectConflict(
      {Set("a", 0, 9), Set("b", 0, 9), Get("a", 1, 2), Get("b", 3, 4), Get("a", 5, 6)},
      {0, 1, 2, 3, 4}, 4,
      "stale read: \"b\" was read before the marked read of \"a\" began,\n  and \"a\" was "
      "read before \"b\" was read");
}

TEST(Zones, AStaleReadOfTheStart) {
  ExpectConflict({Set("a", 0, 9), Get("a", 1, 2), Get("nil", 3, 4)}, {0, 1, 2}, 2,
                 "stale read: \"a\" was read before the marked read of nil began");
  ExpectConflict({Get("nil", 0, 1), Set("a", 2, 3), Get("nil", 4, 5)}, {1, 2}, 2,
                 "lost write: \"a\" was written before the marked read of nil began");
}

TEST(Zones, TheStartIsOldEvenIfTheNewValueIsReadLast) {
  ExpectConflict({Set("a", 0, 1), Get("nil", 2, 3), Get("a", 4, 5)}, {0, 1}, 1,
                 "lost write: \"a\" was written before the marked read of nil began");
}

TEST(Zones, OfManyNewValuesTheLatestIsTold) {
  ExpectConflict({Set("a", 0, 1), Set("b", 2, 3), Set("c", 4, 5), Set("d", 6, 7), Get("a", 7, 9),
                  Set("e", 10, 11)},
                 {0, 2, 4}, 4,
                 "lost write: \"c\" was written before the marked read of \"a\" began,\n  and "
                 "\"a\" was written before \"c\" was written");
  ExpectConflict({Set("a", 0, 1), Set("b", 2, 3), Get("nil", 4, 5)}, {1, 2}, 2,
                 "lost write: \"b\" was written before the marked read of nil began");
}

TEST(Zones, AForwardZoneMayEndWhereAnotherStarts) {
  ExpectLinearizable({Set("a", 0, 1), Get("a", 4, 9), Set("b", 2, 8), Get("b", 5, 6)});
  ExpectConflict(
      {Set("a", 0, 1), Get("a", 5, 9), Set("b", 2, 8), Get("b", 3, 4)}, {0, 2, 3, 1}, 1,
      "stale read: \"b\" was read before the marked read of \"a\" began,\n  and \"a\" was "
      "written before \"b\" was read");
}

TEST(Zones, ABackwardZoneMayReachOutOfAForwardOne) {
  ExpectLinearizable({Set("a", 0, 2), Get("a", 6, 7), Set("b", 3, 6)});
  ExpectLinearizable({Set("a", 0, 2), Get("a", 6, 7), Set("b", 2, 5)});
  ExpectConflict(
      {Set("a", 0, 2), Get("a", 6, 7), Set("b", 3, 5)}, {0, 2, 1}, 1,
      "lost write: \"b\" was written before the marked read of \"a\" began,\n  and \"a\" "
      "was written before \"b\" was written");
}

TEST(Zones, OfManyForwardZonesTheOneAroundIsFound) {
  KvHistory history;
  for (int i = 0; i < 20; ++i) {
    history.push_back(Set("v" + std::to_string(i), 10 * i, 10 * i + 1));
    history.push_back(Get("v" + std::to_string(i), 10 * i + 8, 10 * i + 9));
  }
  ExpectLinearizable(history);
  for (int i = 0; i < 20; ++i) {
    KvHistory broken = history;
    broken.push_back(Set("w", 10 * i + 2, 10 * i + 7));
    const ZoneResult result = Zones(broken);
    EXPECT_FALSE(result.linearizable);
    const auto at = static_cast<std::size_t>(2 * i);
    EXPECT_EQ(result.window, Indices({at, 40, at + 1}));
    EXPECT_EQ(result.marked, at + 1);
  }
}

TEST(Zones, AWriteWithoutAnAnswerMayHaveHappenedAtAnyTimeOrNot) {
  ExpectLinearizable({SetNoAnswer("a", 0), Get("nil", 1, 2), Get("a", 3, 4)});
  ExpectLinearizable({SetNoAnswer("a", 0), Set("b", 1, 2), Get("b", 3, 4), Get("a", 5, 6)});
  ExpectLinearizable({SetNoAnswer("a", 0), Set("b", 1, 2), Get("b", 3, 4)});
  // Not before it began, and not twice.
  ExpectConflict(
      {SetNoAnswer("a", 0), Get("a", 1, 2), Set("b", 3, 4), Get("a", 5, 6)}, {0, 1, 2, 3}, 3,
      "lost write: \"b\" was written before the marked read of \"a\" began,\n  and \"a\" "
      "was read before \"b\" was written");
}

TEST(Zones, TheFirstOfSeveralBadReadsIsTold) {
  const KvHistory history = {Get("y", 4, 5), Get("a", 2, 3), Get("z", 0, 9), Set("a", 6, 7)};
  EXPECT_EQ(Zones(history).marked, 1U);
}

TEST(Zones, DoNotApplyToWhatIsNotARegisterWithUniqueValues) {
  EXPECT_FALSE(Zones({Set("a", 0, 1), Set("a", 2, 3)}).applies) << "a value twice";
  EXPECT_FALSE(Zones({SetNoAnswer("a", 0), Set("a", 2, 3)}).applies);
  EXPECT_FALSE(Zones({Done(1, "DEL x", 0, 1, Reply::Integer(0))}).applies);
  EXPECT_FALSE(Zones({Done(1, "GETSET x a", 0, 1, Reply::Nil())}).applies);
  EXPECT_FALSE(Zones({Done(1, "STRLEN x", 0, 1, Reply::Integer(0))}).applies);
  EXPECT_FALSE(Zones({Done(1, "SET x a", 0, 1, Reply::Nil())}).applies) << "not a reply of SET";
  EXPECT_FALSE(Zones({Done(1, "GET x", 0, 1, Reply::Integer(1))}).applies);
}

}  // namespace
}  // namespace depfast::kv
