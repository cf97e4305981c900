// The sequential model of the key-value store: the reply to each command of a sequence.
//
// Histories are checked against it, so it is as small as possible. kv_commands.h defines the
// effects of the commands. The source is an answer to lab 3 and does not ship: see
// answers/CMakeLists.txt.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "kv_messages.h"
#include "linearizability/parsed_command.h"

namespace depfast::kv {

class KvModel {
 public:
  Reply Execute(const ParsedCommand& command);

  // Nothing: absent.
  std::optional<std::string> Get(const std::string& key) const;
  void Put(const std::string& key, std::optional<std::string> value);

  // The keys that are there.
  const std::map<std::string, std::string>& values() const { return values_; }

  friend bool operator==(const KvModel&, const KvModel&) = default;

 private:
  Reply Increment(const std::string& key);

  std::map<std::string, std::string> values_;
};

}  // namespace depfast::kv
