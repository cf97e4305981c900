// Requests, replies and frames that cannot be decoded.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "depfast/host/codec.h"
#include "rpc_fixture.h"

namespace depfast {
namespace {

// Same method as Echo, but a body that Echo's handler cannot decode, and the reverse.
struct MisfitReply {
  int number = 0;
  DEPFAST_FIELDS(number)
};
struct MisfitRequest {
  using Reply = MisfitReply;
  static constexpr MethodId kMethod = 1;
  static constexpr const char* kName = "Misfit";
  int number = 0;
  DEPFAST_FIELDS(number)
};
struct MisreadRequest {  // a good request, whose reply is read as something else
  using Reply = MisfitReply;
  static constexpr MethodId kMethod = 1;
  static constexpr const char* kName = "Misread";
  std::string text;
  DEPFAST_FIELDS(text)
};

TEST_F(RpcTest, AMisfittingRequestIsCountedAndRefused) {
  ServeEcho(1);
  const auto call = Call(1, MisfitRequest{5});
  RoundTrip(1);
  EXPECT_EQ(call->error(), RpcError::kMalformed);
  EXPECT_EQ(node(1).rpc().counters().malformed_frames, 1U);
  EXPECT_EQ(node(1).rpc().last_malformed().rfind("from 0: Echo: ", 0), 0U)
      << node(1).rpc().last_malformed();
  EXPECT_EQ(client().rpc().counters().malformed_frames, 0U);
}

TEST_F(RpcTest, AMisfittingReplyIsCountedAndFailsTheCall) {
  ServeEcho(1);
  const auto call = Call(1, MisreadRequest{"x"});
  RoundTrip(1);
  EXPECT_TRUE(call->IsFailed());
  EXPECT_FALSE(call->IsReady());
  EXPECT_EQ(call->error(), RpcError::kMalformed);
  EXPECT_EQ(client().rpc().counters().malformed_frames, 1U);
  EXPECT_NE(client().rpc().last_malformed().find("Misread reply"), std::string::npos);
}

TEST_F(RpcTest, GarbageIsCountedAndNotAnswered) {
  Step(1, {{0, MakeBytes("garbage")}, {0, MakeBytes("")}});
  EXPECT_EQ(node(1).rpc().counters().malformed_frames, 2U);
  EXPECT_TRUE(node(1).sent.empty());
  EXPECT_EQ(node(1).death, "");
}

TEST_F(RpcTest, ErrorFramesCarryOnlyKnownErrors) {
  // A peer can neither make us believe in a local error (a timeout), nor in one unheard of.
  for (const std::uint32_t code : {0U, 1U, 2U, 6U, 4'000'000'000U}) {
    const auto call = Call(1, Echo{"x"});
    std::string error;
    FrameHeader header = DecodeFrame(*client().sent.back().bytes, error)->header;
    header.kind = FrameKind::kError;
    Step(0, {{1, MakeBytes(EncodeFrame(header, code))}});
    EXPECT_EQ(call->error(), RpcError::kMalformed) << code;
  }
  EXPECT_EQ(client().rpc().counters().malformed_frames, 5U);
}

}  // namespace
}  // namespace depfast
