// Commands of a history.
#include "linearizability/parsed_command.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "histories.h"

namespace depfast::kv {
namespace {

using Texts = std::vector<std::string>;

TEST(ParsedCommand, TakesNamesInAnyCase) {
  EXPECT_EQ(Parsed("mset x 1 y 2").Text(), "MSET x 1 y 2");
  EXPECT_EQ(Parsed("GetSet x 1").verb(), Verb::kGetset);
}

TEST(ParsedCommand, KnowsItsKeys) {
  EXPECT_EQ(Parsed("MSET x 1 y 2 x 3").Keys(), Texts({"x", "y", "x"}));
  EXPECT_EQ(Parsed("DEL x y").Keys(), Texts({"x", "y"}));
  EXPECT_EQ(Parsed("CAS x 1 2").Keys(), Texts({"x"}));
  EXPECT_EQ(Parsed("MGET x").Keys(), Texts({"x"}));
}

TEST(ParsedCommand, KnowsWhetherItIsARead) {
  for (const char* read : {"GET x", "EXISTS x y", "MGET x", "STRLEN x"}) {
    EXPECT_TRUE(Parsed(read).IsRead()) << read;
  }
  for (const char* write : {"SET x 1", "DEL x", "INCR x", "APPEND x a", "MSET x 1", "SETNX x 1",
                            "GETSET x 1", "CAS x 1 2"}) {
    EXPECT_FALSE(Parsed(write).IsRead()) << write;
  }
}

TEST(ParsedCommand, QuotesWhatIsNotPlain) {
  EXPECT_EQ(ParsedCommand({"SET", "a b", ""}).Text(), "SET \"a b\" \"\"");
  EXPECT_EQ(ParsedCommand({"SET", "x", std::string("\0", 1)}).Text(), "SET x \"\\u0000\"");
}

std::string ParseRefusal(const std::vector<std::string>& words) {
  try {
    const ParsedCommand command(words);
    return "taken: " + command.Text();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(ParsedCommand, RefusesSessionsAndWhatTheStoreRefuses) {
  EXPECT_EQ(ParseRefusal({}), "ERR unknown command ''");
  EXPECT_EQ(ParseRefusal({"FLUSH\nALL"}), "ERR unknown command 'FLUSH?ALL'");
  EXPECT_EQ(ParseRefusal({"MSET", "x", "1", "y"}),
            "ERR wrong number of arguments for 'mset' command");
  EXPECT_EQ(ParseRefusal({"SESSION", "NEW"}), "a session is no part of a history");
}

}  // namespace
}  // namespace depfast::kv
