// Replies, compared and written.
#include "linearizability/replies.h"

#include <gtest/gtest.h>

#include <optional>

namespace depfast::kv {
namespace {

TEST(AreSame, ErrorsAreAndOthersIfTheySayTheSame) {
  EXPECT_TRUE(AreSame(Reply::Error("a"), Reply::Error("b")));
  EXPECT_FALSE(AreSame(Reply::Error("a"), Reply::String("a")));
  EXPECT_TRUE(AreSame(Reply::Integer(1), Reply::Integer(1)));
  EXPECT_FALSE(AreSame(Reply::Integer(1), Reply::Integer(2)));
  EXPECT_FALSE(AreSame(Reply::Integer(1), Reply::String("1")));
  EXPECT_FALSE(AreSame(Reply::String("a"), Reply::String("b")));
  EXPECT_FALSE(AreSame(Reply::Nil(), Reply::String("")));
  EXPECT_FALSE(AreSame(Reply::Nil(), Reply::Ok()));
  EXPECT_FALSE(AreSame(Reply::Array({"a"}), Reply::Array({std::nullopt})));
}

TEST(ToText, QuotesStringsOnly) {
  EXPECT_EQ(ToText(Reply::Array({"a", std::nullopt})), "[\"a\", nil]");
  EXPECT_EQ(ToText(Reply::Error("ERR no")), "ERR no");
  EXPECT_EQ(ToText(Reply::Ok()), "OK");
}

}  // namespace
}  // namespace depfast::kv
