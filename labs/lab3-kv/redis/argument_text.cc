#include "argument_text.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace depfast::kv {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// "0", or digits that do not begin with 0, with or without a minus. The digits are not looked at.
bool LooksPrinted(std::string_view text) {
  if (text == "0") return true;
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text[0] >= '1' && text[0] <= '9';
}

}  // namespace

std::optional<std::int64_t> PrintedInteger(std::string_view text) {
  if (!LooksPrinted(text)) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsNamed(std::string_view word, std::string_view name) {
  return std::equal(word.begin(), word.end(), name.begin(), name.end(),
                    [](char a, char b) { return Lower(a) == b; });
}

}  // namespace depfast::kv
