// One Redis client's conversation: the requests that its bytes become, and the order of the
// answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <string>
#include <utility>
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
    for (auto& [call, request] : conversation.TakeRequests()) {
      calls.push_back(call);
      commands.push_back(std::move(request.command));
    }
    return commands;
  }

  void Answer(CallId call, const Reply& reply) { conversation.OnReply(call, reply); }

  // The only command that has become a request since the last call. Its call is calls.back().
  Command Request() {
    auto requests = Requests();
    EXPECT_EQ(requests.size(), 1u);
    return requests.empty() ? Command{} : requests.front();
  }

  RedisConversation conversation{{.replica = 2, .port = 6379, .connection = 9}};
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
  EXPECT_TRUE(conversation.HasRequests());
  EXPECT_EQ(Requests(), (std::vector<Command>{{"GET", "x"}}));
  Answer(calls[1], Reply::String("1"));
  EXPECT_EQ(Requests(), (std::vector<Command>{{"SET", "x", "2"}}));
}

TEST_F(RedisConversationTest, WithoutADiskThePortAnswersForTheStore) {
  std::string failure = "cannot sync raft.wal: Input/output error";
  RedisConversation at_broken({.replica = 2, .port = 6379, .disk_failure = &failure});
  at_broken.OnBytes("SET x 1\r\nGET x\r\nINCRBY x 2\r\nPING\r\n");
  const std::string refused =
      "-TRYAGAIN the disk of this replica has failed (" + failure + "); nothing is changed\r\n";
  EXPECT_EQ(at_broken.TakeOutput(), refused + refused + refused + "+PONG\r\n");
  EXPECT_FALSE(at_broken.HasRequests());
  failure.clear();
  at_broken.OnBytes("SET x 1\r\n");
  EXPECT_TRUE(at_broken.HasRequests()) << "the replica is in service again";
}

TEST_F(RedisConversationTest, AnswersThatNobodyAskedForAreIgnored) {
  conversation.OnBytes("GET x\r\n");
  Requests();
  Answer(calls[0] + 1, Reply::Ok());
  Answer(0, Reply::Ok());
  conversation.OnError(0, RpcError::kRejected);
  EXPECT_EQ(conversation.TakeOutput(), "");
  Answer(calls[0], Reply::Nil());
  Answer(calls[0], Reply::Ok());
  EXPECT_EQ(conversation.TakeOutput(), "$-1\r\n");
  conversation.OnBytes("INCR x\r\n");
  Requests();
  conversation.OnError(calls[1], RpcError::kRejected);
  EXPECT_EQ(conversation.TakeOutput(), "-" + UnknownOutcome().text + "\r\n");
}

TEST_F(RedisConversationTest, AProtocolErrorOrAQuitEndsItAfterTheRepliesBefore) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"*1\r\n!\r\n", "-ERR Protocol error: expected '$', got '!'\r\n"}, {"QUIT\r\n", "+OK\r\n"}};
  for (const auto& [last, answer] : cases) {
    RedisConversation one{{}};
    one.OnBytes("GET x\r\n" + last + "GET y\r\n");
    const auto requests = one.TakeRequests();
    ASSERT_EQ(requests.size(), 1u) << last;
    EXPECT_EQ(requests[0].request.command, (Command{"GET", "x"}));
    EXPECT_FALSE(one.WantsBytes());
    EXPECT_FALSE(one.IsOver());
    one.OnReply(requests[0].call, Reply::Nil());
    EXPECT_EQ(one.TakeOutput(), "$-1\r\n" + answer);
    EXPECT_TRUE(one.IsOver());
  }
}

TEST_F(RedisConversationTest, MistakesInCommandsDoNotEndIt) {
  conversation.OnBytes("GET\r\nSET x 1 NX\r\nSESSION 1 1\r\nPING a b\r\nCONFIG SET x y\r\n");
  EXPECT_TRUE(Requests().empty());
  EXPECT_EQ(conversation.TakeOutput(),
            "-ERR wrong number of arguments for 'get' command\r\n"
            "-ERR syntax error: SET has no options in this store\r\n"
            "-ERR wrong number of arguments for 'session' command\r\n"
            "-ERR wrong number of arguments for 'ping' command\r\n"
            "-ERR unknown command 'CONFIG|SET'\r\n");
  EXPECT_TRUE(conversation.WantsBytes());
}

TEST_F(RedisConversationTest, ACommandThatIsTooLargeIsRefusedInItsOrder) {
  const std::string value(kArgumentBytesMax + 1, 'v');
  conversation.OnBytes("GET x\r\n*2\r\n$4\r\nECHO\r\n$" + std::to_string(value.size()) + "\r\n");
  conversation.OnBytes(value + "\r\nPING\r\n");
  EXPECT_EQ(Request(), (Command{"GET", "x"}));
  Answer(calls[0], Reply::Nil());
  EXPECT_EQ(conversation.TakeOutput(), "$-1\r\n-" + TooLarge().text + "\r\n+PONG\r\n");
  EXPECT_FALSE(conversation.IsOver());
}

TEST_F(RedisConversationTest, ATransactionIsRefusedWhole) {
  const std::string begin =
      "-ERR MULTI is not supported; nothing is executed up to EXEC or DISCARD\r\n";
  const std::string inside =
      "-ERR not executed: MULTI is not supported, and EXEC or DISCARD has not come\r\n";
  conversation.OnBytes("multi\r\nINCR x\r\nDECR x\r\nFROB\r\nexec\r\n");
  EXPECT_TRUE(Requests().empty());
  EXPECT_EQ(conversation.TakeOutput(),
            begin + inside + inside + inside +
                "-EXECABORT nothing is executed: MULTI is not supported\r\n");
  conversation.OnBytes("MULTI\r\nINCR x\r\nDISCARD\r\nINCR x\r\n");
  EXPECT_EQ(conversation.TakeOutput(), begin + inside + "+OK\r\n");
  EXPECT_EQ(Request(), (Command{"INCR", "x"}));
  Answer(calls.back(), Reply::Integer(1));
  conversation.OnBytes("EXEC\r\nMULTI\r\nQUIT\r\n");
  EXPECT_EQ(conversation.TakeOutput(), ":1\r\n-ERR unknown command 'EXEC'\r\n" + begin + "+OK\r\n");
  EXPECT_TRUE(conversation.IsOver());
}

TEST_F(RedisConversationTest, ABrowserIsNotServed) {
  for (const std::string first : {"POST / HTTP/1.1", "GET / HTTP/1.1\r\nHost: store"}) {
    RedisConversation browser{{}};
    browser.OnBytes(first + "\r\nContent-Length: 9\r\n\r\nSET x 1\r\n");
    EXPECT_TRUE(browser.IsOver()) << first;
    EXPECT_FALSE(browser.HasRequests()) << first;
  }
  conversation.OnBytes("PING\r\nhost: store\r\nPING\r\n");
  EXPECT_EQ(conversation.TakeOutput(), "+PONG\r\n") << "what came before is served";
  EXPECT_TRUE(conversation.IsOver());
}

TEST_F(RedisConversationTest, EachReplyIsInTheProtocolOfItsCommand) {
  conversation.OnBytes("GET x\r\nHELLO 3\r\nGET x\r\nMGET x y\r\nHELLO 2 SETNAME me\r\nGET x\r\n");
  EXPECT_EQ(Requests().size(), 4u);
  for (const std::size_t i : std::vector<std::size_t>{3, 1, 0}) Answer(calls[i], Reply::Nil());
  Answer(calls[2], Reply::Array({"1", std::nullopt}));
  const std::string output = conversation.TakeOutput();
  EXPECT_TRUE(output.starts_with("$-1\r\n%7\r\n$6\r\nserver\r\n")) << output;
  EXPECT_NE(output.find("*0\r\n_\r\n*2\r\n$1\r\n1\r\n_\r\n*14\r\n$6\r\nserver\r\n"),
            std::string::npos)
      << output;
  EXPECT_TRUE(output.ends_with("*0\r\n$-1\r\n")) << output;
}

TEST_F(RedisConversationTest, AnIncrementByOneIsAnIncr) {
  conversation.OnBytes("INCRBY x 1\r\nINCRBY x\r\n");
  EXPECT_EQ(Requests(), (std::vector<Command>{{"INCR", "x"}}));
  Answer(calls[0], Reply::Integer(1));
  EXPECT_EQ(conversation.TakeOutput(),
            ":1\r\n-ERR wrong number of arguments for 'incrby' command\r\n");
}

TEST_F(RedisConversationTest, AnIncrementRunsAloneAndInItsOrder) {
  conversation.OnBytes("SET x 1\r\nINCRBY x 5\r\nPING\r\nSET x 9\r\n");
  EXPECT_EQ(Request(), (Command{"SET", "x", "1"}));
  Answer(calls.back(), Reply::Ok());
  EXPECT_EQ(Request(), (Command{"GET", "x"}));
  Answer(calls.back(), Reply::String("1"));
  EXPECT_EQ(Request(), (Command{"CAS", "x", "1", "6"}));
  EXPECT_FALSE(conversation.WantsBytes());
  EXPECT_EQ(conversation.TakeOutput(), "+OK\r\n");
  Answer(calls.back(), Reply::Integer(1));
  EXPECT_EQ(conversation.TakeOutput(), ":6\r\n+PONG\r\n");
  EXPECT_EQ(Request(), (Command{"SET", "x", "9"}));
}

TEST_F(RedisConversationTest, AnErrorAfterAnIncrementComesAfterItsReply) {
  conversation.OnBytes("DECR x\r\n*1\r\n!\r\n");
  Request();
  Answer(calls.back(), Reply::Nil());
  EXPECT_EQ(Request(), (Command{"SETNX", "x", "-1"}));
  EXPECT_EQ(conversation.TakeOutput(), "");
  Answer(calls.back(), Reply::Integer(1));
  EXPECT_EQ(conversation.TakeOutput(), ":-1\r\n-ERR Protocol error: expected '$', got '!'\r\n");
  EXPECT_TRUE(conversation.IsOver());
}

TEST_F(RedisConversationTest, ASecondCopyOfAReplyIsNoReplyToTheNextStep) {
  conversation.OnBytes("DECR x\r\n");
  EXPECT_EQ(Request(), (Command{"GET", "x"}));
  const CallId read = calls.back();
  Answer(read, Reply::String("1"));
  EXPECT_EQ(Request(), (Command{"CAS", "x", "1", "0"}));
  Answer(read, Reply::Integer(1));
  EXPECT_EQ(conversation.TakeOutput(), "");
  conversation.OnError(calls.back(), RpcError::kRejected);
  EXPECT_EQ(conversation.TakeOutput(), "-" + UnknownOutcome().text + "\r\n");
  EXPECT_TRUE(conversation.IsIdle());
}

// A client that asks for many answers, and a replica that gives them one at a time.
class RedisMemoryTest : public testing::Test {
 protected:
  static constexpr std::size_t kLarge = kArgumentBytesMax;
  // The bytes of one large answer in the protocol.
  static constexpr std::size_t kAnswer = kLarge + 16;

  void Take() {
    for (auto& request : one.TakeRequests()) requests_.push_back(std::move(request));
  }

  // The reply to the GET of a number has that number and `bytes` bytes. False if nothing is asked.
  bool AnswerNext(std::size_t bytes) {
    Take();
    if (requests_.empty()) return false;
    const auto [call, request] = std::move(requests_.front());
    requests_.pop_front();
    std::string value = request.command.at(1);
    value.resize(bytes, '.');
    one.OnReply(call, Reply::String(value));
    held_max_ = std::max(held_max_, budget_.held());
    asked_max_ = std::max(asked_max_, requests_.size());
    return true;
  }

  void AnswerAll(std::size_t bytes) {
    while (AnswerNext(bytes)) {
    }
  }

  // The client reads what is there. Returns the number of bytes.
  std::size_t Read() {
    const std::string output = one.TakeOutput();
    heard_ += output;
    one.OnRoom(output.size());
    return output.size();
  }

  // The client reads large answers until there are no more. Returns the numbers in all it has read.
  std::vector<int> ReadAll() {
    do {
      AnswerAll(kLarge);
    } while (Read() > 0);
    return Numbers();
  }

  void ExpectLittleWasHeld() const {
    EXPECT_LE(held_max_, RedisConversation::kHeldBytesMax + kAnswer);
    EXPECT_EQ(budget_.held(), 0u);
  }

  static std::string Gets(int from, int to) {
    std::string text;
    for (int i = from; i < to; ++i) text += "GET " + std::to_string(1000 + i) + "\r\n";
    return text;
  }

  // The numbers in the answers.
  std::vector<int> Numbers() const {
    std::vector<int> numbers;
    for (std::size_t at = 0; at < heard_.size();) {
      const std::size_t line = heard_.find("\r\n", at);
      const std::size_t bytes = std::stoul(heard_.substr(at + 1, line - at - 1));
      numbers.push_back(std::stoi(heard_.substr(line + 2, 4)) - 1000);
      at = line + 2 + bytes + 2;
    }
    return numbers;
  }

  static std::vector<int> UpTo(int count) {
    std::vector<int> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }

  static constexpr std::size_t kBudget = std::size_t{64} << 20;
  real::ByteBudget budget_{kBudget};
  RedisConversation one{{.budget = &budget_}};
  std::string heard_;
  std::deque<RedisConversation::Request> requests_;
  std::size_t held_max_ = 0;
  std::size_t asked_max_ = 0;
};

TEST_F(RedisMemoryTest, LargeAnswersAreAskedForAsEarlierOnesLeave) {
  one.OnBytes(Gets(0, 200));
  AnswerAll(kLarge);
  EXPECT_FALSE(one.WantsBytes());
  EXPECT_GT(budget_.held(), RedisConversation::kHeldBytesMax / 2);
  EXPECT_EQ(ReadAll(), UpTo(200));
  EXPECT_LE(asked_max_, RedisConversation::kFirstReadsMax);
  EXPECT_TRUE(one.IsIdle());
  ExpectLittleWasHeld();
}

TEST_F(RedisMemoryTest, AnswersLargerThanExpectedAreAskedForAgainInOrder) {
  one.OnBytes(Gets(0, 300));
  AnswerAll(10);
  Read();
  one.OnBytes(Gets(300, 900));
  Take();
  EXPECT_EQ(requests_.size(), 600u) << "the latest answers were short";
  EXPECT_EQ(ReadAll(), UpTo(900));
  ExpectLittleWasHeld();
}

TEST_F(RedisMemoryTest, LargeRequestsWaitForTheRepliesToEarlierOnes) {
  const std::string set = "*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$" + std::to_string(kLarge) + "\r\n" +
                          std::string(kLarge, 'v') + "\r\n";
  for (int i = 0; i < 50 && one.WantsBytes(); ++i) one.OnBytes(set);
  Take();
  EXPECT_LE(requests_.size(), RedisConversation::kHeldBytesMax / kLarge);
  EXPECT_FALSE(one.WantsBytes());
  EXPECT_LE(budget_.held(), RedisConversation::kHeldBytesMax);
  AnswerAll(2);
  EXPECT_TRUE(one.WantsBytes());
}

TEST_F(RedisMemoryTest, TheReplyToAWriteHasRoomBeforeTheWriteIsSent) {
  for (int i = 0; i < 50; ++i) one.OnBytes("GETSET 1234 v\r\n");
  Take();
  EXPECT_LE(requests_.size(), RedisConversation::kHeldBytesMax / kLarge);
  EXPECT_EQ(ReadAll().size(), 50u);
  ExpectLittleWasHeld();
}

TEST_F(RedisMemoryTest, UnfinishedCommandsHaveALimitOverAllClients) {
  constexpr std::size_t kPart = kArgumentBytesMax / 2;
  real::ByteBudget unfinished{kPart * 5 / 2};
  const std::string part = "*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$1048576\r\n" + std::string(kPart, 'v');
  RedisConversation finishes({.unfinished = &unfinished});
  finishes.OnBytes(part);
  {
    RedisConversation leaves({.unfinished = &unfinished});
    leaves.OnBytes(part);
    EXPECT_GE(unfinished.held(), 2 * kPart);

    RedisConversation refused({.unfinished = &unfinished});
    refused.OnBytes(part);
    EXPECT_TRUE(refused.TakeOutput().starts_with("-ERR the unfinished commands of all clients"));
    EXPECT_TRUE(refused.IsOver());

    RedisConversation small({.unfinished = &unfinished});
    small.OnBytes("PING");
    EXPECT_FALSE(small.IsOver());
    small.OnBytes("\r\n");
    EXPECT_EQ(small.TakeOutput(), "+PONG\r\n");
  }
  EXPECT_LT(unfinished.held(), 2 * kPart) << "a connection that ends leaves nothing";
  finishes.OnBytes(std::string(kPart, 'v') + "\r\n");
  EXPECT_EQ(finishes.TakeRequests().size(), 1u);
  EXPECT_EQ(unfinished.held(), 0u);
}

TEST_F(RedisMemoryTest, AFullBudgetLeavesEachClientOneCommand) {
  budget_.Add(kBudget);  // of others
  one.OnBytes(Gets(0, 10));
  AnswerAll(kLarge);
  EXPECT_LE(budget_.held(), kBudget + 2 * kAnswer);
  EXPECT_TRUE(one.WaitsForOthers());
  EXPECT_EQ(ReadAll(), UpTo(10)) << "slowly, but all";
  one.OnBytes(Gets(10, 20));
  EXPECT_TRUE(one.WaitsForOthers());
  budget_.Remove(kBudget);
  one.OnRoom(0);
  EXPECT_FALSE(one.WaitsForOthers());
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
