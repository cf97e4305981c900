#include "kv_errors.h"

#include <string>

namespace depfast::kv {
namespace {

// A client's word as a part of a line: an error with a line's end in it would be two lines.
std::string Shown(std::string_view name, bool in_small_letters) {
  constexpr std::size_t kShownMax = 128;
  std::string shown(name.substr(0, kShownMax));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
    if (in_small_letters && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return shown;
}

}  // namespace

Reply UnknownCommand(std::string_view name) {
  return Reply::Error("ERR unknown command '" + Shown(name, false) + "'");
}

Reply WrongNumberOfArguments(std::string_view name) {
  return Reply::Error("ERR wrong number of arguments for '" + Shown(name, true) + "' command");
}

Reply TooLarge() { return Reply::Error("ERR string exceeds maximum allowed size"); }

Reply NestedSession() { return Reply::Error("ERR a SESSION cannot hold another one"); }

Reply NotAnInteger() { return Reply::Error("ERR value is not an integer or out of range"); }

Reply WouldOverflow() { return Reply::Error("ERR increment or decrement would overflow"); }

Reply ReplyTooLarge() { return Reply::Error("ERR the values are too large for one reply"); }

Reply TooManySessions() { return Reply::Error("ERR too many sessions"); }

Reply NoSession() {
  return Reply::Error("NOSESSION the session has expired, or never was; nothing is changed");
}

Reply StaleSequence() {
  return Reply::Error("STALESEQ a later sequence number of this session has been used");
}

Reply TryAgain() { return Reply::Error("TRYAGAIN no leader took the command; nothing is changed"); }

Reply UnknownOutcome() {
  return Reply::Error("UNKNOWN the leader was lost; the command may be executed, or not");
}

bool HasCode(const Reply& reply, std::string_view code) {
  if (reply.kind != Reply::Kind::kError) return false;
  const std::string_view text = reply.text;
  return text.substr(0, text.find(' ')) == code;
}

CommandOutcome OutcomeIn(const Reply& reply) {
  if (HasCode(reply, "TRYAGAIN")) return CommandOutcome::kRefused;
  return HasCode(reply, "UNKNOWN") ? CommandOutcome::kUnknown : CommandOutcome::kKnown;
}

}  // namespace depfast::kv
