// The commands that the port answers by itself.
#include "port_commands.h"

#include <gtest/gtest.h>

#include <string>

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

  ClientState client;
};

TEST_F(PortCommands, LeavesTheCommandsOfTheStoreAlone) {
  for (const char* const line : {"GET x", "SESSION NEW", "INCRBY x 2", "QUIT", "FROB", "SCAN 0"}) {
    EXPECT_EQ(Ask(line), "(store)") << line;
  }
}

TEST_F(PortCommands, AnswersWhatToolsAskBeforeTheyBegin) {
  EXPECT_EQ(Ask("ping"), "+PONG\r\n");
  EXPECT_EQ(Ask("PING hi"), "$2\r\nhi\r\n");
  EXPECT_EQ(Ask("ECHO hi"), "$2\r\nhi\r\n");
  EXPECT_NE(Ask("INFO server").find("tcp_port:6379\r\n"), std::string::npos);
  EXPECT_EQ(Ask("SELECT 0"), "+OK\r\n");
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

TEST_F(PortCommands, ThereIsOneDatabase) {
  EXPECT_EQ(Ask("SELECT 1"), "-ERR DB index is out of range\r\n");
  EXPECT_EQ(Ask("SELECT -1"), "-ERR DB index is out of range\r\n");
  EXPECT_EQ(Ask("SELECT x"), "-ERR value is not an integer or out of range\r\n");
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
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"HELLO 1", "NOPROTO unsupported protocol version"},
      {"HELLO 4", "NOPROTO unsupported protocol version"},
      {"HELLO x", "ERR Protocol version is not an integer or out of range"},
      {"HELLO 3 SETNAME", "ERR Syntax error in HELLO option 'SETNAME'"},
      {"HELLO 3 AUTH me", "ERR Syntax error in HELLO option 'AUTH'"},
      {"HELLO 3 SETNAME me \"a\\nb\"", "ERR Syntax error in HELLO option '?'"},
      {"HELLO 3 SETNAME \"a b\"",
       "ERR Client names cannot contain spaces, newlines or special characters."},
      {"HELLO 3 SETNAME me AUTH me secret",
       "ERR AUTH is not supported: there are no users and no passwords"},
  };
  for (const auto& [line, error] : cases) EXPECT_EQ(Ask(line), "-" + error + "\r\n") << line;
  EXPECT_EQ(client.protocol, Protocol::kResp2);
  EXPECT_EQ(client.name, "");
}

TEST_F(PortCommands, AClientHasANumberAndMayHaveAName) {
  EXPECT_EQ(Ask("CLIENT ID"), ":9\r\n");
  EXPECT_EQ(Ask("CLIENT GETNAME"), "$-1\r\n");
  EXPECT_EQ(Ask("client setname me"), "+OK\r\n");
  EXPECT_EQ(Ask("CLIENT SETNAME \"a b\""),
            "-ERR Client names cannot contain spaces, newlines or special characters.\r\n");
  EXPECT_EQ(Ask("CLIENT GETNAME"), "$2\r\nme\r\n");
  EXPECT_EQ(Ask("CLIENT SETNAME \"\""), "+OK\r\n");
  client.protocol = Protocol::kResp3;
  EXPECT_EQ(Ask("CLIENT GETNAME"), "_\r\n");
}

TEST_F(PortCommands, AClientMayTellItsLibrary) {
  EXPECT_EQ(Ask("CLIENT SETINFO LIB-NAME redis-py"), "+OK\r\n");
  EXPECT_EQ(Ask("client setinfo lib-ver 8.1.0"), "+OK\r\n");
  EXPECT_EQ(Ask("CLIENT SETINFO LIB-VER \"8 1\""),
            "-ERR lib-ver cannot contain spaces, newlines or special characters.\r\n");
  EXPECT_EQ(Ask("CLIENT SETINFO COLOUR red"),
            "-ERR CLIENT SETINFO knows LIB-NAME and LIB-VER only\r\n");
}

TEST_F(PortCommands, WhatIsAbsentIsAClearError) {
  EXPECT_EQ(Ask("AUTH secret"),
            "-ERR AUTH is not supported: there are no users and no passwords\r\n");
  EXPECT_EQ(Ask("CLIENT KILL x"), "-ERR unknown command 'CLIENT|KILL'\r\n");
  EXPECT_EQ(Ask("CONFIG SET save x"), "-ERR unknown command 'CONFIG|SET'\r\n");
  EXPECT_EQ(Ask("COMMAND \"a\\r\\nb\""), "-ERR unknown command 'COMMAND|a??b'\r\n");
}

TEST_F(PortCommands, WrongNumbersOfArgumentsAreRefused) {
  for (const char* const name : {"ping a b", "echo", "select", "client", "config"}) {
    const std::string line = name;
    EXPECT_EQ(Ask(line), "-ERR wrong number of arguments for '" + line.substr(0, line.find(' ')) +
                             "' command\r\n");
  }
  EXPECT_EQ(Ask("CLIENT SETNAME"),
            "-ERR wrong number of arguments for 'client|setname' command\r\n");
  EXPECT_EQ(Ask("CONFIG GET"), "-ERR wrong number of arguments for 'config|get' command\r\n");
  EXPECT_EQ(Ask("COMMAND COUNT x"),
            "-ERR wrong number of arguments for 'command|count' command\r\n");
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
