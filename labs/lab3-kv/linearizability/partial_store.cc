#include "linearizability/partial_store.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

#include "linearizability/replies.h"

namespace depfast::kv {
namespace {

bool IsZero(const Reply* reply) { return reply != nullptr && *reply == Reply::Integer(0); }

Effect Holds(const std::string& key, std::string value) {
  return {key, {true, std::optional(std::move(value))}};
}

Effect Absent(const std::string& key) { return {key, {true, std::nullopt}}; }

Effect Unknown(const std::string& key) { return {key, {false, std::nullopt}}; }

std::vector<Effect> EffectsOfIncrement(const std::string& key, const Reply* reply) {
  if (reply == nullptr) return {Unknown(key)};
  if (reply->kind != Reply::Kind::kInteger) return {};  // an error
  return {Holds(key, std::to_string(reply->integer))};
}

std::vector<Effect> EffectsOfAppend(const std::string& key, const std::string& tail,
                                    const Reply* reply) {
  const auto length = static_cast<std::int64_t>(tail.size());
  if (reply != nullptr && *reply == Reply::Integer(length)) return {Holds(key, tail)};
  return {Unknown(key)};
}

// Each key once.
std::vector<std::string> Distinct(std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

void AppendWithLength(std::string& out, const std::string& text) {
  out += std::to_string(text.size()) + ":" + text;
}

}  // namespace

std::vector<Effect> EffectsOf(const ParsedCommand& command, const Reply* reply) {
  const std::vector<std::string>& words = command.arguments();
  std::vector<Effect> effects;
  switch (command.verb()) {
    case Verb::kGet:
    case Verb::kExists:
    case Verb::kMget:
    case Verb::kStrlen:
      return {};
    case Verb::kSet:
    case Verb::kGetset:
      return {Holds(words[0], words[1])};
    case Verb::kSetnx:
      if (IsZero(reply)) return {};
      return {Holds(words[0], words[1])};
    case Verb::kCas:
      if (IsZero(reply)) return {};
      return {Holds(words[0], words[2])};
    case Verb::kDel:
      if (IsZero(reply)) return {};
      for (const std::string& key : words) effects.push_back(Absent(key));
      return effects;
    case Verb::kMset:
      for (std::size_t i = 0; i < words.size(); i += 2) {
        effects.push_back(Holds(words[i], words[i + 1]));
      }
      return effects;
    case Verb::kIncr:
      return EffectsOfIncrement(words[0], reply);
    case Verb::kAppend:
      return EffectsOfAppend(words[0], words[1], reply);
    case Verb::kSession:
      break;
  }
  assert(false && "a ParsedCommand has one of the verbs above");
  return {};
}

bool PartialStore::Execute(const ParsedCommand& command, const Reply* reply) {
  if (!unknown_.empty()) {
    for (const std::string& key : command.Keys()) {
      if (IsUnknown(key)) return ExecuteBlindly(command, reply);
    }
  }
  const Reply mine = known_.Execute(command);
  return reply == nullptr || AreSame(mine, *reply);
}

bool PartialStore::ExecuteBlindly(const ParsedCommand& command, const Reply* reply) {
  const std::vector<std::string> keys = command.Keys();
  if (reply != nullptr) {
    switch (command.verb()) {
      case Verb::kGet:
        if (reply->kind == Reply::Kind::kString) return Learn(keys[0], reply->text);
        return reply->kind == Reply::Kind::kNil && Learn(keys[0], std::nullopt);
      case Verb::kMget:
        if (reply->kind != Reply::Kind::kArray || reply->items.size() != keys.size()) return false;
        for (std::size_t i = 0; i < keys.size(); ++i) {
          if (!Learn(keys[i], reply->items[i])) return false;
        }
        return true;
      case Verb::kExists:
        return CanCount(keys, *reply);
      case Verb::kDel:
        if (!CanCount(Distinct(keys), *reply)) return false;
        for (const std::string& key : keys) Put(Absent(key));
        return true;
      default:
        break;
    }
  }
  for (const Effect& effect : EffectsOf(command, reply)) Put(effect);
  return true;
}

// Returns whether `key` can hold `value`. If so, the key's content is known afterwards.
bool PartialStore::Learn(const std::string& key, const std::optional<std::string>& value) {
  if (!IsUnknown(key)) return known_.Get(key) == value;
  Put({key, {true, value}});
  return true;
}

// Returns whether `count` of the keys can exist; a key named twice counts twice.
bool PartialStore::CanCount(const std::vector<std::string>& keys, const Reply& count) const {
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (const std::string& key : keys) {
    const bool there = known_.Get(key).has_value();
    least += there ? 1 : 0;
    most += there || IsUnknown(key) ? 1 : 0;
  }
  return count.kind == Reply::Kind::kInteger && least <= count.integer && count.integer <= most;
}

void PartialStore::Put(const Effect& effect) {
  known_.Put(effect.key, effect.content.known ? effect.content.value : std::nullopt);
  if (effect.content.known) {
    unknown_.erase(effect.key);
  } else {
    unknown_.insert(effect.key);
  }
}

std::string PartialStore::Encoded() const {
  std::string out;
  for (const auto& [key, value] : known_.values()) {
    AppendWithLength(out, key);
    AppendWithLength(out, value);
  }
  for (const std::string& key : unknown_) {
    out += "?";
    AppendWithLength(out, key);
  }
  return out;
}

}  // namespace depfast::kv
