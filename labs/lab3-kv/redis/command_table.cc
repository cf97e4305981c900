#include "command_table.h"

#include <algorithm>
#include <array>

#include "argument_text.h"

namespace depfast::kv {
namespace {

using enum CommandGroup;

constexpr auto kEntries = std::to_array<CommandEntry>({
    {"append", 3, kWrites, 1, 1, 1, "Appends to the value of a key."},
    {"cas", 4, kWrites, 1, 1, 1, "Sets the value of a key that holds exactly the old value."},
    {"client", -2, kPort, 0, 0, 0, "Names this connection, or tells its name and its number."},
    {"command", -1, kPort, 0, 0, 0, "Describes the commands of this server."},
    {"config", -2, kPort, 0, 0, 0, "Tells settings of this server."},
    {"decr", 2, kWrites, 1, 1, 1, "Subtracts one from the integer value of a key."},
    {"decrby", 3, kWrites, 1, 1, 1, "Subtracts a number from the integer value of a key."},
    {"del", -2, kWrites, 1, -1, 1, "Deletes keys."},
    {"echo", 2, kPort, 0, 0, 0, "Answers the given string."},
    {"exists", -2, kReads, 1, -1, 1, "Counts the given keys that exist."},
    {"get", 2, kReads, 1, 1, 1, "Answers the value of a key."},
    {"getset", 3, kWrites, 1, 1, 1, "Sets the value of a key, and answers the old one."},
    {"hello", -1, kPort, 0, 0, 0, "Chooses the version of the protocol."},
    {"incr", 2, kWrites, 1, 1, 1, "Adds one to the integer value of a key."},
    {"incrby", 3, kWrites, 1, 1, 1, "Adds a number to the integer value of a key."},
    {"info", -1, kPort, 0, 0, 0, "Tells facts about this server."},
    {"mget", -2, kReads, 1, -1, 1, "Answers the values of keys, all at one instant."},
    {"mset", -3, kWrites, 1, -1, 2, "Sets the values of keys, all at one instant."},
    {"ping", -1, kPort, 0, 0, 0, "Answers PONG, or the given string."},
    {"quit", -1, kPort, 0, 0, 0, "Closes the connection."},
    {"select", 2, kPort, 0, 0, 0, "Chooses the database: there is one, number 0."},
    {"session", -2, kWrites, 0, 0, 0, "Makes a session, or executes a command once in one."},
    {"set", 3, kWrites, 1, 1, 1, "Sets the value of a key."},
    {"setnx", 3, kWrites, 1, 1, 1, "Sets the value of a key that does not exist."},
    {"strlen", 2, kReads, 1, 1, 1, "Answers the length of the value of a key."},
});

}  // namespace

std::span<const CommandEntry> CommandTable() { return kEntries; }

const CommandEntry* FindEntry(std::string_view name) {
  const auto found = std::find_if(kEntries.begin(), kEntries.end(), [&](const CommandEntry& entry) {
    return IsNamed(name, entry.name);
  });
  return found == kEntries.end() ? nullptr : &*found;
}

}  // namespace depfast::kv
