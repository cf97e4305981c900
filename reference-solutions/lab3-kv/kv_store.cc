#include "kv_store.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <vector>

#include "depfast/host/codec.h"
#include "kv_errors.h"

namespace depfast::kv {
namespace {

// A number as it is printed, and in no other way: no "+1", no "01", no " 1".
template <typename Number>
std::optional<Number> NumberOf(const std::string& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (std::to_string(number) != text) return std::nullopt;
  return number;
}

// A store with fewer keys is usually in the processor's caches.
constexpr std::size_t kKeysInCaches = 1000;

// A command may write to the value. The processor fetches the rest of a longer one by itself.
constexpr std::size_t kFetchedBytesMax = 512;
constexpr std::size_t kCacheLine = 64;

Reply Count(std::size_t count) { return Reply::Integer(static_cast<std::int64_t>(count)); }

Reply ValueOrNil(std::optional<std::string> value) {
  return value ? Reply::String(*std::move(value)) : Reply::Nil();
}

}  // namespace

std::string KvStore::Apply(std::uint64_t index, std::string_view bytes) {
  ExpireSessions(index);
  const auto command = DecodeCommand(bytes);
  if (!command) return EncodeReply(UnknownCommand(""));
  const auto wrong = FindError(*command);
  return EncodeReply(wrong ? *wrong : Execute(index, *command));
}

void KvStore::Expect(std::span<const std::string_view> commands) {
  if (values_.size() < kKeysInCaches) return;
  expected_keys_.resize(commands.size());
  std::ranges::transform(commands, expected_keys_.begin(), FirstKeyIn);
  // A loop of lookups alone: the processor begins the next ones while it waits for the first.
  for (const std::string& key : expected_keys_) {
    const auto found = std::as_const(values_).find(key);
    if (found == values_.end()) continue;
    // This loop is no function of its own: the compiler drops calls of one without effects.
    for (std::size_t i = 0; i < std::min(found->second.size(), kFetchedBytesMax); i += kCacheLine) {
      __builtin_prefetch(found->second.data() + i, /*rw=*/1);
    }
  }
}

Reply KvStore::Execute(std::uint64_t index, const Command& command) {
  const CommandForm& form = *FindCommand(command[0]);
  if (form.reads) return Read(command);
  if (form.verb != Verb::kSession) return Write(form.verb, command);
  return IsWord(command[1], "NEW") ? OpenSession(index, command) : ExecuteOnce(index, command);
}

std::optional<std::string> KvStore::ValueOf(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

// ---- commands ----

Reply KvStore::Read(const Command& command) const {
  switch (FindCommand(command[0])->verb) {
    case Verb::kGet:
      return ValueOrNil(ValueOf(command[1]));
    case Verb::kStrlen: {
      const auto found = values_.find(command[1]);
      return Count(found == values_.end() ? 0 : found->second.size());
    }
    case Verb::kExists: {
      std::size_t count = 0;
      for (std::size_t i = 1; i < command.size(); ++i) count += values_.count(command[i]);
      return Count(count);
    }
    case Verb::kMget: {
      std::vector<std::optional<std::string>> items;
      std::size_t bytes = 0;
      for (std::size_t i = 1; i < command.size(); ++i) {
        const auto found = values_.find(command[i]);
        if (found != values_.end()) bytes += found->second.size();
        if (bytes > kReplyBytesMax) return ReplyTooLarge();
        items.push_back(found == values_.end() ? std::nullopt : std::optional(found->second));
      }
      return Reply::Array(std::move(items));
    }
    default:
      break;
  }
  assert(false && "not a command that only reads");
  return Reply::Nil();
}

Reply KvStore::Write(Verb verb, const Command& command) {
  const std::string& key = command[1];
  switch (verb) {
    case Verb::kSet:
      values_[key] = command[2];
      return Reply::Ok();
    case Verb::kDel: {
      std::size_t count = 0;
      for (std::size_t i = 1; i < command.size(); ++i) count += values_.erase(command[i]);
      return Count(count);
    }
    case Verb::kIncr:
      return Increment(key);
    case Verb::kAppend:
      return Append(key, command[2]);
    case Verb::kMset:
      for (std::size_t i = 1; i < command.size(); i += 2) values_[command[i]] = command[i + 1];
      return Reply::Ok();
    case Verb::kSetnx:
      return Reply::Integer(values_.try_emplace(key, command[2]).second ? 1 : 0);
    case Verb::kGetset: {
      std::optional<std::string> old = ValueOf(key);
      values_[key] = command[2];
      return ValueOrNil(std::move(old));
    }
    case Verb::kCas:
      return CompareAndSet(command);
    default:
      break;
  }
  assert(false && "not a command that writes");
  return Reply::Nil();
}

Reply KvStore::Increment(const std::string& key) {
  const auto found = values_.find(key);
  const auto old = found == values_.end() ? 0 : NumberOf<std::int64_t>(found->second);
  if (!old) return NotAnInteger();
  if (*old == std::numeric_limits<std::int64_t>::max()) return WouldOverflow();
  values_[key] = std::to_string(*old + 1);
  return Reply::Integer(*old + 1);
}

Reply KvStore::Append(const std::string& key, const std::string& value) {
  const auto found = values_.find(key);
  const std::size_t old_bytes = found == values_.end() ? 0 : found->second.size();
  if (old_bytes + value.size() > kArgumentBytesMax) return TooLarge();
  return Count((values_[key] += value).size());
}

Reply KvStore::CompareAndSet(const Command& command) {
  const auto found = values_.find(command[1]);
  if (found == values_.end() || found->second != command[2]) return Reply::Integer(0);
  found->second = command[3];
  return Reply::Integer(1);
}

// ---- sessions ----

Reply KvStore::OpenSession(std::uint64_t index, const Command& command) {
  Session session;
  session.entries = kSessionEntriesDefault;
  session.last_used = index;
  if (command.size() > 2) {
    const auto entries = NumberOf<std::uint64_t>(command[2]);
    if (!entries || *entries == 0 || *entries > kSessionEntriesMax) return NotAnInteger();
    session.entries = *entries;
  }
  if (sessions_.size() >= kSessionsMax) return TooManySessions();
  expiry_.emplace(session.last_entry(), index);
  sessions_.emplace(index, std::move(session));
  return Reply::Integer(static_cast<std::int64_t>(index));
}

Reply KvStore::ExecuteOnce(std::uint64_t index, const Command& command) {
  const auto id = NumberOf<SessionId>(command[1]);
  const auto sequence = NumberOf<std::uint64_t>(command[2]);
  if (!id || !sequence || *sequence == 0) return NotAnInteger();
  const auto found = sessions_.find(*id);
  if (found == sessions_.end()) return NoSession();
  Session& session = found->second;
  expiry_.erase({session.last_entry(), *id});
  session.last_used = index;
  expiry_.emplace(session.last_entry(), *id);
  if (*sequence < session.last_sequence) return StaleSequence();
  if (*sequence > session.last_sequence) {
    session.last_sequence = *sequence;
    session.last_reply = Execute(index, Command(command.begin() + 3, command.end()));
  }
  return session.last_reply;
}

void KvStore::ExpireSessions(std::uint64_t index) {
  while (!expiry_.empty() && expiry_.begin()->first < index) {
    sessions_.erase(expiry_.begin()->second);
    expiry_.erase(expiry_.begin());
  }
}

void KvStore::IndexSessions() {
  expiry_.clear();
  for (const auto& [id, session] : sessions_) expiry_.emplace(session.last_entry(), id);
}

// ---- snapshots ----

std::string KvStore::Snapshot() const {
  std::string bytes;
  frame_internal::StringSink sink(bytes);
  msgpack::packer packer(sink);
  packer.pack_array(2);
  packer.pack(values_);
  packer.pack(sessions_);
  return bytes;
}

void KvStore::Restore(std::string_view snapshot) {
  std::pair<std::map<std::string, std::string>, std::map<SessionId, Session>> state;
  try {
    msgpack::unpack(snapshot.data(), snapshot.size()).get().convert(state);
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("the snapshot is no key-value store: ") + error.what());
  }
  values_ = std::move(state.first);
  sessions_ = std::move(state.second);
  IndexSessions();
}

// The bytes of Snapshot, in pieces.
class KvStore::Pieces final : public SnapshotPieces {
 public:
  explicit Pieces(KvStore& store)
      : values_(store.values_.StartWalk()), sessions_(store.sessions_.StartWalk()) {}

  std::string Next(std::size_t bytes) override {
    std::string piece;
    frame_internal::StringSink sink(piece);
    msgpack::packer packer(sink);
    const auto pack = [&](const auto& key, const auto& value) {
      packer.pack(key);
      packer.pack(value);
      return piece.size() < bytes;
    };
    if (!std::exchange(begun_, true)) {
      packer.pack_array(2);
      packer.pack_map(static_cast<std::uint32_t>(values_->size()));
    }
    if (values_->Continue(pack)) return piece;
    if (!std::exchange(in_sessions_, true)) {
      packer.pack_map(static_cast<std::uint32_t>(sessions_->size()));
    }
    sessions_->Continue(pack);
    return piece;
  }

 private:
  std::shared_ptr<SnapshotMap<std::string, std::string>::Walk> values_;
  std::shared_ptr<SnapshotMap<SessionId, Session>::Walk> sessions_;
  bool begun_ = false;
  bool in_sessions_ = false;
};

std::unique_ptr<SnapshotPieces> KvStore::StartSnapshot() { return std::make_unique<Pieces>(*this); }

}  // namespace depfast::kv
