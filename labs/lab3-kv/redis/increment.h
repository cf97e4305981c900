// Increment: INCRBY, DECR and DECRBY, made of commands that the store has.
//
// The store's contract has INCR alone. So the port reads the value, and then sets the sum with a
// command that fails if the value has changed meanwhile: CAS, or SETNX if the key was absent. That
// command is one entry of the log, so the increment takes effect once, at that entry, or not at
// all. If the value has changed, the port begins again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "kv_messages.h"

namespace depfast::kv {

class Increment {
 public:
  // Attempts of an increment while other clients change the key. One of them succeeds
  // each time.
  static constexpr int kTriesMax = 1000;

  // Whether the port serves this command, in any case and with any arguments.
  static bool Is(std::string_view name);

  // The increment that `command` asks for, or the error in its arguments. Requires: Is its name.
  static std::variant<Increment, Reply> Parse(const Command& command);

  // The store's command to begin with. It changes nothing.
  Command First() const { return {"GET", key_}; }

  // Takes the store's reply to the command before. Returns the next command, or the reply to the
  // client. An error of the store becomes the reply: it says whether something may be changed.
  std::variant<Command, Reply> Next(const Reply& reply);

 private:
  Increment(std::string key, std::int64_t by) : key_(std::move(key)), by_(by) {}

  std::variant<Command, Reply> Set(const std::optional<std::string>& old);

  std::string key_;
  std::int64_t by_ = 0;
  std::int64_t sum_ = 0;     // the value that is being set; meaningless while the port reads
  bool is_setting_ = false;  // the command under way is the one that sets the sum
  int tries_ = 0;
};

}  // namespace depfast::kv
