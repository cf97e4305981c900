#include "linearizability/parsed_command.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "testkit/json.h"

namespace depfast::kv {
namespace {

bool IsPlain(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '\\';
  });
}

}  // namespace

ParsedCommand::ParsedCommand(const Command& words) {
  if (const auto wrong = FindError(words)) throw std::invalid_argument(wrong->text);
  form_ = FindCommand(words.front());
  if (form_->verb == Verb::kSession)
    throw std::invalid_argument("a session is no part of a history");
  arguments_.assign(words.begin() + 1, words.end());
}

std::vector<std::string> ParsedCommand::Keys() const {
  if (!form_->repeats) return {arguments_.front()};
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < arguments_.size(); i += form_->arguments) {
    keys.push_back(arguments_[i]);
  }
  return keys;
}

std::string ParsedCommand::Text() const {
  std::string text(form_->name);
  for (const std::string& word : arguments_) {
    text += " " + (IsPlain(word) ? word : testkit::JsonString(word));
  }
  return text;
}

}  // namespace depfast::kv
