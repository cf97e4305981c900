// PartialStore: a store in which the contents of some keys are unknown.
//
// The search executes commands on it. In the search of a whole history every key is known. While a
// failing history is made smaller, operations are left out, and their effect on a key may become
// unknown.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "linearizability/kv_model.h"

namespace depfast::kv {

// The content of a key.
struct Content {
  bool known = true;
  std::optional<std::string> value;  // valid if known; nothing: the key is absent

  friend bool operator==(const Content&, const Content&) = default;
};

struct Effect {
  std::string key;
  Content content;
};

// The contents of the keys that `command` changes, as far as `reply` determines them. `reply` is
// null for a command without an answer. Empty if the reply proves that the command changed nothing.
std::vector<Effect> EffectsOf(const ParsedCommand& command, const Reply* reply);

class PartialStore {
 public:
  // Executes `command`. Returns whether the store can give this reply (null: any reply); unknown
  // contents permit any reply. If it returns false, the store's contents are no longer valid.
  bool Execute(const ParsedCommand& command, const Reply* reply);

  void Put(const Effect& effect);

  // Different stores have different encodings.
  std::string Encoded() const;

 private:
  bool IsUnknown(const std::string& key) const { return unknown_.contains(key); }
  // Executes a command that touches an unknown key.
  bool ExecuteBlindly(const ParsedCommand& command, const Reply* reply);
  bool Learn(const std::string& key, const std::optional<std::string>& value);
  bool CanCount(const std::vector<std::string>& keys, const Reply& count) const;

  KvModel known_;
  std::set<std::string> unknown_;  // absent from known_
};

}  // namespace depfast::kv
