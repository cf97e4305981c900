// The commands that the port answers by itself.
#include "port_commands.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "command_table.h"
#include "increment.h"
#include "kv_commands.h"
#include "resp_parser.h"

namespace depfast::kv {
namespace {

class PortCommands : public testing::Test {
 protected:
  // The reply to a line of words; "(store)" if the command is not the port's.
  std::string Ask(const std::string& line) {
    return ServeAtPort(*SplitWords(line), {.replica = 2, .port = 6379, .connection = 9}, client)
        .value_or("(store)");
  }

  void Expect(const std::vector<std::pair<std::string, std::string>>& replies) {
    ASSERT_FALSE(replies.empty());
    for (const auto& [line, reply] : replies) EXPECT_EQ(Ask(line), reply + "\r\n") << line;
  }

  ClientState client;
};

TEST_F(PortCommands, LeavesTheCommandsOfTheStoreAlone) {
  for (const char* const line : {"GET x", "SESSION NEW", "INCRBY x 2", "QUIT", "FROB", "SCAN 0"}) {
    EXPECT_EQ(Ask(line), "(store)") << line;
  }
}

TEST_F(PortCommands, AnswersWhatToolsAsk) {
  Expect({{"ping", "+PONG"},
          {"PING hi", "$2\r\nhi"},
          {"ECHO hi", "$2\r\nhi"},
          {"SELECT 0", "+OK"},
          {"SELECT 1", "-ERR DB index is out of range"},
          {"SELECT -1", "-ERR DB index is out of range"},
          {"SELECT x", "-ERR value is not an integer or out of range"},
          {"CLIENT SETINFO LIB-NAME redis-py", "+OK"},
          {"client setinfo lib-ver 8.1.0", "+OK"},
          {"CLIENT SETINFO LIB-VER \"8 1\"",
           "-ERR lib-ver cannot contain spaces, newlines or special characters."},
          {"CLIENT SETINFO COLOUR red", "-ERR CLIENT SETINFO knows LIB-NAME and LIB-VER only"},
          {"AUTH secret", "-ERR AUTH is not supported: there are no users and no passwords"},
          {"CLIENT KILL x", "-ERR unknown command 'CLIENT|KILL'"},
          {"CONFIG SET save x", "-ERR unknown command 'CONFIG|SET'"},
          {"COMMAND \"a\\r\\nb\"", "-ERR unknown command 'COMMAND|a??b'"}});
  EXPECT_NE(Ask("INFO server").find("tcp_port:6379\r\n"), std::string::npos);
}

TEST_F(PortCommands, InfoTellsThatTheDiskHasFailed) {
  std::string failure;
  const auto ask = [&] {
    return *ServeAtPort({"INFO"}, {.replica = 2, .port = 6379, .disk_failure = &failure}, client);
  };
  EXPECT_NE(ask().find("\r\naof_last_write_status:ok\r\n"), std::string::npos) << ask();
  EXPECT_EQ(ask().find("disk_failure:"), std::string::npos) << ask();
  failure = "cannot write raft.wal: No space left on device";
  EXPECT_NE(ask().find("\r\naof_last_write_status:err\r\ndisk_failure:" + failure + "\r\n"),
            std::string::npos)
      << ask();
}

TEST_F(PortCommands, HelloChoosesTheProtocol) {
  const std::string rest =
      "$6\r\nserver\r\n$11\r\nfailslow-kv\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:3\r\n"
      "$2\r\nid\r\n:9\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
      "$7\r\nmodules\r\n*0\r\n";
  EXPECT_TRUE(Ask("HELLO").starts_with("*14\r\n"));
  EXPECT_EQ(Ask("HELLO 3"), "%7\r\n" + rest);
  EXPECT_EQ(client.protocol, Protocol::kResp3);
  EXPECT_EQ(Ask("hello"), "%7\r\n" + rest);
  EXPECT_TRUE(Ask("HELLO 2 SETNAME me").starts_with("*14\r\n"));
  EXPECT_EQ(client.protocol, Protocol::kResp2);
  EXPECT_EQ(Ask("CLIENT GETNAME"), "$2\r\nme\r\n");
}

TEST_F(PortCommands, AWrongHelloChangesNothing) {
  Expect({
      {"HELLO 1", "-NOPROTO unsupported protocol version"},
      {"HELLO 4", "-NOPROTO unsupported protocol version"},
      {"HELLO x", "-ERR Protocol version is not an integer or out of range"},
      {"HELLO 3 SETNAME", "-ERR Syntax error in HELLO option 'SETNAME'"},
      {"HELLO 3 AUTH me", "-ERR Syntax error in HELLO option 'AUTH'"},
      {"HELLO 3 SETNAME me \"a\\nb\"", "-ERR Syntax error in HELLO option '?'"},
      {"HELLO 3 SETNAME \"a b\"",
       "-ERR Client names cannot contain spaces, newlines or special characters."},
      {"HELLO 3 SETNAME me AUTH me secret",
       "-ERR AUTH is not supported: there are no users and no passwords"},
  });
  EXPECT_EQ(client.protocol, Protocol::kResp2);
  EXPECT_EQ(client.name, "");
}

TEST_F(PortCommands, AClientHasANumberAndMayHaveAName) {
  Expect({{"CLIENT ID", ":9"},
          {"CLIENT GETNAME", "$-1"},
          {"client setname me", "+OK"},
          {"CLIENT SETNAME \"a b\"",
           "-ERR Client names cannot contain spaces, newlines or special characters."},
          {"CLIENT GETNAME", "$2\r\nme"},
          {"CLIENT SETNAME \"\"", "+OK"}});
  client.protocol = Protocol::kResp3;
  EXPECT_EQ(Ask("CLIENT GETNAME"), "_\r\n");
}

TEST_F(PortCommands, WrongNumbersOfArgumentsAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"ping a b", "ping"},         {"echo", "echo"},
      {"select", "select"},         {"client", "client"},
      {"config", "config"},         {"CLIENT SETNAME", "client|setname"},
      {"CONFIG GET", "config|get"}, {"COMMAND COUNT x", "command|count"}};
  for (const auto& [line, name] : cases) {
    EXPECT_EQ(Ask(line), "-ERR wrong number of arguments for '" + name + "' command\r\n");
  }
}

TEST_F(PortCommands, ConfigGetTellsSeveralSettings) {
  EXPECT_EQ(Ask("CONFIG GET save"), "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
  EXPECT_EQ(Ask("CONFIG GET x"), "*0\r\n");
  const std::string both = "$10\r\nAppendOnly\r\n$3\r\nyes\r\n$4\r\nsave\r\n$0\r\n\r\n";
  EXPECT_EQ(Ask("CONFIG GET AppendOnly save x appendonly"), "*4\r\n" + both) << "as spelled";
  client.protocol = Protocol::kResp3;
  EXPECT_EQ(Ask("CONFIG GET AppendOnly save"), "%2\r\n" + both);
  EXPECT_TRUE(Ask("CONFIG GET *").starts_with("%5\r\n"));
}

TEST_F(PortCommands, CommandDescribesCommands) {
  const std::string get = "$3\r\nget\r\n:2\r\n*1\r\n+readonly\r\n:1\r\n:1\r\n:1\r\n";
  EXPECT_EQ(Ask("COMMAND INFO get frob"),
            "*2\r\n*10\r\n" + get + "*0\r\n*0\r\n*0\r\n*0\r\n$-1\r\n");
  EXPECT_TRUE(Ask("COMMAND DOCS get frob").starts_with("*2\r\n$3\r\nget\r\n*4\r\n$7\r\nsummary"));
  const std::string count = std::to_string(CommandTable().size());
  EXPECT_EQ(Ask("COMMAND COUNT"), ":" + count + "\r\n");
  EXPECT_TRUE(Ask("COMMAND").starts_with("*" + count + "\r\n*10\r\n"));
  client.protocol = Protocol::kResp3;
  EXPECT_TRUE(Ask("COMMAND DOCS").starts_with("%" + count + "\r\n"));
  EXPECT_TRUE(Ask("COMMAND INFO set frob").ends_with("~0\r\n*0\r\n*0\r\n*0\r\n_\r\n"));
}

// Every command that the table names is served, and as the contract says.
TEST_F(PortCommands, TheTableIsTrue) {
  ASSERT_FALSE(CommandTable().empty());
  for (const CommandEntry& entry : CommandTable()) {
    const std::string name(entry.name);
    const CommandForm* const form = FindCommand(name);
    const bool is_changing = Increment::Is(name) || (form != nullptr && !form->reads);
    EXPECT_EQ(entry.group == CommandGroup::kWrites, is_changing) << name;
    EXPECT_EQ(entry.group == CommandGroup::kReads, form != nullptr && form->reads) << name;
    const bool is_of_port = entry.group == CommandGroup::kPort && name != "quit";
    EXPECT_EQ(Ask(name) != "(store)", is_of_port) << name;
    if (form == nullptr) continue;
    const int words = static_cast<int>(form->arguments) + 1;
    EXPECT_EQ(entry.words, form->repeats ? -words : words) << name;
  }
}

}  // namespace
}  // namespace depfast::kv
