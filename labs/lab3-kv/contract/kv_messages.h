// The commands and replies of the key-value store as messages, and their limits. Given, not
// submitted: tests send these messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "depfast/host/frame.h"

namespace depfast::kv {

// A command as it was typed: its name, in any case, and its arguments. Any bytes.
using Command = std::vector<std::string>;

// The limit of one argument, and so of keys and values. APPEND does not make a longer value,
// either.
inline constexpr std::size_t kArgumentBytesMax = std::size_t{1} << 20;
// The limit of a whole command: all its arguments and its name.
inline constexpr std::size_t kCommandBytesMax = std::size_t{4} << 20;
inline constexpr std::size_t kArgumentsMax = 16 * 1024;
// The limit of the values in a reply to MGET, without keys and nils.
inline constexpr std::size_t kReplyBytesMax = std::size_t{8} << 20;

// At most this many sessions are live at a time. A request for one more gets TooManySessions.
inline constexpr std::size_t kSessionsMax = 10'000;
// The number of log entries for which an unused session lives: without an argument of SESSION NEW,
// and the largest argument.
inline constexpr std::uint64_t kSessionEntriesDefault = 100'000;
inline constexpr std::uint64_t kSessionEntriesMax = 10'000'000;

// The reply to a command: one of Redis's kinds of replies.
struct Reply {
  enum class Kind : std::uint8_t {
    kNil = 0,
    kStatus = 1,  // "OK"
    kInteger = 2,
    kString = 3,
    kArray = 4,  // of strings and nils
    kError = 5,  // its first word is the kind of error: see kv_errors.h
  };

  static Reply Nil() { return {}; }
  static Reply Ok() { return {Kind::kStatus, 0, "OK", {}}; }
  static Reply Integer(std::int64_t value) { return {Kind::kInteger, value, "", {}}; }
  static Reply String(std::string value) { return {Kind::kString, 0, std::move(value), {}}; }
  static Reply Array(std::vector<std::optional<std::string>> values) {
    return {Kind::kArray, 0, "", std::move(values)};
  }
  static Reply Error(std::string line) { return {Kind::kError, 0, std::move(line), {}}; }

  friend bool operator==(const Reply&, const Reply&) = default;

  Kind kind = Kind::kNil;
  std::int64_t integer = 0;                       // of kInteger
  std::string text;                               // of kStatus, kString, kError
  std::vector<std::optional<std::string>> items;  // of kArray; nothing: nil
  DEPFAST_FIELDS(kind, integer, text, items)
};

// The message with which a client asks any replica to execute a command. A replica passes it on to
// the proposers of the log.
struct KvRequest {
  using Reply = kv::Reply;
  static constexpr MethodId kMethod = 16;
  static constexpr const char* kName = "Kv";

  Command command;
  // Not 0 in a request to a proposer, from a replica or from a client that knows the proposers: the
  // proposer passes it on no further. The number, a new one for each sending, tells two copies of
  // one message from two messages: of copies that the network makes, one is executed.
  std::uint64_t forward_id = 0;
  DEPFAST_FIELDS(command, forward_id)
};

// A command as an entry of the log, never empty, and back. An entry is the command as it came:
// tests know a client's command by these bytes. Nothing if the bytes are not a command.
std::string EncodeCommand(const Command& command);
std::optional<Command> DecodeCommand(std::string_view bytes);

// The second word of an encoded command, usually its first key, without decoding it: see
// StateMachine::Expect. Empty if there is none, if it is longer than 255 bytes, or if the command
// has more than 15 words.
std::string_view FirstKeyIn(std::string_view bytes);

// A reply as the result of an entry (StateMachine::Apply), and back.
std::string EncodeReply(const Reply& reply);
std::optional<Reply> DecodeReply(std::string_view bytes);

}  // namespace depfast::kv
