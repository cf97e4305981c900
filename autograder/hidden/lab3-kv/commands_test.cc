// Hidden tests: the effects and replies of the commands.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kv_world.h"
#include "linearizability/kv_model.h"
#include "linearizability/replies.h"
#include "testkit/client.h"
#include "testkit/environment.h"
#include "testkit/some.h"

namespace depfast::kv {
namespace {

std::string Pick(RandomStream& random, const std::vector<std::string>& from) {
  return from[random.Below(from.size())];
}

Command RandomCommand(RandomStream& random) {
  // Some keys are names of commands: the first word is no key.
  const std::vector<std::string> keys = {"a", "b", "DEL", "EXISTS", "MGET"};
  const std::vector<std::string> values = {"1", "2", "-7", "text", "0", ""};
  const std::string key = Pick(random, keys);
  const std::string other = Pick(random, keys);
  const std::string value = Pick(random, values);
  const std::string other_value = Pick(random, values);
  switch (random.Below(12)) {
    case 0:
      return {"GET", key};
    case 1:
      return {"SET", key, value};
    case 2:
      return {"DEL", key, other};
    case 3:
      return {"EXISTS", key, other, key};
    case 4:
      return {"INCR", key};
    case 5:
      return {"APPEND", key, value};
    case 6:
      return {"MGET", key, other};
    case 7:
      return {"MSET", key, value, other, other_value};
    case 8:
      return {"SETNX", key, value};
    case 9:
      return {"STRLEN", key};
    case 10:
      return {"GETSET", key, value};
    default:
      return {"CAS", key, value, other_value};
  }
}

// Every command with one key, with these values as its arguments.
std::vector<Command> CommandsOn(const std::string& key, const std::vector<std::string>& values) {
  std::vector<Command> commands = {{"GET", key},  {"STRLEN", key}, {"EXISTS", key, key},
                                   {"INCR", key}, {"DEL", key},    {"DEL", key, key}};
  for (const std::string& value : values) {
    commands.push_back({"SET", key, value});
    commands.push_back({"SETNX", key, value});
    commands.push_back({"GETSET", key, value});
    commands.push_back({"APPEND", key, value});
    for (const std::string& other : values) commands.push_back({"CAS", key, value, other});
  }
  return commands;
}

// Gives commands to the cluster and to the contract's model, and compares their replies.
class Comparison {
 public:
  explicit Comparison(KvWorld& world) : world_(world) {}

  void Do(const Command& command) {
    const ParsedCommand known(command);
    const Reply reply = world_.Do(command);
    const Reply expected = model_.Execute(known);
    ASSERT_TRUE(AreSame(reply, expected))
        << "expected " << ToText(expected) << ", got " << ToText(reply) << ", to command "
        << ++done_ << ": " << known.Text();
  }

 private:
  KvWorld& world_;
  KvModel model_;
  int done_ = 0;
};

GRADED_TEST(KvCommands, AnswerLikeTheContract, "commands", 3,
            "Every command on every kind of value, and any sequence of commands, gives the replies "
            "of the contract.") {
  KvWorld world({.replicas = 3, .seed = 700});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  Comparison comparison(world);
  const std::vector<std::string> values = {"", "0", "-7", "text"};
  for (const std::string& held : values) {
    for (const Command& command : testkit::Some(CommandsOn("x", values))) {
      ASSERT_NO_FATAL_FAILURE(comparison.Do({"SET", "x", held}));
      ASSERT_NO_FATAL_FAILURE(comparison.Do(command));
      ASSERT_NO_FATAL_FAILURE(comparison.Do({"GET", "x"}));
    }
  }
  for (const Command& command : testkit::Some(CommandsOn("absent", values))) {
    ASSERT_NO_FATAL_FAILURE(comparison.Do({"DEL", "absent"}));
    ASSERT_NO_FATAL_FAILURE(comparison.Do(command));
    ASSERT_NO_FATAL_FAILURE(comparison.Do({"GET", "absent"}));
  }
  RandomStream random(world.cluster.simulator().options().seed, 700, 1);
  for (int i = 0; i < 400; ++i) ASSERT_NO_FATAL_FAILURE(comparison.Do(RandomCommand(random)));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvCommands, IncrCountsIntegersOnly, "commands", 3,
            "INCR takes a 64-bit integer in its printed form, and refuses all other values.") {
  KvWorld world({.replicas = 3, .seed = 703});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  for (const char* text : {"text", "", " 1", "1 ", "+1", "01", "-0", "1.0", "1x",
                           "9223372036854775808", "-9223372036854775809"}) {
    EXPECT_EQ(world.Do({"SET", "x", text}), Reply::Ok());
    EXPECT_TRUE(HasCode(world.Do("INCR x"), "ERR")) << "INCR of '" << text << "'";
    EXPECT_EQ(world.Do("GET x"), Reply::String(text)) << "a refused INCR must change nothing";
  }
  EXPECT_EQ(world.Do("SET x 9223372036854775806"), Reply::Ok());
  EXPECT_EQ(world.Do("INCR x"), Reply::Integer(9223372036854775807));
  EXPECT_TRUE(HasCode(world.Do("INCR x"), "ERR")) << "INCR must not overflow";
  EXPECT_EQ(world.Do("SET x -9223372036854775808"), Reply::Ok());
  EXPECT_EQ(world.Do("INCR x"), Reply::Integer(-9223372036854775807));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvCommands, HoldAnyBytes, "commands", 2, "Keys and values are strings of any bytes.") {
  KvWorld world({.replicas = 3, .seed = 704});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(world.Do({"SET", all, all}), Reply::Ok());
  EXPECT_EQ(world.Do({"SET", "", "empty key"}), Reply::Ok());
  EXPECT_EQ(world.Do({"GET", all}), Reply::String(all));
  EXPECT_EQ(world.Do({"MGET", "", all}), Reply::Array({"empty key", all}));
  EXPECT_EQ(world.Do({"STRLEN", all}), Reply::Integer(256));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvCommands, RefusedCommandsAreNotLogged, "commands", 2,
            "A command that cannot be executed is refused at once, without a log entry.") {
  KvWorld world({.replicas = 3, .seed = 705});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_EQ(world.Do("SET x 1"), Reply::Ok());
  const std::uint64_t before = world.log().CommittedUpTo();
  const std::vector<Command> bad = {
      {},
      {""},
      {"FLUSHALL"},
      {"GET"},
      {"SET", "x"},
      {"SET", "x", "2", "3"},
      {"MSET", "x", "2", "y"},
      {"SESSION"},
      {"SESSION", "1", "1"},
      {"SESSION", "1", "1", "GET"},
      {"SESSION", "1", "1", "SESSION", "1", "1"},
      {"SET", "x", std::string(kArgumentBytesMax + 1, 'x')},
      Command(kArgumentsMax + 1, "DEL"),
  };
  for (const Command& command : bad) {
    EXPECT_TRUE(HasCode(world.Do(command), "ERR"))
        << "to " << (command.empty() ? "an empty command" : command[0]) << " with "
        << command.size() << " words";
  }
  EXPECT_EQ(world.log().CommittedUpTo(), before) << "the log has grown";
  EXPECT_EQ(world.Do("GET x"), Reply::String("1"));
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(KvCommands, ValuesAndRepliesHaveLimits, "commands", 3,
            "APPEND makes values up to its limit and no longer ones, and MGET replies likewise.") {
  KvWorld world({.replicas = 3, .seed = 706});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  const std::string longest(kArgumentBytesMax, 'x');
  ASSERT_EQ(world.Do({"SET", "x", longest.substr(1)}), Reply::Ok());
  EXPECT_TRUE(HasCode(world.Do("APPEND x xx"), "ERR"));
  EXPECT_EQ(world.Do("STRLEN x"), Reply::Integer(static_cast<std::int64_t>(longest.size() - 1)));
  EXPECT_EQ(world.Do("APPEND x x"), Reply::Integer(static_cast<std::int64_t>(longest.size())));
  EXPECT_TRUE(HasCode(world.Do("APPEND x y"), "ERR"));
  EXPECT_EQ(world.Do({"APPEND", "x", ""}),
            Reply::Integer(static_cast<std::int64_t>(longest.size())));
  EXPECT_EQ(world.Do("STRLEN x"), Reply::Integer(static_cast<std::int64_t>(longest.size())));
  EXPECT_EQ(world.Do("GET x"), Reply::String(longest));
  EXPECT_EQ(world.Do({"APPEND", "absent", longest}),
            Reply::Integer(static_cast<std::int64_t>(longest.size())));
  ASSERT_EQ(world.Do("DEL absent"), Reply::Integer(1));
  EXPECT_TRUE(HasCode(world.Do("MGET x x x x x x x x x"), "ERR"));
  static_assert(kReplyBytesMax == 8 * kArgumentBytesMax);
  EXPECT_EQ(world.Do("MGET x x x x x x x x").items.size(), 8u) << "exactly kReplyBytesMax";
  ASSERT_EQ(world.Do("SET byte 1"), Reply::Ok());
  EXPECT_EQ(world.Do("MGET x absent x x x x x x x").items.size(), 9u);
  EXPECT_TRUE(HasCode(world.Do("MGET x x x x x x x x byte"), "ERR"));
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The disks are so slow that all commands of a burst are under way together.
GRADED_TEST(KvCommands, ABurstLeavesNothingBehind, "commands", 1,
            "After each of two bursts of 2,000 commands a replica executes commands as before.") {
  constexpr int kBurst = 2000;
  KvWorld world({.replicas = 3, .seed = 707});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  KvClient client(world.cluster.simulator(), {.answer_timeout = 5s});
  for (int burst = 1; burst <= 2; ++burst) {
    int ended = 0;
    world.cluster.Begin(faults::FsDelay({0, 1, 2}, 100ms));
    for (int i = 0; i < kBurst; ++i) {
      const Command command = i % 2 == 0 ? Words("SET x 1") : Words("GET x");
      client.Ask(leader, command, [&](const KvOutcome&) { ++ended; });
    }
    ASSERT_TRUE(world.cluster.RunUntil([&] { return ended == kBurst; }, 6s))
        << kBurst - ended << " commands have no answer";
    world.cluster.Heal();
    const std::string after = "after " + std::to_string(burst);
    EXPECT_EQ(world.Do({"SET", "x", after}), Reply::Ok());
    EXPECT_EQ(world.Do("GET x"), Reply::String(after));
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

// A command that a follower's driver has passed on may come when its receiver leads no longer. The
// receiver answers for its own log alone: it has not taken the command, and will not.
GRADED_TEST(KvCommands, AFollowerRefusesWhatItIsGiven, "commands", 2,
            "A replica that does not propose refuses a command that was forwarded to it with "
            "TRYAGAIN.") {
  KvWorld world({.replicas = 3, .seed = 708});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  testkit::Client driver(world.cluster.simulator());
  std::uint64_t forwards = 0;
  for (const PeerId follower : testkit::Some(world.Others(leader))) {
    for (const char* line : {"SET x 1", "GET x", "SESSION NEW", "MGET x y", "INCR x"}) {
      std::optional<Reply> answer;
      bool ended = false;
      driver.Call(follower, KvRequest{Words(line), ++forwards}, 1s,
                  [&](const std::optional<Reply>& reply) {
                    answer = reply;
                    ended = true;
                  });
      ASSERT_TRUE(world.cluster.RunUntil([&] { return ended; }, 2s))
          << "replica " << follower << " does not answer " << line;
      EXPECT_TRUE(answer && HasCode(*answer, "TRYAGAIN")) << "to " << line;
    }
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

// Writers set both keys to one value, readers read both.
GRADED_TEST(KvCommands, MsetAndMgetHappenAtOneInstant, "commands", 3,
            "MSET changes all its keys atomically, and MGET reads all its keys atomically.") {
  constexpr int kClients = 6;
  constexpr int kEach = 40;
  KvWorld world({.replicas = 3, .seed = 707});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  int left = kClients * kEach;
  std::vector<std::unique_ptr<KvClient>> clients;
  std::function<void(int, int)> next = [&](int who, int number) {
    if (number == kEach) return;
    const std::string value = std::to_string(who) + "-" + std::to_string(number);
    const Command command =
        who % 2 == 0 ? Command{"MSET", "a", value, "b", value} : Command{"MGET", "a", "b"};
    world.Start(*clients[static_cast<std::size_t>(who)], who, command,
                [&, who, number](const KvOutcome& outcome) {
                  --left;
                  if (who % 2 == 1 && outcome.is_known()) {
                    const auto& items = outcome.reply->items;
                    EXPECT_TRUE(items.size() == 2 && items[0] == items[1])
                        << "MGET saw half of an MSET: " << ToText(*outcome.reply);
                  }
                  next(who, number + 1);
                });
  };
  for (int who = 0; who < kClients; ++who) {
    clients.push_back(std::make_unique<KvClient>(world.cluster.simulator()));
    next(who, 0);
  }
  ASSERT_TRUE(world.cluster.RunUntil([&] { return left == 0; }, 20s))
      << left << " commands have no answer";
  EXPECT_TRUE(world.IsLinearizable());
}

}  // namespace
}  // namespace depfast::kv
