// A parsed command with one effect on the store's keys. Histories consist of these.
#pragma once

#include <string>
#include <vector>

#include "kv_commands.h"

namespace depfast::kv {

class ParsedCommand {
 public:
  // {"SET", "x", "1"}; the name in any case. Throws std::invalid_argument, in one line, if
  // FindError finds an error, and for SESSION: the checker has no model of sessions.
  explicit ParsedCommand(const Command& words);

  Verb verb() const { return form_->verb; }
  const std::vector<std::string>& arguments() const { return arguments_; }
  // In the order of the command, with repetitions.
  std::vector<std::string> Keys() const;
  // The command never changes anything.
  bool IsRead() const { return form_->reads; }
  // "SET x 1"; arguments with other than printable characters are quoted and escaped.
  std::string Text() const;

 private:
  const CommandForm* form_;  // in the table of kv_commands.cc
  std::vector<std::string> arguments_;
};

}  // namespace depfast::kv
