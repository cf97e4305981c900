// The commands that a client can send to the port, as COMMAND describes them: those of the store
// (kv_commands.h), and those that the port serves.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace depfast::kv {

enum class CommandGroup : std::uint8_t { kReads, kWrites, kPort };

struct CommandEntry {
  std::string_view name;  // in small letters
  int words;              // the command's, its name included; negative: a minimum
  CommandGroup group;
  int first_key;  // the positions of its keys, the name at 0; all 0 if it has none
  int last_key;   // -1: the last word
  int key_step;
  std::string_view summary;
};

std::span<const CommandEntry> CommandTable();

// Null if there is no such command. The name in any case.
const CommandEntry* FindEntry(std::string_view name);

}  // namespace depfast::kv
