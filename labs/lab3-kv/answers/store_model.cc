#include "linearizability/store_model.h"

#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "kv_commands.h"
#include "kv_errors.h"

namespace depfast::kv {
namespace {

// A decimal number in its printed form.
std::optional<std::uint64_t> NumberIn(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || std::to_string(number) != text) return std::nullopt;
  return number;
}

std::size_t BytesAt(const KvModel& values, const std::string& key) {
  const auto found = values.values().find(key);
  return found == values.values().end() ? 0 : found->second.size();
}

}  // namespace

bool HasMalformedNumber(const Command& command) {
  if (FindCommand(command[0])->verb != Verb::kSession) return false;
  if (!IsWord(command[1], "NEW")) {
    return !NumberIn(command[1]) || NumberIn(command[2]).value_or(0) == 0;
  }
  if (command.size() < 3) return false;
  const std::uint64_t entries = NumberIn(command[2]).value_or(0);
  return entries < 1 || entries > kSessionEntriesMax;
}

Reply StoreModel::Apply(std::uint64_t index, const Command& command) {
  Expire(index);
  if (const auto wrong = FindError(command)) return *wrong;
  return Execute(index, command);
}

Reply StoreModel::Execute(std::uint64_t index, const Command& command) {
  const CommandForm& form = *FindCommand(command[0]);
  if (form.reads) return Read(command);
  if (form.verb == Verb::kSession) {
    return IsWord(command[1], "NEW") ? Open(index, command) : ExecuteOnce(index, command);
  }
  const bool appends = form.verb == Verb::kAppend;
  if (appends && BytesAt(values_, command[1]) + command[2].size() > kArgumentBytesMax) {
    return TooLarge();
  }
  return values_.Execute(ParsedCommand(command));
}

Reply StoreModel::Read(const Command& command) {
  if (FindCommand(command[0])->verb == Verb::kMget) {
    std::size_t bytes = 0;
    for (auto key = std::next(command.begin()); key != command.end(); ++key) {
      bytes += BytesAt(values_, *key);
    }
    if (bytes > kReplyBytesMax) return ReplyTooLarge();
  }
  return values_.Execute(ParsedCommand(command));
}

Reply StoreModel::Open(std::uint64_t index, const Command& command) {
  if (HasMalformedNumber(command)) return NotAnInteger();
  const std::uint64_t entries =
      command.size() > 2 ? NumberIn(command[2]).value() : kSessionEntriesDefault;
  if (sessions_.size() >= kSessionsMax) {
    ++met_.refused;
    return TooManySessions();
  }
  ++met_.opened;
  Session& session = sessions_[index];
  session.entries = entries;
  Use(index, session, index);
  return Reply::Integer(static_cast<std::int64_t>(index));
}

Reply StoreModel::ExecuteOnce(std::uint64_t index, const Command& command) {
  const auto id = NumberIn(command[1]);
  const auto sequence = NumberIn(command[2]);
  const auto found = id ? sessions_.find(*id) : sessions_.end();
  if (HasMalformedNumber(command)) {
    if (found != sessions_.end()) ++met_.malformed;
    return NotAnInteger();
  }
  if (found == sessions_.end()) return NoSession();
  Session& session = found->second;
  met_.last_uses += index == session.last_use + session.entries ? 1 : 0;
  Use(*id, session, index);
  if (*sequence < session.sequence) {
    ++met_.stale;
    return StaleSequence();
  }
  if (*sequence == session.sequence) {
    ++met_.retries;
    return session.reply;
  }
  session.sequence = *sequence;
  session.reply = Execute(index, Command(command.begin() + 3, command.end()));
  return session.reply;
}

void StoreModel::Use(std::uint64_t id, Session& session, std::uint64_t index) {
  ends_.erase({session.last_use + session.entries, id});
  session.last_use = index;
  ends_.emplace(session.last_use + session.entries, id);
}

void StoreModel::Expire(std::uint64_t index) {
  for (; !ends_.empty() && ends_.begin()->first < index; ends_.erase(ends_.begin())) {
    sessions_.erase(ends_.begin()->second);
    ++met_.expired;
  }
}

SessionsMet& SessionsMet::operator+=(const SessionsMet& more) {
  opened += more.opened;
  refused += more.refused;
  retries += more.retries;
  stale += more.stale;
  malformed += more.malformed;
  expired += more.expired;
  last_uses += more.last_uses;
  return *this;
}

}  // namespace depfast::kv
