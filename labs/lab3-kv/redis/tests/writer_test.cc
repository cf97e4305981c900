// Replies as bytes, in both versions of the protocol.
#include <gtest/gtest.h>

#include <string>

#include "resp_writer.h"

namespace depfast::kv {
namespace {

std::string Resp2(const Reply& reply) { return RespWriter(Protocol::kResp2).Append(reply).Take(); }
std::string Resp3(const Reply& reply) { return RespWriter(Protocol::kResp3).Append(reply).Take(); }

TEST(RespWriter, WritesEveryKindOfReply) {
  const auto expect_both = [](const Reply& reply, const std::string& bytes) {
    EXPECT_EQ(Resp2(reply), bytes);
    EXPECT_EQ(Resp3(reply), bytes);
  };
  expect_both(Reply::Ok(), "+OK\r\n");
  expect_both(Reply::Integer(-7), ":-7\r\n");
  expect_both(Reply::String("a\r\nb"), "$4\r\na\r\nb\r\n");
  expect_both(Reply::String(""), "$0\r\n\r\n");
  expect_both(Reply::Array({"a", ""}), "*2\r\n$1\r\na\r\n$0\r\n\r\n");
  expect_both(Reply::Error("ERR no"), "-ERR no\r\n");
}

TEST(RespWriter, NilIsOfItsOwnKindInResp3) {
  EXPECT_EQ(Resp2(Reply::Nil()), "$-1\r\n");
  EXPECT_EQ(Resp3(Reply::Nil()), "_\r\n");
  EXPECT_EQ(Resp2(Reply::Array({std::nullopt})), "*1\r\n$-1\r\n");
  EXPECT_EQ(Resp3(Reply::Array({std::nullopt})), "*1\r\n_\r\n");
}

TEST(RespWriter, MapsSetsAndTextsAreOfResp3) {
  const auto written = [](Protocol protocol) {
    RespWriter out(protocol);
    out.Map(1).Bulk("k").Set(1).Status("s").Text("hi");
    return out.Take();
  };
  EXPECT_EQ(written(Protocol::kResp2), "*2\r\n$1\r\nk\r\n*1\r\n+s\r\n$2\r\nhi\r\n");
  EXPECT_EQ(written(Protocol::kResp3), "%1\r\n$1\r\nk\r\n~1\r\n+s\r\n=6\r\ntxt:hi\r\n");
}

}  // namespace
}  // namespace depfast::kv
