// The model answers commands like Redis.
#include "linearizability/kv_model.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "histories.h"
#include "kv_errors.h"
#include "linearizability/replies.h"

namespace depfast::kv {
namespace {

// Executes the commands one after another and returns the replies, in words.
std::vector<std::string> Replies(const std::vector<std::string>& commands) {
  KvModel store;
  std::vector<std::string> replies;
  for (const std::string& words : commands) replies.push_back(ToText(store.Execute(Parsed(words))));
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
              Texts({"OK", ToText(NotAnInteger()), "\"" + value + "\""}));
  }
  KvModel store;
  store.Put("x", "");
  EXPECT_EQ(store.Execute(Parsed("INCR x")), NotAnInteger());
  store.Put("x", " 1");
  EXPECT_EQ(store.Execute(Parsed("INCR x")), NotAnInteger());
}

TEST(KvModel, IncrDoesNotOverflow) {
  EXPECT_EQ(
      Replies({"SET x 9223372036854775806", "INCR x", "INCR x", "GET x"}),
      Texts({"OK", "9223372036854775807", ToText(WouldOverflow()), "\"9223372036854775807\""}));
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

}  // namespace
}  // namespace depfast::kv
