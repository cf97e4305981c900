// One Redis client's conversation: the requests that its bytes become, and the order of the
// answers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kv_errors.h"
#include "redis_conversation.h"

namespace depfast::kv {
namespace {

class RedisConversationTest : public testing::Test {
 protected:
  // The commands that have become requests since the last call; their calls go to `calls`.
  std::vector<Command> Requests() {
    std::vector<Command> commands;
    for (const std::string& bytes : conversation.TakeFrames()) {
      std::string error;
      const auto frame = DecodeFrame(bytes, error);
      EXPECT_TRUE(frame && frame->header.method == KvRequest::kMethod) << error;
      calls.push_back(frame->header.call);
      commands.push_back(DecodeBody<KvRequest>(frame->body, error)->command);
    }
    return commands;
  }

  void Answer(CallId call, const Reply& reply) {
    conversation.OnFrame(EncodeFrame({FrameKind::kReply, KvRequest::kMethod, call, {}}, reply));
  }

  RedisConversation conversation{{.replica = 2, .port = 6379}};
  std::vector<CallId> calls;
};

TEST_F(RedisConversationTest, RepliesComeInTheOrderOfTheCommands) {
  conversation.OnBytes("SET x 1\r\nPING\r\nINCR x\r\nFROB\r\n");
  EXPECT_EQ(Requests(), (std::vector<Command>{{"SET", "x", "1"}, {"INCR", "x"}}));
  EXPECT_EQ(conversation.TakeOutput(), "");
  Answer(calls[1], Reply::Integer(2));
  EXPECT_EQ(conversation.TakeOutput(), "") << "the SET has no reply yet";
  EXPECT_FALSE(conversation.IsIdle());
  Answer(calls[0], Reply::Ok());
  EXPECT_EQ(conversation.TakeOutput(), "+OK\r\n+PONG\r\n:2\r\n-ERR unknown command 'FROB'\r\n");
  EXPECT_TRUE(conversation.IsIdle());
}

TEST_F(RedisConversationTest, AReadWaitsForTheWritesBeforeItAndTheOtherWayRound) {
  conversation.OnBytes("SET x 1\r\nGET x\r\nSET x 2\r\n");
  EXPECT_EQ(Requests(), (std::vector<Command>{{"SET", "x", "1"}}));
  EXPECT_FALSE(conversation.IsIdle());
  Answer(calls[0], Reply::Ok());
  EXPECT_TRUE(conversation.HasFrames());
  EXPECT_EQ(Requests(), (std::vector<Command>{{"GET", "x"}}));
  Answer(calls[1], Reply::String("1"));
  EXPECT_EQ(Requests(), (std::vector<Command>{{"SET", "x", "2"}}));
}

TEST_F(RedisConversationTest, AnswersThatNobodyAskedForAreIgnored) {
  conversation.OnBytes("GET x\r\n");
  Requests();
  Answer(calls[0] + 1, Reply::Ok());
  Answer(0, Reply::Ok());
  conversation.OnFrame("no frame");
  EXPECT_EQ(conversation.TakeOutput(), "");
  Answer(calls[0], Reply::Nil());
  Answer(calls[0], Reply::Ok());
  EXPECT_EQ(conversation.TakeOutput(), "$-1\r\n");
}

TEST_F(RedisConversationTest, AnErrorOfTheReplicaLeavesTheOutcomeUnknown) {
  conversation.OnBytes("INCR x\r\n");
  Requests();
  conversation.OnFrame(EncodeFrame({FrameKind::kError, KvRequest::kMethod, calls[0], {}},
                                   static_cast<std::uint32_t>(RpcError::kRejected)));
  EXPECT_EQ(conversation.TakeOutput(), "-" + UnknownOutcome().text + "\r\n");
}

TEST_F(RedisConversationTest, AProtocolErrorEndsItAfterTheRepliesBefore) {
  conversation.OnBytes("GET x\r\n*1\r\n!\r\nGET y\r\n");
  EXPECT_EQ(Requests(), (std::vector<Command>{{"GET", "x"}}));
  EXPECT_FALSE(conversation.WantsBytes());
  EXPECT_FALSE(conversation.IsOver());
  Answer(calls[0], Reply::Nil());
  EXPECT_EQ(conversation.TakeOutput(), "$-1\r\n-ERR Protocol error: expected '$', got '!'\r\n");
  EXPECT_TRUE(conversation.IsOver());
}

TEST_F(RedisConversationTest, MistakesInCommandsDoNotEndIt) {
  conversation.OnBytes("GET\r\nSET x 1 2\r\nSESSION 1 1\r\nECHO\r\nPING a b\r\nCONFIG SET x y\r\n");
  EXPECT_TRUE(Requests().empty());
  EXPECT_EQ(conversation.TakeOutput(),
            "-ERR wrong number of arguments for 'get' command\r\n"
            "-ERR wrong number of arguments for 'set' command\r\n"
            "-ERR wrong number of arguments for 'session' command\r\n"
            "-ERR wrong number of arguments for 'echo' command\r\n"
            "-ERR wrong number of arguments for 'ping' command\r\n"
            "-ERR of CONFIG there is only GET, with one name\r\n");
  EXPECT_TRUE(conversation.WantsBytes());
}

TEST_F(RedisConversationTest, AnswersWhatToolsAskBeforeTheyBegin) {
  conversation.OnBytes("PING hi\r\nECHO hi\r\nCOMMAND DOCS\r\nCONFIG GET save\r\nCONFIG GET x\r\n");
  EXPECT_EQ(conversation.TakeOutput(),
            "$2\r\nhi\r\n$2\r\nhi\r\n*0\r\n*2\r\n$4\r\nsave\r\n$0\r\n\r\n*0\r\n");
  conversation.OnBytes("INFO\r\n");
  EXPECT_NE(conversation.TakeOutput().find("tcp_port:6379\r\n"), std::string::npos);
  conversation.OnBytes("QUIT\r\nPING\r\n");
  EXPECT_EQ(conversation.TakeOutput(), "+OK\r\n");
  EXPECT_TRUE(conversation.IsOver());
}

TEST_F(RedisConversationTest, AnIncrementByOneIsAnIncr) {
  conversation.OnBytes("INCRBY x 1\r\nINCRBY x 2\r\n");
  EXPECT_EQ(Requests(), (std::vector<Command>{{"INCR", "x"}}));
  Answer(calls[0], Reply::Integer(1));
  EXPECT_EQ(conversation.TakeOutput(), ":1\r\n-ERR unknown command 'INCRBY'\r\n");
}

TEST_F(RedisConversationTest, TakesNoMoreThanItCanHaveUnderWay) {
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "INCR x\r\n";
  conversation.OnBytes(many);
  EXPECT_FALSE(conversation.WantsBytes());
  const std::size_t first = Requests().size();
  EXPECT_LT(first, 5000u);
  for (std::size_t i = 0; i < 5000; ++i) {
    ASSERT_LT(i, calls.size());
    Answer(calls[i], Reply::Integer(static_cast<std::int64_t>(i)));
    Requests();
  }
  EXPECT_TRUE(conversation.WantsBytes());
  EXPECT_TRUE(conversation.IsIdle());
}

}  // namespace
}  // namespace depfast::kv
