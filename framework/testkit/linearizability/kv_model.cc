#include "testkit/linearizability/kv_model.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <utility>

#include "testkit/json.h"

namespace depfast::testkit {
namespace {

struct VerbForm {
  KvVerb verb;
  std::string_view name;
  std::size_t arguments;  // exactly so many, or so many at a time
  bool repeats;
};

// In the order of KvVerb.
constexpr std::array<VerbForm, 12> kForms = {{
    {KvVerb::kGet, "GET", 1, false},
    {KvVerb::kSet, "SET", 2, false},
    {KvVerb::kDel, "DEL", 1, true},
    {KvVerb::kExists, "EXISTS", 1, true},
    {KvVerb::kIncr, "INCR", 1, false},
    {KvVerb::kAppend, "APPEND", 2, false},
    {KvVerb::kMget, "MGET", 1, true},
    {KvVerb::kMset, "MSET", 2, true},
    {KvVerb::kSetnx, "SETNX", 2, false},
    {KvVerb::kStrlen, "STRLEN", 1, false},
    {KvVerb::kGetset, "GETSET", 2, false},
    {KvVerb::kCas, "CAS", 3, false},
}};

const VerbForm& FormOf(KvVerb verb) { return kForms[static_cast<std::size_t>(verb)]; }

char UpperCase(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

const VerbForm& FormOf(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), UpperCase);
  for (const VerbForm& form : kForms) {
    if (form.name == name) return form;
  }
  throw std::invalid_argument("the model has no command " + JsonString(name));
}

bool IsPlain(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '\\';
  });
}

// As Redis reads integers: no sign but '-', no leading zero, no space; nothing if it is not one.
std::optional<std::int64_t> IntegerOf(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (std::to_string(value) != text) return std::nullopt;
  return value;
}

KvReply Length(const std::string& text) {
  return KvReply::Integer(static_cast<std::int64_t>(text.size()));
}

KvReply ValueOrNil(std::optional<std::string> value) {
  return value ? KvReply::String(*std::move(value)) : KvReply::Nil();
}

}  // namespace

// ---- KvCommand ----

KvCommand::KvCommand(std::vector<std::string> words) {
  if (words.empty()) throw std::invalid_argument("a command needs a name");
  const VerbForm& form = FormOf(words.front());
  const std::size_t got = words.size() - 1;
  const bool fits = form.repeats ? got > 0 && got % form.arguments == 0 : got == form.arguments;
  if (!fits) {
    throw std::invalid_argument(std::string(form.name) + " cannot take " + std::to_string(got) +
                                (got == 1 ? " argument" : " arguments"));
  }
  verb_ = form.verb;
  words.erase(words.begin());
  arguments_ = std::move(words);
}

std::vector<std::string> KvCommand::Keys() const {
  const VerbForm& form = FormOf(verb_);
  if (!form.repeats) return {arguments_.front()};
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < arguments_.size(); i += form.arguments) keys.push_back(arguments_[i]);
  return keys;
}

bool KvCommand::IsRead() const {
  return verb_ == KvVerb::kGet || verb_ == KvVerb::kExists || verb_ == KvVerb::kMget ||
         verb_ == KvVerb::kStrlen;
}

std::string KvCommand::Text() const {
  std::string text(FormOf(verb_).name);
  for (const std::string& word : arguments_)
    text += " " + (IsPlain(word) ? word : JsonString(word));
  return text;
}

// ---- KvReply ----

KvReply KvReply::Ok() {
  KvReply reply;
  reply.kind = Kind::kOk;
  return reply;
}

KvReply KvReply::Integer(std::int64_t integer) {
  KvReply reply;
  reply.kind = Kind::kInteger;
  reply.integer = integer;
  return reply;
}

KvReply KvReply::String(std::string text) {
  KvReply reply;
  reply.kind = Kind::kString;
  reply.text = std::move(text);
  return reply;
}

KvReply KvReply::Array(std::vector<std::optional<std::string>> items) {
  KvReply reply;
  reply.kind = Kind::kArray;
  reply.items = std::move(items);
  return reply;
}

KvReply KvReply::Error(std::string text) {
  KvReply reply;
  reply.kind = Kind::kError;
  reply.text = std::move(text);
  return reply;
}

bool operator==(const KvReply& a, const KvReply& b) {
  if (a.kind != b.kind) return false;
  return a.kind == KvReply::Kind::kError ||
         (a.integer == b.integer && a.text == b.text && a.items == b.items);
}

std::string KvReply::Text() const {
  switch (kind) {
    case Kind::kNil:
      return "nil";
    case Kind::kOk:
      return "OK";
    case Kind::kInteger:
      return std::to_string(integer);
    case Kind::kString:
      return JsonString(text);
    case Kind::kError:
      return "error: " + text;
    case Kind::kArray:
      break;
  }
  std::string out;
  for (const auto& item : items) {
    out += (out.empty() ? "" : ", ") + (item ? JsonString(*item) : "nil");
  }
  return "[" + out + "]";
}

// ---- KvStore ----

std::optional<std::string> KvStore::Get(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

void KvStore::Put(const std::string& key, std::optional<std::string> value) {
  if (value) {
    values_[key] = *std::move(value);
  } else {
    values_.erase(key);
  }
}

KvReply KvStore::Increment(const std::string& key) {
  const std::optional<std::int64_t> old = IntegerOf(Get(key).value_or("0"));
  if (!old) return KvReply::Error("the value is not an integer");
  if (*old == std::numeric_limits<std::int64_t>::max()) {
    return KvReply::Error("the increment would overflow");
  }
  Put(key, std::to_string(*old + 1));
  return KvReply::Integer(*old + 1);
}

KvReply KvStore::Execute(const KvCommand& command) {
  const std::vector<std::string>& words = command.arguments();
  const std::string& key = words[0];
  switch (command.verb()) {
    case KvVerb::kGet:
      return ValueOrNil(Get(key));
    case KvVerb::kSet:
      Put(key, words[1]);
      return KvReply::Ok();
    case KvVerb::kDel: {
      std::int64_t count = 0;
      for (const std::string& each : words) count += static_cast<std::int64_t>(values_.erase(each));
      return KvReply::Integer(count);
    }
    case KvVerb::kExists: {
      std::int64_t count = 0;
      for (const std::string& each : words) count += values_.contains(each) ? 1 : 0;
      return KvReply::Integer(count);
    }
    case KvVerb::kIncr:
      return Increment(key);
    case KvVerb::kAppend:
      return Length(values_[key] += words[1]);
    case KvVerb::kMget: {
      std::vector<std::optional<std::string>> items;
      for (const std::string& each : words) items.push_back(Get(each));
      return KvReply::Array(std::move(items));
    }
    case KvVerb::kMset:
      for (std::size_t i = 0; i < words.size(); i += 2) Put(words[i], words[i + 1]);
      return KvReply::Ok();
    case KvVerb::kSetnx:
      return KvReply::Integer(values_.try_emplace(key, words[1]).second ? 1 : 0);
    case KvVerb::kStrlen:
      return Length(Get(key).value_or(""));
    case KvVerb::kGetset: {
      std::optional<std::string> old = Get(key);
      Put(key, words[1]);
      return ValueOrNil(std::move(old));
    }
    case KvVerb::kCas: {
      const bool same = Get(key) == words[1];
      if (same) Put(key, words[2]);
      return KvReply::Integer(same ? 1 : 0);
    }
  }
  assert(false && "a KvCommand has one of the verbs above");
  return KvReply::Nil();
}

}  // namespace depfast::testkit
