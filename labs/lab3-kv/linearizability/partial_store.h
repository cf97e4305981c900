// A store of which some keys may hold anything.
//
// The search executes commands on it. In the search of a whole history every key is known. While a
// failing history is made smaller, operations are left out, and what they did to a key may be
// known no more.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "linearizability/kv_model.h"

namespace depfast::kv {

// What a key holds.
struct Content {
  bool known = true;
  std::optional<std::string> value;  // of a known content; nothing: the key is absent

  friend bool operator==(const Content&, const Content&) = default;
};

struct Effect {
  std::string key;
  Content content;
};

// What `command` leaves in the keys it changes, as far as its reply tells; `reply` is null if
// there was none. Empty if the reply proves that it changed nothing.
std::vector<Effect> EffectsOf(const ParsedCommand& command, const Reply* reply);

class PartialStore {
 public:
  // Executes `command` and returns true, if the store can give this reply (null: any reply). Where
  // it cannot tell, it can. If it returns false, the store's contents mean nothing any more.
  bool Execute(const ParsedCommand& command, const Reply* reply);

  void Put(const Effect& effect);

  // Equal for equal stores only.
  std::string Encoded() const;

 private:
  bool IsUnknown(const std::string& key) const { return unknown_.contains(key); }
  // Of a command that touches an unknown key.
  bool ExecuteBlindly(const ParsedCommand& command, const Reply* reply);
  bool Learn(const std::string& key, const std::optional<std::string>& value);
  bool CanCount(const std::vector<std::string>& keys, const Reply& count) const;

  KvModel known_;
  std::set<std::string> unknown_;  // absent from known_
};

}  // namespace depfast::kv
