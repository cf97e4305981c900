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

struct Story {
  const char* name;
  Texts commands;
  Texts replies;
};

TEST(KvModel, AnswersAsRedisDoes) {
  const std::vector<Story> stories = {
      {"Get and set",
       {"GET x", "SET x 1", "GET x", "SET x 2", "GET x", "GET y"},
       {"nil", "OK", "\"1\"", "OK", "\"2\"", "nil"}},
      {"Del counts the keys that were there",
       {"DEL x", "SET x 1", "SET y 1", "DEL x y z", "GET x"},
       {"0", "OK", "OK", "2", "nil"}},
      {"Del counts the keys that were there", {"SET x 1", "DEL x x"}, {"OK", "1"}},
      {"Exists counts a key named twice twice",
       {"EXISTS x", "SET x 1", "EXISTS x", "EXISTS x y x"},
       {"0", "OK", "1", "2"}},
      {"Incr counts from zero",
       {"INCR x", "INCR x", "GET x", "SET x -1", "INCR x"},
       {"1", "2", "\"2\"", "OK", "0"}},
      {"Incr does not overflow",
       {"SET x 9223372036854775806", "INCR x", "INCR x", "GET x"},
       {"OK", "9223372036854775807", ToText(WouldOverflow()), "\"9223372036854775807\""}},
      {"Append returns the length",
       {"APPEND x ab", "APPEND x c", "GET x", "STRLEN x", "STRLEN y"},
       {"2", "3", "\"abc\"", "3", "0"}},
      {"Mget and mset",
       {"MSET x 1 y 2", "MGET x z y", "MSET x 3 x 4", "MGET x x"},
       {"OK", "[\"1\", nil, \"2\"]", "OK", "[\"4\", \"4\"]"}},
      {"Setnx sets only what is absent", {"SETNX x 1", "SETNX x 2", "GET x"}, {"1", "0", "\"1\""}},
      {"Getset returns the old value",
       {"GETSET x 1", "GETSET x 2", "GET x"},
       {"nil", "\"1\"", "\"2\""}},
      {"Cas sets only over the expected value",
       {"CAS x 1 2", "SET x 1", "CAS x 0 2", "GET x", "CAS x 1 2", "GET x"},
       {"0", "OK", "0", "\"1\"", "1", "\"2\""}},
  };
  for (const auto& [name, commands, replies] : stories) {
    EXPECT_EQ(Replies(commands), replies) << name;
  }
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

}  // namespace
}  // namespace depfast::kv
