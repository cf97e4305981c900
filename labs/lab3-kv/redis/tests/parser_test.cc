// The input that a Redis client may send, and input that must not harm a server.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "resp_parser.h"

namespace depfast::kv {
namespace {

struct Parsed {
  std::vector<Command> commands;
  std::string error;
};

// All that `bytes` say, given to the parser `at_a_time`.
Parsed Parse(const std::string& bytes, std::size_t at_a_time) {
  RespParser parser;
  Parsed parsed;
  for (std::size_t i = 0; i < bytes.size() && parsed.error.empty(); i += at_a_time) {
    parser.Add(std::string_view(bytes).substr(i, at_a_time));
    while (auto command = parser.Next()) parsed.commands.push_back(*command);
    parsed.error = parser.error();
  }
  return parsed;
}

class RespParserTest : public testing::TestWithParam<std::size_t> {
 protected:
  static Parsed Parse(const std::string& bytes) { return kv::Parse(bytes, GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(PacketSizes, RespParserTest, testing::Values(1, 2, 3, 7, 1 << 20));

TEST_P(RespParserTest, ReadsArraysAndLinesInOneStream) {
  const Parsed parsed = Parse(
      "*2\r\n$3\r\nGET\r\n$1\r\nx\r\n"
      "SET  y\t\"a b\"\r\n"
      "ping\n");
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.commands, (std::vector<Command>{{"GET", "x"}, {"SET", "y", "a b"}, {"ping"}}));
}

TEST_P(RespParserTest, ArgumentsAreAnyBytes) {
  const std::string bytes("*2\r\n$4\r\nECHO\r\n$6\r\n\r\n\0*$\n\r\nPING\r\n", 32);
  const Parsed parsed = Parse(bytes);
  EXPECT_EQ(parsed.error, "");
  ASSERT_EQ(parsed.commands.size(), 2u);
  EXPECT_EQ(parsed.commands[0], (Command{"ECHO", std::string("\r\n\0*$\n", 6)}));
  EXPECT_EQ(parsed.commands[1], Command{"PING"});
}

TEST_P(RespParserTest, EmptyLinesAndArraysAreNothing) {
  const Parsed parsed = Parse("\r\n\n  \r\n*0\r\n*-1\r\nPING\r\n");
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.commands, std::vector<Command>{{"PING"}});
}

TEST_P(RespParserTest, ReportsMalformedInput) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"*x\r\n", "invalid multibulk length"},
      {"*+1\r\n", "invalid multibulk length"},
      {"*1000000\r\n", "invalid multibulk length"},
      {"*99999999999999999999\r\n", "invalid multibulk length"},
      {"*1\r\nPING\r\n", "expected '$', got 'P'"},
      {"*1\r\n\x01", "expected '$', got '?'"},
      {"*1\r\n$x\r\n", "invalid bulk length"},
      {"*1\r\n$-1\r\n", "invalid bulk length"},
      {"*1\r\n$536870913\r\n", "invalid bulk length"},
      {"GET \"x\r\n", "unbalanced quotes in request"},
      {"GET 'x'y\r\n", "unbalanced quotes in request"},
  };
  for (const auto& [bytes, error] : cases) {
    const Parsed parsed = Parse("PING\r\n" + bytes);
    EXPECT_EQ(parsed.error, "Protocol error: " + error) << bytes;
    EXPECT_EQ(parsed.commands, std::vector<Command>{{"PING"}}) << "what came before is served";
  }
}

TEST(RespParser, BoundsWhatItHolds) {
  constexpr std::size_t kPacket = 4096;
  EXPECT_EQ(Parse(std::string(kInlineBytesMax + kPacket, 'x'), kPacket).error,
            "Protocol error: too big inline request");
  EXPECT_EQ(Parse("*" + std::string(kInlineBytesMax + kPacket, '1'), kPacket).error,
            "Protocol error: too big mbulk count string");
  EXPECT_EQ(Parse("*1\r\n$" + std::string(kInlineBytesMax + kPacket, '1'), kPacket).error,
            "Protocol error: too big bulk count string");
}

std::string Bulk(std::size_t bytes) {
  return "$" + std::to_string(bytes) + "\r\n" + std::string(bytes, 'x') + "\r\n";
}

// The commands in `bytes`, and which of them were too large. Expects that little is kept.
std::vector<std::pair<Command, bool>> ParseLarge(const std::string& bytes) {
  constexpr std::size_t kPacket = 5000;
  RespParser parser;
  std::vector<std::pair<Command, bool>> parsed;
  for (std::size_t i = 0; i < bytes.size(); i += kPacket) {
    parser.Add(std::string_view(bytes).substr(i, kPacket));
    while (auto command = parser.Next()) parsed.emplace_back(*command, parser.was_too_large());
    EXPECT_LE(parser.buffered(), kArgumentBytesMax + kPacket);
  }
  EXPECT_EQ(parser.error(), "");
  return parsed;
}

TEST(RespParser, PassesOverAnArgumentThatIsTooLong) {
  const std::string set = "*3\r\n" + Bulk(1) + Bulk(10 * kArgumentBytesMax + 1) + Bulk(2);
  const auto parsed = ParseLarge(set + "PING\r\n" + set + "*1\r\n" + Bulk(3));
  const std::pair<Command, bool> too_large{{"x", "", ""}, true};
  EXPECT_EQ(parsed, (std::vector<std::pair<Command, bool>>{
                        too_large, {{"PING"}, false}, too_large, {{"xxx"}, false}}));
}

TEST(RespParser, PassesOverACommandThatIsTooLong) {
  const std::string half = Bulk(kArgumentBytesMax / 2);
  std::string most = "*8\r\n";
  for (int i = 0; i < 8; ++i) most += half;
  std::string too_large = "*9\r\n";
  for (int i = 0; i < 8; ++i) too_large += half;
  const auto parsed = ParseLarge(most + too_large + Bulk(1) + "PING\r\n");
  ASSERT_EQ(parsed.size(), 3u);
  EXPECT_FALSE(parsed[0].second) << "exactly the limit";
  EXPECT_TRUE(parsed[1].second);
  EXPECT_EQ(parsed[2], (std::pair<Command, bool>{{"PING"}, false}));
}

TEST(RespParser, QuotesAreThoseOfRedis) {
  EXPECT_EQ(SplitWords("SET x \"a\\x41\\n\\\"\" 'it\\'s' b"),
            (Command{"SET", "x", "aA\n\"", "it's", "b"}));
  EXPECT_EQ(SplitWords("  "), Command{});
  EXPECT_EQ(SplitWords("\"\""), Command{""});
  EXPECT_EQ(SplitWords("\"\\"), std::nullopt);
}

}  // namespace
}  // namespace depfast::kv
