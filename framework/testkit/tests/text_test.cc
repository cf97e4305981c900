// Text for people and scripts: the numbered history, times, JSON strings.
#include <gtest/gtest.h>

#include <string>

#include "testkit/history.h"
#include "testkit/json.h"

namespace depfast::testkit {
namespace {

TEST(FormatTime, IsInSecondsToTheMicrosecond) {
  EXPECT_EQ(FormatTime(0ns), "0.000000 s");
  EXPECT_EQ(FormatTime(1204113us), "1.204113 s");
  EXPECT_EQ(FormatTime(5us + 999ns), "0.000005 s");
  EXPECT_EQ(FormatTime(1h), "3600.000000 s");
}

TEST(History, NumbersItsLinesFromOne) {
  History history;
  EXPECT_EQ(history.All(), "");
  history.Add(0ns, "first");
  history.Add(1s, "second");
  EXPECT_EQ(history.All(), "#1  0.000000 s  first\n#2  1.000000 s  second\n");
  EXPECT_EQ(history.size(), 2U);
}

TEST(History, ItsTailIsTheLastLinesOldestFirst) {
  History history;
  for (const char* what : {"a", "b", "c"}) history.Add(0ns, what);
  EXPECT_EQ(history.Tail(2), "#2  0.000000 s  b\n#3  0.000000 s  c\n");
  EXPECT_EQ(history.Tail(0), "");
  EXPECT_EQ(history.Tail(100), history.All());
}

TEST(History, ForgetsTheOldestAndKeepsCounting) {
  History history(2);
  for (const char* what : {"a", "b", "c"}) history.Add(0ns, what);
  EXPECT_EQ(history.All(), "#2  0.000000 s  b\n#3  0.000000 s  c\n");
  EXPECT_EQ(history.size(), 3U);
}

TEST(JsonString, EscapesWhatJsonDoesNotTake) {
  EXPECT_EQ(JsonString(""), "\"\"");
  EXPECT_EQ(JsonString("plain text, 'quoted'"), "\"plain text, 'quoted'\"");
  EXPECT_EQ(JsonString("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(JsonString("a\nb\tc"), "\"a\\u000ab\\u0009c\"");
  EXPECT_EQ(JsonString(std::string("\0\x1f\x7f\xff", 4)), "\"\\u0000\\u001f\\u007f\\u00ff\"");
}

}  // namespace
}  // namespace depfast::testkit
