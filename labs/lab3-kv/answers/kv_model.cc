#include "linearizability/kv_model.h"

#include <cassert>
#include <charconv>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kv_errors.h"

namespace depfast::kv {
namespace {

// An integer as Redis reads it: no sign but '-', no leading zero, no space; nothing for other text.
std::optional<std::int64_t> IntegerOf(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (std::to_string(value) != text) return std::nullopt;
  return value;
}

Reply Length(const std::string& text) {
  return Reply::Integer(static_cast<std::int64_t>(text.size()));
}

Reply ValueOrNil(std::optional<std::string> value) {
  return value ? Reply::String(*std::move(value)) : Reply::Nil();
}

}  // namespace

std::optional<std::string> KvModel::Get(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

void KvModel::Put(const std::string& key, std::optional<std::string> value) {
  if (value) {
    values_[key] = *std::move(value);
  } else {
    values_.erase(key);
  }
}

Reply KvModel::Increment(const std::string& key) {
  const std::optional<std::int64_t> old = IntegerOf(Get(key).value_or("0"));
  if (!old) return NotAnInteger();
  if (*old == std::numeric_limits<std::int64_t>::max()) return WouldOverflow();
  Put(key, std::to_string(*old + 1));
  return Reply::Integer(*old + 1);
}

Reply KvModel::Execute(const ParsedCommand& command) {
  const std::vector<std::string>& words = command.arguments();
  const std::string& key = words[0];
  switch (command.verb()) {
    case Verb::kGet:
      return ValueOrNil(Get(key));
    case Verb::kSet:
      Put(key, words[1]);
      return Reply::Ok();
    case Verb::kDel: {
      std::int64_t count = 0;
      for (const std::string& each : words) count += static_cast<std::int64_t>(values_.erase(each));
      return Reply::Integer(count);
    }
    case Verb::kExists: {
      std::int64_t count = 0;
      for (const std::string& each : words) count += values_.contains(each) ? 1 : 0;
      return Reply::Integer(count);
    }
    case Verb::kIncr:
      return Increment(key);
    case Verb::kAppend:
      return Length(values_[key] += words[1]);
    case Verb::kMget: {
      std::vector<std::optional<std::string>> items;
      for (const std::string& each : words) items.push_back(Get(each));
      return Reply::Array(std::move(items));
    }
    case Verb::kMset:
      for (std::size_t i = 0; i < words.size(); i += 2) Put(words[i], words[i + 1]);
      return Reply::Ok();
    case Verb::kSetnx:
      return Reply::Integer(values_.try_emplace(key, words[1]).second ? 1 : 0);
    case Verb::kStrlen:
      return Length(Get(key).value_or(""));
    case Verb::kGetset: {
      std::optional<std::string> old = Get(key);
      Put(key, words[1]);
      return ValueOrNil(std::move(old));
    }
    case Verb::kCas: {
      const bool same = Get(key) == words[1];
      if (same) Put(key, words[2]);
      return Reply::Integer(same ? 1 : 0);
    }
    case Verb::kSession:
      break;
  }
  assert(false && "a ParsedCommand has one of the verbs above");
  return Reply::Nil();
}

}  // namespace depfast::kv
