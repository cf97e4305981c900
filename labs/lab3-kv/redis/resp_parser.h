// RespParser: cuts the bytes of a Redis client into commands.
//
// In both versions of Redis's protocol a command is an array of bulk strings
// ("*2\r\n$3\r\nGET\r\n$1\r\nx\r\n"), or a line of words as a person types it ("GET x\r\n"), with
// quotes and escapes as in Redis.
//
// A command above the limits of kv_messages.h is no violation of the protocol: its bytes are passed
// over, and the commands after it are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kv_messages.h"

namespace depfast::kv {

// The limit for a line of words, and for a line that contains a length.
inline constexpr std::size_t kInlineBytesMax = std::size_t{64} << 10;
// The longest argument in the protocol, as in Redis.
inline constexpr std::size_t kProtocolBytesMax = std::size_t{512} << 20;

class RespParser {
 public:
  // Requires: error() is empty.
  void Add(std::string_view bytes);

  // The next whole command, never empty. Nothing if more bytes are needed, or after an error.
  std::optional<Command> Next();

  // Whether the latest command of Next exceeds kArgumentBytesMax or kCommandBytesMax. Then its
  // arguments from there on are empty.
  bool was_too_large() const { return was_too_large_; }

  // The error in the client's bytes, in Redis's words ("Protocol error: ..."). Nothing more can be
  // read then.
  const std::string& error() const { return error_; }

  // Bytes that wait to become commands.
  std::size_t buffered() const { return buffer_.size() - begin_; }
  // Those bytes, and the arguments of the command under way.
  std::size_t unfinished() const { return buffered() + taken_bytes_; }

 private:
  enum class Progress { kMore, kAgain, kCommand };

  std::string_view rest() const { return std::string_view(buffer_).substr(begin_); }
  Progress Step();
  Progress ReadInline();
  Progress ReadCount();
  Progress ReadArgument();
  Progress ReadLength();
  Progress PassOver();
  // The line up to "\r\n", which is taken. `too_big`: the error if it does not end in time.
  std::optional<std::string_view> TakeLine(const char* too_big);
  Progress Fail(std::string error);

  std::string buffer_;
  std::size_t begin_ = 0;  // the first byte that is not taken
  std::string error_;
  // The array under way.
  std::size_t arguments_left_ = 0;             // 0: none is
  std::optional<std::size_t> argument_bytes_;  // of the next argument, once that is known
  std::size_t command_bytes_ = 0;              // as far as lengths were announced
  std::size_t taken_bytes_ = 0;                // in command_
  bool is_too_large_ = false;    // bytes of the next argument are passed over, not kept
  std::size_t passed_over_ = 0;  // of these, and of the end of the line behind them
  Command command_;
  bool was_too_large_ = false;
};

// Splits a line into words as Redis does: "..." with escapes, '...' with \' only. Nothing if a
// quote does not end, or is followed by something else than a space.
std::optional<Command> SplitWords(std::string_view line);

}  // namespace depfast::kv
