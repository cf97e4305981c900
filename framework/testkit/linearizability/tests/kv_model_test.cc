// The model answers commands like Redis.
#include "testkit/linearizability/kv_model.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "histories.h"

namespace depfast::testkit {
namespace {

// Executes the commands one after another and returns the replies, in words.
std::vector<std::string> Replies(const std::vector<std::string>& commands) {
  KvStore store;
  std::vector<std::string> replies;
  for (const std::string& words : commands) replies.push_back(store.Execute(Command(words)).Text());
  return replies;
}

using Texts = std::vector<std::string>;

TEST(KvModel, GetAndSet) {
  EXPECT_EQ(Replies({"GET x", "SET x 1", "GET x", "SET x 2", "GET x", "GET y"}),
            Texts({"nil", "OK", "\"1\"", "OK", "\"2\"", "nil"}));
}

TEST(KvModel, DelCountsTheKeysThatWereThere) {
  EXPECT_EQ(Replies({"DEL x", "SET x 1", "SET y 1", "DEL x y z", "GET x"}),
            Texts({"0", "OK", "OK", "2", "nil"}));
  EXPECT_EQ(Replies({"SET x 1", "DEL x x"}), Texts({"OK", "1"}));
}

TEST(KvModel, ExistsCountsAKeyNamedTwiceTwice) {
  EXPECT_EQ(Replies({"EXISTS x", "SET x 1", "EXISTS x", "EXISTS x y x"}),
            Texts({"0", "OK", "1", "2"}));
}

TEST(KvModel, IncrCountsFromZero) {
  EXPECT_EQ(Replies({"INCR x", "INCR x", "GET x", "SET x -1", "INCR x"}),
            Texts({"1", "2", "\"2\"", "OK", "0"}));
}

TEST(KvModel, IncrOfAnythingButAnIntegerIsAnErrorAndChangesNothing) {
  for (const std::string value : {"a", "1a", "01", "+1", "-0", "1.0", "9223372036854775808"}) {
    EXPECT_EQ(Replies({"SET x " + value, "INCR x", "GET x"}),
              Texts({"OK", "error: the value is not an integer", "\"" + value + "\""}));
  }
  KvStore store;
  store.Put("x", "");
  EXPECT_EQ(store.Execute(Command("INCR x")), KvReply::Error(""));
  store.Put("x", " 1");
  EXPECT_EQ(store.Execute(Command("INCR x")), KvReply::Error(""));
}

TEST(KvModel, IncrDoesNotOverflow) {
  EXPECT_EQ(Replies({"SET x 9223372036854775806", "INCR x", "INCR x", "GET x"}),
            Texts({"OK", "9223372036854775807", "error: the increment would overflow",
                   "\"9223372036854775807\""}));
}

TEST(KvModel, AppendReturnsTheLength) {
  EXPECT_EQ(Replies({"APPEND x ab", "APPEND x c", "GET x", "STRLEN x", "STRLEN y"}),
            Texts({"2", "3", "\"abc\"", "3", "0"}));
}

TEST(KvModel, MgetAndMset) {
  EXPECT_EQ(Replies({"MSET x 1 y 2", "MGET x z y", "MSET x 3 x 4", "MGET x x"}),
            Texts({"OK", "[\"1\", nil, \"2\"]", "OK", "[\"4\", \"4\"]"}));
}

TEST(KvModel, SetnxSetsOnlyWhatIsAbsent) {
  EXPECT_EQ(Replies({"SETNX x 1", "SETNX x 2", "GET x"}), Texts({"1", "0", "\"1\""}));
}

TEST(KvModel, GetsetReturnsTheOldValue) {
  EXPECT_EQ(Replies({"GETSET x 1", "GETSET x 2", "GET x"}), Texts({"nil", "\"1\"", "\"2\""}));
}

TEST(KvModel, CasSetsOnlyOverTheExpectedValue) {
  EXPECT_EQ(Replies({"CAS x 1 2", "SET x 1", "CAS x 0 2", "GET x", "CAS x 1 2", "GET x"}),
            Texts({"0", "OK", "0", "\"1\"", "1", "\"2\""}));
}

TEST(KvCommand, TakesNamesInAnyCase) {
  EXPECT_EQ(Command("mset x 1 y 2").Text(), "MSET x 1 y 2");
  EXPECT_EQ(Command("GetSet x 1").verb(), KvVerb::kGetset);
}

TEST(KvCommand, KnowsItsKeys) {
  EXPECT_EQ(Command("MSET x 1 y 2 x 3").Keys(), Texts({"x", "y", "x"}));
  EXPECT_EQ(Command("DEL x y").Keys(), Texts({"x", "y"}));
  EXPECT_EQ(Command("CAS x 1 2").Keys(), Texts({"x"}));
  EXPECT_EQ(Command("MGET x").Keys(), Texts({"x"}));
}

TEST(KvCommand, KnowsWhetherItIsARead) {
  for (const char* read : {"GET x", "EXISTS x y", "MGET x", "STRLEN x"}) {
    EXPECT_TRUE(Command(read).IsRead()) << read;
  }
  for (const char* write : {"SET x 1", "DEL x", "INCR x", "APPEND x a", "MSET x 1", "SETNX x 1",
                            "GETSET x 1", "CAS x 1 2"}) {
    EXPECT_FALSE(Command(write).IsRead()) << write;
  }
}

TEST(KvCommand, QuotesWhatIsNotPlain) {
  EXPECT_EQ(KvCommand({"SET", "a b", ""}).Text(), "SET \"a b\" \"\"");
  EXPECT_EQ(KvCommand({"SET", "x", std::string("\0", 1)}).Text(), "SET x \"\\u0000\"");
}

std::string Refusal(const std::vector<std::string>& words) {
  try {
    const KvCommand command(words);
    return "taken: " + command.Text();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(KvCommand, RefusesWhatTheModelDoesNotKnow) {
  EXPECT_EQ(Refusal({}), "a command needs a name");
  EXPECT_EQ(Refusal({"FLUSH\nALL"}), "the model has no command \"FLUSH\\u000aALL\"");
  EXPECT_EQ(Refusal({"GET"}), "GET cannot take 0 arguments");
  EXPECT_EQ(Refusal({"SET", "x"}), "SET cannot take 1 argument");
  EXPECT_EQ(Refusal({"CAS", "x", "1"}), "CAS cannot take 2 arguments");
  EXPECT_EQ(Refusal({"MSET", "x", "1", "y"}), "MSET cannot take 3 arguments");
  EXPECT_EQ(Refusal({"MGET"}), "MGET cannot take 0 arguments");
}

TEST(KvReply, ErrorsAreEqualWhateverTheySay) {
  EXPECT_EQ(KvReply::Error("a"), KvReply::Error("b"));
  EXPECT_FALSE(KvReply::Error("a") == KvReply::String("a"));
}

TEST(KvReply, OthersAreEqualIfTheySayTheSame) {
  EXPECT_EQ(KvReply::Integer(1), KvReply::Integer(1));
  EXPECT_FALSE(KvReply::Integer(1) == KvReply::Integer(2));
  EXPECT_FALSE(KvReply::Integer(1) == KvReply::String("1"));
  EXPECT_FALSE(KvReply::String("a") == KvReply::String("b"));
  EXPECT_FALSE(KvReply::Nil() == KvReply::String(""));
  EXPECT_FALSE(KvReply::Nil() == KvReply::Ok());
  EXPECT_FALSE(KvReply::Array({"a"}) == KvReply::Array({std::nullopt}));
  EXPECT_EQ(KvReply::Array({"a", std::nullopt}).Text(), "[\"a\", nil]");
}

}  // namespace
}  // namespace depfast::testkit
