#include "resp_parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace depfast::kv {
namespace {

// The parser removes consumed bytes once their number reaches this.
constexpr std::size_t kForgetBytes = 64 * 1024;

// The length of "\r\n".
constexpr std::size_t kLineEndBytes = 2;

// The number of an array's arguments for which the parser reserves memory before they arrive.
constexpr std::size_t kRoomMadeMax = 16;

std::optional<std::int64_t> NumberIn(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The character of an escape in double quotes. `text` begins after the backslash; the characters of
// the escape are removed from it. Requires: text is not empty.
char TakeEscaped(std::string_view& text) {
  if (text[0] == 'x' && text.size() > 2 && HexDigit(text[1]) >= 0 && HexDigit(text[2]) >= 0) {
    const int byte = HexDigit(text[1]) * 16 + HexDigit(text[2]);
    text.remove_prefix(3);
    return static_cast<char>(byte);
  }
  const char c = text[0];
  text.remove_prefix(1);
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

// Appends the characters up to the closing quote to `word`. Removes them and the quote from `text`,
// which begins after the opening quote. Returns false if there is no closing quote, or if the word
// goes on after it.
bool TakeQuoted(char quote, std::string_view& text, std::string& word) {
  while (!text.empty()) {
    const char c = text[0];
    text.remove_prefix(1);
    if (c == quote) return text.empty() || IsSpace(text[0]);
    if (c == '\\' && quote == '"' && !text.empty()) {
      word += TakeEscaped(text);
    } else if (c == '\\' && quote == '\'' && text.starts_with('\'')) {
      word += '\'';
      text.remove_prefix(1);
    } else {
      word += c;
    }
  }
  return false;
}

}  // namespace

std::optional<Command> SplitWords(std::string_view line) {
  Command words;
  while (true) {
    while (!line.empty() && IsSpace(line[0])) line.remove_prefix(1);
    if (line.empty()) return words;
    std::string word;
    while (!line.empty() && !IsSpace(line[0])) {
      const char c = line[0];
      line.remove_prefix(1);
      if (c != '"' && c != '\'') {
        word += c;
      } else if (!TakeQuoted(c, line, word)) {
        return std::nullopt;
      }
    }
    words.push_back(std::move(word));
  }
}

void RespParser::Add(std::string_view bytes) {
  if (begin_ == buffer_.size() || begin_ > kForgetBytes) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  buffer_ += bytes;
}

std::optional<Command> RespParser::Next() {
  Progress progress = Progress::kAgain;
  while (error_.empty() && progress == Progress::kAgain) progress = Step();
  if (!error_.empty() || progress == Progress::kMore) return std::nullopt;
  command_bytes_ = taken_bytes_ = 0;
  was_too_large_ = std::exchange(is_too_large_, false);
  return std::exchange(command_, {});
}

RespParser::Progress RespParser::Step() {
  if (arguments_left_ > 0) return ReadArgument();
  if (buffered() == 0) return Progress::kMore;
  return buffer_[begin_] == '*' ? ReadCount() : ReadInline();
}

RespParser::Progress RespParser::Fail(std::string error) {
  error_ = "Protocol error: " + std::move(error);
  return Progress::kMore;
}

std::optional<std::string_view> RespParser::TakeLine(const char* too_big) {
  const std::size_t end = rest().find('\r');
  if (end == std::string_view::npos || end + 1 == buffered()) {
    if (buffered() > kInlineBytesMax) Fail(too_big);
    return std::nullopt;
  }
  const std::string_view line = rest().substr(0, end);
  begin_ += end + 2;
  return line;
}

RespParser::Progress RespParser::ReadInline() {
  const std::size_t end = rest().find('\n');
  if (end == std::string_view::npos || end > kInlineBytesMax) {
    if (buffered() > kInlineBytesMax) return Fail("too big inline request");
    return Progress::kMore;
  }
  std::string_view line = rest().substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  auto words = SplitWords(line);
  if (!words) return Fail("unbalanced quotes in request");
  begin_ += end + 1;
  command_ = std::move(*words);
  return command_.empty() ? Progress::kAgain : Progress::kCommand;
}

RespParser::Progress RespParser::ReadCount() {
  const auto line = TakeLine("too big mbulk count string");
  if (!line) return Progress::kMore;
  const auto count = NumberIn(line->substr(1));
  if (!count || *count > static_cast<std::int64_t>(kArgumentsMax)) {
    return Fail("invalid multibulk length");
  }
  arguments_left_ = *count > 0 ? static_cast<std::size_t>(*count) : 0;  // an empty one is nothing
  command_.reserve(std::min(arguments_left_, kRoomMadeMax));
  return Progress::kAgain;
}

RespParser::Progress RespParser::ReadArgument() {
  if (!argument_bytes_) return ReadLength();
  if (is_too_large_) return PassOver();
  if (buffered() < *argument_bytes_ + kLineEndBytes) return Progress::kMore;
  command_.emplace_back(rest().substr(0, *argument_bytes_));
  taken_bytes_ += *argument_bytes_;
  begin_ += *argument_bytes_ + kLineEndBytes;
  argument_bytes_.reset();
  return --arguments_left_ > 0 ? Progress::kAgain : Progress::kCommand;
}

RespParser::Progress RespParser::ReadLength() {
  if (buffered() == 0) return Progress::kMore;
  if (const char first = buffer_[begin_]; first != '$') {
    const bool printable = first >= ' ' && first <= '~';
    return Fail(std::string("expected '$', got '") + (printable ? first : '?') + "'");
  }
  const auto line = TakeLine("too big bulk count string");
  if (!line) return Progress::kMore;
  const auto bytes = NumberIn(line->substr(1));
  if (!bytes || *bytes < 0 || *bytes > static_cast<std::int64_t>(kProtocolBytesMax)) {
    return Fail("invalid bulk length");
  }
  argument_bytes_ = static_cast<std::size_t>(*bytes);
  command_bytes_ += *argument_bytes_;
  is_too_large_ |= *argument_bytes_ > kArgumentBytesMax || command_bytes_ > kCommandBytesMax;
  return Progress::kAgain;
}

RespParser::Progress RespParser::PassOver() {
  const std::size_t left = *argument_bytes_ + kLineEndBytes - passed_over_;
  const std::size_t now = std::min(left, buffered());
  begin_ += now;
  passed_over_ += now;
  if (now < left) return Progress::kMore;
  passed_over_ = 0;
  command_.emplace_back();
  argument_bytes_.reset();
  return --arguments_left_ > 0 ? Progress::kAgain : Progress::kCommand;
}

}  // namespace depfast::kv
