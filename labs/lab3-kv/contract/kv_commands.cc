#include "kv_commands.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "kv_errors.h"

namespace depfast::kv {
namespace {

constexpr std::array<CommandForm, 13> kForms = {{
    {Verb::kGet, "GET", 1, false, true},
    {Verb::kSet, "SET", 2, false, false},
    {Verb::kDel, "DEL", 1, true, false},
    {Verb::kExists, "EXISTS", 1, true, true},
    {Verb::kIncr, "INCR", 1, false, false},
    {Verb::kAppend, "APPEND", 2, false, false},
    {Verb::kMget, "MGET", 1, true, true},
    {Verb::kMset, "MSET", 2, true, false},
    {Verb::kSetnx, "SETNX", 2, false, false},
    {Verb::kStrlen, "STRLEN", 1, false, true},
    {Verb::kGetset, "GETSET", 2, false, false},
    {Verb::kCas, "CAS", 3, false, false},
    {Verb::kSession, "SESSION", 1, true, false},
}};

// A SESSION command before the one that it wraps: SESSION id seq.
constexpr std::size_t kSessionWords = 3;

char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool Fits(const CommandForm& form, std::size_t arguments) {
  return form.repeats ? arguments > 0 && arguments % form.arguments == 0
                      : arguments == form.arguments;
}

std::optional<Reply> FindErrorIn(std::span<const std::string> words, bool in_session) {
  const CommandForm* const form = FindCommand(words.front());
  if (form == nullptr) return UnknownCommand(words.front());
  if (!Fits(*form, words.size() - 1)) return WrongNumberOfArguments(words.front());
  if (form->verb != Verb::kSession) return std::nullopt;
  if (in_session) return NestedSession();
  if (IsWord(words[1], "NEW")) {
    if (words.size() > kSessionWords) return WrongNumberOfArguments(words.front());
    return std::nullopt;
  }
  if (words.size() <= kSessionWords) return WrongNumberOfArguments(words.front());
  return FindErrorIn(words.subspan(kSessionWords), /*in_session=*/true);
}

}  // namespace

bool IsWord(std::string_view word, std::string_view capitals) {
  return std::equal(word.begin(), word.end(), capitals.begin(), capitals.end(),
                    [](char a, char b) { return Upper(a) == b; });
}

const CommandForm* FindCommand(std::string_view name) {
  const auto found = std::find_if(kForms.begin(), kForms.end(),
                                  [&](const CommandForm& form) { return IsWord(name, form.name); });
  return found == kForms.end() ? nullptr : &*found;
}

std::optional<Reply> FindError(const Command& command) {
  if (command.empty()) return UnknownCommand("");
  if (command.size() > kArgumentsMax) return TooLarge();
  std::size_t bytes = 0;
  for (const std::string& word : command) {
    if (word.size() > kArgumentBytesMax) return TooLarge();
    bytes += word.size();
  }
  if (bytes > kCommandBytesMax) return TooLarge();
  return FindErrorIn(command, /*in_session=*/false);
}

}  // namespace depfast::kv
