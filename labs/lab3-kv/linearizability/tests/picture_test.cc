// Pictures, compared character by character.
#include "linearizability/picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "histories.h"

namespace depfast::kv {
namespace {

TEST(DrawOperations, ShowsWhatOverlaps) {
  const KvHistory history = {Done(3, "SET x v7", 10, 20, Reply::Ok()),
                             Done(1, "GET x", 15, 25, Reply::String("v7")),
                             Done(2, "GET x", 25, 27, Reply::String("v6"))};
  EXPECT_EQ(DrawOperations(history, {0, 1, 2}, 2, kNever),
            "  begin ms   end ms  client\n"
            "    10.000   20.000       3  SET x v7  |---|      OK\n"
            "    15.000   25.000       1  GET x       |---|    \"v7\"\n"
            "    25.000   27.000       2  GET x           |-|  \"v6\"  <--\n");
}

TEST(DrawOperations, AnOperationWithoutAnEndIsOpen) {
  const KvHistory history = {NoAnswer(1, "SET x a", 0), Done(2, "INCR x", 1, 9, Reply::Integer(1)),
                             Done(3, "GET x", 2, 3, Reply::String("b"))};
  EXPECT_EQ(DrawOperations(history, {0, 1, 2}, 2, 3ms),
            "  begin ms   end ms  client\n"
            "     0.000    never       1  SET x a  |------->  no answer\n"
            "     1.000    later       2  INCR x     |----->\n"
            "     2.000    3.000       3  GET x        |-|    \"b\"        <--\n");
}

TEST(DrawOperations, AMomentIsABar) {
  const KvHistory history = {Done(1, "GET x", 5, 5, Reply::Nil())};
  EXPECT_EQ(DrawOperations(history, {0}, 0, kNever),
            "  begin ms   end ms  client\n"
            "     5.000    5.000       1  GET x  |  nil  <--\n");
}

TEST(DrawOperations, TimesAreAsFineAsTheyHaveToBe) {
  KvHistory history = {Done(1, "GET x", 5, 6, Reply::Nil())};
  history[0].begin += 1ns;
  EXPECT_EQ(DrawOperations(history, {0}, 0, kNever),
            "  begin ms   end ms  client\n"
            "  5.000001 6.000000       1  GET x  |-|  nil  <--\n");
  history[0].answer->at = 3'600'000ms;
  EXPECT_EQ(DrawOperations(history, {0}, 0, kNever),
            "        begin ms         end ms  client\n"
            "        5.000001 3600000.000000       1  GET x  |-|  nil  <--\n");
}

TEST(DrawOperations, LongWordsAreCut) {
  const std::string value(100, 'a');
  const KvHistory history = {Done(1, "SET x " + value, 5, 6, Reply::String(value))};
  EXPECT_EQ(DrawOperations(history, {0}, 0, kNever),
            "  begin ms   end ms  client\n"
            "     5.000    6.000       1  SET x aaaaaaaaaaaaaaa...  |-|  "
            "\"aaaaaaaaaaaaaaaaaaaa...  <--\n");
}

TEST(DrawOperations, OfManyThoseAroundTheMarkedAreDrawn) {
  KvHistory history;
  std::vector<std::size_t> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(history.size());
    history.push_back(Done(i, "GET x", i, i + 1, Reply::Nil()));
  }
  const auto expect_drawn = [&](std::size_t marked, int first, int last) {
    const std::string picture = DrawOperations(history, all, marked, kNever);
    const auto line_of = [&picture](int client) {
      return picture.find(std::to_string(client) + ".000 ") != std::string::npos &&
             picture.find(" " + std::to_string(client) + "  GET x") != std::string::npos;
    };
    EXPECT_EQ(std::count(picture.begin(), picture.end(), '\n'), 2 + 40);
    EXPECT_NE(picture.find("(60 operations not drawn)\n"), std::string::npos);
    EXPECT_TRUE(line_of(first));
    EXPECT_TRUE(line_of(last));
    EXPECT_TRUE(line_of(static_cast<int>(marked)));
  };
  expect_drawn(3, 0, 39);
  expect_drawn(50, 20, 59);
  expect_drawn(99, 60, 99);
}

}  // namespace
}  // namespace depfast::kv
