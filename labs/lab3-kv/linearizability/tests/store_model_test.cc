#include "linearizability/store_model.h"

#include <gtest/gtest.h>

#include <string>

#include "kv_errors.h"

namespace depfast::kv {
namespace {

TEST(StoreModel, ASessionLivesForItsEntriesAfterEachUse) {
  StoreModel model;
  EXPECT_EQ(model.Apply(10, {"SESSION", "NEW", "5"}), Reply::Integer(10));
  EXPECT_EQ(model.Apply(15, {"SESSION", "10", "1", "INCR", "x"}), Reply::Integer(1));
  EXPECT_EQ(model.Apply(20, {"SESSION", "10", "1", "INCR", "x"}), Reply::Integer(1));
  EXPECT_EQ(model.Apply(24, {"SESSION", "10", "0", "INCR", "x"}), NotAnInteger());
  EXPECT_EQ(model.Apply(26, {"SESSION", "10", "1", "INCR", "x"}), NoSession());
  EXPECT_EQ(model.met().last_uses, 2u);
  EXPECT_EQ(model.met().retries, 1u);
  EXPECT_EQ(model.met().malformed, 1u);
  EXPECT_EQ(model.met().expired, 1u);
}

TEST(StoreModel, NumbersAreThoseOfTheirPrintedForm) {
  StoreModel model;
  for (const char* number : {"0", "01", "+1", "-1", " 1", "1 ", "", "10000001", "one"}) {
    EXPECT_EQ(model.Apply(1, {"SESSION", "NEW", number}), NotAnInteger()) << number;
    EXPECT_TRUE(HasMalformedNumber({"SESSION", "NEW", number})) << number;
  }
  EXPECT_EQ(model.Apply(2, {"SESSION", "NEW", "10000000"}), Reply::Integer(2));
  EXPECT_EQ(model.Apply(3, {"SESSION", "2", "18446744073709551616", "GET", "x"}), NotAnInteger());
  EXPECT_EQ(model.Apply(4, {"SESSION", "2", "18446744073709551615", "GET", "x"}), Reply::Nil());
}

TEST(StoreModel, ValuesAndRepliesHaveLimits) {
  StoreModel model;
  const std::string longest(kArgumentBytesMax, 'x');
  EXPECT_EQ(model.Apply(1, {"SET", "x", longest}), Reply::Ok());
  EXPECT_EQ(model.Apply(2, {"APPEND", "x", "y"}), TooLarge());
  EXPECT_EQ(model.Apply(3, {"SET", "y", "1"}), Reply::Ok());
  const Command eight = {"MGET", "x", "x", "x", "x", "x", "x", "x", "x"};
  EXPECT_EQ(model.Read(eight).items.size(), 8u);
  Command nine = eight;
  nine.push_back("y");
  EXPECT_EQ(model.Read(nine), ReplyTooLarge());
}

}  // namespace
}  // namespace depfast::kv
