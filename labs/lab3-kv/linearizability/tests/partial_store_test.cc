// The effects of commands, and stores with unknown contents.
#include "linearizability/partial_store.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "histories.h"

namespace depfast::kv {
namespace {

// "x=1 y=? z-": x holds 1, y is unknown, z is absent.
std::string Effects(const std::string& words, const std::optional<Reply>& reply = std::nullopt) {
  std::string text;
  for (const Effect& effect : EffectsOf(Parsed(words), reply ? &*reply : nullptr)) {
    const Content& content = effect.content;
    text += (text.empty() ? "" : " ") + effect.key;
    text += !content.known ? "=?" : content.value ? "=" + *content.value : "-";
  }
  return text;
}

TEST(EffectsOf, TheReplyTellsTheEffect) {
  EXPECT_EQ(Effects("SET x 1", Reply::Ok()), "x=1");
  EXPECT_EQ(Effects("GETSET x 1", Reply::Nil()), "x=1");
  EXPECT_EQ(Effects("MSET x 1 y 2", Reply::Ok()), "x=1 y=2");
  EXPECT_EQ(Effects("INCR x", Reply::Integer(7)), "x=7");
  EXPECT_EQ(Effects("SETNX x 1", Reply::Integer(1)), "x=1");
  EXPECT_EQ(Effects("CAS x 1 2", Reply::Integer(1)), "x=2");
  EXPECT_EQ(Effects("DEL x y", Reply::Integer(1)), "x- y-");
  EXPECT_EQ(Effects("APPEND x ab", Reply::Integer(3)), "x=?");
  EXPECT_EQ(Effects("APPEND x ab", Reply::Integer(2)), "x=ab");
}

TEST(EffectsOf, NothingIfTheReplyProvesThatNothingChanged) {
  EXPECT_EQ(Effects("SETNX x 1", Reply::Integer(0)), "");
  EXPECT_EQ(Effects("CAS x 1 2", Reply::Integer(0)), "");
  EXPECT_EQ(Effects("DEL x y", Reply::Integer(0)), "");
  EXPECT_EQ(Effects("INCR x", Reply::Error("")), "");
  for (const char* read : {"GET x", "EXISTS x", "MGET x y", "STRLEN x"}) {
    EXPECT_EQ(Effects(read), "") << read;
  }
}

TEST(EffectsOf, WithoutAReplyAllThatCanBe) {
  EXPECT_EQ(Effects("SET x 1"), "x=1");
  EXPECT_EQ(Effects("SETNX x 1"), "x=1");
  EXPECT_EQ(Effects("CAS x 1 2"), "x=2");
  EXPECT_EQ(Effects("DEL x"), "x-");
  EXPECT_EQ(Effects("INCR x"), "x=?");
  EXPECT_EQ(Effects("APPEND x a"), "x=?");
}

// A store with x = 1 and y unknown.
PartialStore Half() {
  PartialStore store;
  store.Put({"x", {true, "1"}});
  store.Put({"y", {false, std::nullopt}});
  return store;
}

bool Can(const std::string& words, const Reply& reply) {
  return Half().Execute(Parsed(words), &reply);
}

TEST(PartialStore, AnswersForWhatItKnowsAsTheModelDoes) {
  EXPECT_TRUE(Can("GET x", Reply::String("1")));
  EXPECT_FALSE(Can("GET x", Reply::String("2")));
  EXPECT_TRUE(Can("INCR x", Reply::Integer(2)));
  EXPECT_FALSE(Can("INCR x", Reply::Integer(1)));
}

TEST(PartialStore, AnUnknownKeyCanHoldAnything) {
  EXPECT_TRUE(Can("GET y", Reply::String("2")));
  EXPECT_TRUE(Can("GET y", Reply::Nil()));
  EXPECT_FALSE(Can("GET y", Reply::Integer(2))) << "not a reply of GET";
  EXPECT_TRUE(Can("INCR y", Reply::Integer(9)));
  EXPECT_TRUE(Can("CAS y 1 2", Reply::Integer(1)));
  EXPECT_TRUE(Can("CAS y 1 2", Reply::Integer(0)));
}

TEST(PartialStore, OfSeveralKeysTheKnownOnesCount) {
  EXPECT_TRUE(Can("MGET x y", Reply::Array({"1", "2"})));
  EXPECT_FALSE(Can("MGET x y", Reply::Array({"2", "2"})));
  EXPECT_FALSE(Can("MGET x y", Reply::Array({"1"})));
  EXPECT_FALSE(Can("MGET y y", Reply::Array({"1", "2"})));
  EXPECT_FALSE(Can("EXISTS x y z", Reply::Integer(0)));
  EXPECT_TRUE(Can("EXISTS x y z", Reply::Integer(1)));
  EXPECT_TRUE(Can("EXISTS x y z", Reply::Integer(2)));
  EXPECT_FALSE(Can("EXISTS x y z", Reply::Integer(3)));
  EXPECT_TRUE(Can("EXISTS x y y", Reply::Integer(3)));
  EXPECT_FALSE(Can("DEL x y y", Reply::Integer(3)));
  EXPECT_TRUE(Can("DEL x y y", Reply::Integer(2)));
  EXPECT_TRUE(Can("MSET x 3 y 4", Reply::Ok()));
}

// Returns whether `read` can have a reply after `words` with `reply`.
bool CanThen(const std::string& words, const Reply& reply, const std::string& read,
             const Reply& then) {
  PartialStore store = Half();
  return store.Execute(Parsed(words), &reply) && store.Execute(Parsed(read), &then);
}

TEST(PartialStore, LearnsFromReplies) {
  EXPECT_TRUE(CanThen("GET y", Reply::String("2"), "GET y", Reply::String("2")));
  EXPECT_FALSE(CanThen("GET y", Reply::String("2"), "GET y", Reply::String("3")));
  EXPECT_FALSE(CanThen("GET y", Reply::Nil(), "STRLEN y", Reply::Integer(1)));
  EXPECT_FALSE(CanThen("MGET y", Reply::Array({"2"}), "GET y", Reply::Nil()));
  EXPECT_FALSE(CanThen("INCR y", Reply::Integer(5), "GET y", Reply::String("6")));
  EXPECT_FALSE(CanThen("DEL x y", Reply::Integer(1), "EXISTS x y", Reply::Integer(1)));
  EXPECT_TRUE(CanThen("STRLEN y", Reply::Integer(5), "GET y", Reply::String("6")));
}

TEST(PartialStore, EncodesEqualStoresOnlyAlike) {
  const auto encoded = [](const std::string& key, const std::optional<std::string>& value) {
    PartialStore store;
    store.Put({key, {true, value}});
    return store.Encoded();
  };
  EXPECT_EQ(encoded("x", std::nullopt), PartialStore().Encoded());
  EXPECT_NE(encoded("x", "1"), encoded("x", "2"));
  EXPECT_NE(encoded("x", "11:a"), encoded("x1", "1:a"));
  PartialStore unknown;
  unknown.Put({"x", {false, std::nullopt}});
  EXPECT_NE(unknown.Encoded(), PartialStore().Encoded());
  unknown.Put({"x", {true, "1"}});
  EXPECT_EQ(unknown.Encoded(), encoded("x", "1"));
}

}  // namespace
}  // namespace depfast::kv
