#include "journal.h"

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

#include "depfast/host/codec.h"
#include "depfast/record_log.h"

namespace depfast::copilot {
namespace {

using Kind = JournalRecord::Kind;
using Packer = msgpack::packer<frame_internal::StringSink>;

// Appends a record, whose payload `pack` packs.
template <typename Pack>
void AppendPacked(std::string& out, const Pack& pack) {
  AppendRecord(out, [&] {
    frame_internal::StringSink sink(out);
    Packer packer(sink);
    pack(packer);
  });
}

// Throws msgpack::type_error for a record that makes no sense.
JournalRecord Decode(const msgpack::object& record) {
  if (record.type != msgpack::type::ARRAY) throw msgpack::type_error();
  const auto field = [&fields = record.via.array](std::uint32_t number) -> const msgpack::object& {
    if (number >= fields.size) throw msgpack::type_error();
    return fields.ptr[number];
  };
  JournalRecord out{static_cast<Kind>(field(0).as<std::uint8_t>()),
                    static_cast<Lane>(field(1).as<std::uint8_t>()), field(2).as<std::uint64_t>()};
  if (out.lane > Lane::kCopilot || out.kind > Kind::kReserved) throw msgpack::type_error();
  if (out.kind == Kind::kBase) out.latest_gone = field(3).as<EntryIndex>();
  if (out.kind == Kind::kEntry || out.kind == Kind::kRecord) out.record = field(3).as<Record>();
  if (out.kind != Kind::kEntry) return out;
  out.origin = field(4).as<View>();
  out.commands = field(5).as<Commands>();
  return out;
}

// Nothing if there is no such file. Waits.
std::optional<std::string> ReadFile(Runtime& runtime, const char* file) {
  const auto read = runtime.storage().Read(file);
  if (read->Wait() == Outcome::kReady) return read->data();
  if (read->error() == ENOENT) return std::nullopt;
  throw std::system_error(read->error(), std::generic_category(),
                          std::string("cannot read ") + file);
}

}  // namespace

std::string EncodeSnapshot(const StoredSnapshot& snapshot) {
  std::string out;
  AppendPacked(out, [&](Packer& packer) { packer.pack(snapshot); });
  return out;
}

std::optional<StoredSnapshot> DecodeSnapshot(std::string_view bytes) {
  std::optional<StoredSnapshot> snapshot;
  const std::size_t good = ReadRecords(bytes, [&](std::string_view payload) {
    std::string error;
    snapshot = DecodeBody<StoredSnapshot>(payload, error);
  });
  return good == bytes.size() ? snapshot : std::nullopt;
}

std::size_t ReadJournal(std::string_view bytes, const std::function<void(JournalRecord)>& visit) {
  return ReadRecords(bytes, [&](std::string_view payload) {
    std::string error;
    const frame_internal::Unpacked value(payload, error);
    try {
      if (!value) throw msgpack::type_error();
      visit(Decode(value.get()));
    } catch (const msgpack::type_error&) {
      throw std::runtime_error("the journal makes no sense");
    }
  });
}

void Recovered::Take(JournalRecord record) {
  const auto& [kind, lane, number, entry, origin, commands, latest_gone] = record;
  LaneLog& log = At(lanes, lane);
  if (kind == Kind::kView) At(views, lane) = number;
  if (kind == Kind::kReserved) At(reserved, lane) = number;
  if (kind == Kind::kBase) log.Reset(number, latest_gone);
  if (kind != Kind::kEntry && kind != Kind::kRecord) return;
  if (log.IsDecided(number)) return;  // a copy
  if (kind == Kind::kEntry) log.SetCommands(number, origin, std::move(record.commands));
  log.Set(number, entry);
}

void Journal::StartInMemory() {
  if (ReadFile(runtime_, kStartedFile)) {
    throw std::runtime_error(
        "this replica kept its log in memory and has lost it: it must not vote again");
  }
  const auto started = runtime_.storage().Append(kStartedFile, "1", Storage::Sync::kYes);
  if (started->Wait() != Outcome::kReady) throw std::runtime_error("a write failed");
}

Recovered Journal::Recover() {
  Recovered state;
  if (durability_ == Durability::kInMemory) {
    StartInMemory();
    return state;
  }
  // A crash may have left unfinished files.
  std::ignore = runtime_.storage().Remove(kNewSnapshotFile);
  std::ignore = runtime_.storage().Remove(kNewJournalFile);
  if (const auto bytes = ReadFile(runtime_, kSnapshotFile)) {
    state.is_first_start = false;
    state.snapshot = DecodeSnapshot(*bytes);
    if (!state.snapshot) throw std::runtime_error("the snapshot is damaged");
  }
  if (const auto bytes = ReadFile(runtime_, kJournalFile)) {
    state.is_first_start = false;
    bytes_ = bytes->size();
    const std::size_t good =
        ReadJournal(*bytes, [&](JournalRecord record) { state.Take(std::move(record)); });
    if (!MayBeTorn(std::string_view(*bytes).substr(good))) {
      throw std::runtime_error("the journal is damaged");
    }
    if (good < bytes->size()) std::ignore = runtime_.storage().Truncate(kJournalFile, good);
  }
  reserved_ = state.reserved;
  for (const Lane lane : kLanes) {
    if (!state.snapshot) break;
    At(state.lanes, lane)
        .Reset(At(state.snapshot->base, lane), At(state.snapshot->latest_gone, lane));
  }
  return state;
}

// ---- writes ----

template <typename... Fields>
void Journal::Write(Kind kind, Lane lane, std::uint64_t number, const Fields&... more) {
  if (durability_ == Durability::kInMemory) return;
  AppendPacked(unsynced_, [&](Packer& packer) {
    packer.pack_array(3 + sizeof...(more));
    packer.pack(static_cast<std::uint8_t>(kind)).pack(lane).pack(number);
    (packer.pack(more), ...);
  });
  is_dirty_ = true;
}

void Journal::WriteView(Lane lane, View view) {
  At(views_, lane) = view;
  Write(Kind::kView, lane, view);
}

void Journal::WriteReservation(Lane lane, EntryIndex up_to) {
  At(reserved_, lane) = up_to;
  Write(Kind::kReserved, lane, up_to);
}

void Journal::WriteRecord(Lane lane, EntryIndex index, const LaneLog& log) {
  Write(Kind::kRecord, lane, index, log.RecordOf(index));
}

// Commands may be large, and an Accept often comes after a proposal, or again and again.
void Journal::WriteEntry(Lane lane, EntryIndex index, LaneLog& log) {
  LaneLog::Body& body = log.BodyOf(index);
  if (!body.origin || std::exchange(body.are_written, true)) return WriteRecord(lane, index, log);
  Write(Kind::kEntry, lane, index, log.RecordOf(index), *body.origin, body.commands);
}

void Journal::WhenDurable(std::function<void()> then) {
  if (!is_dirty_ && !syncing_) {
    then();
    return;
  }
  waiting_.push_back(std::move(then));
  // The coroutine runs after all messages of this step are handled: one sync for their records.
  if (!std::exchange(syncing_, true)) runtime_.Spawn("journal", [this] { Sync(); });
}

void Journal::Sync() {
  runtime_.set_dependency({});
  while (!waiting_.empty()) {
    const auto due = std::exchange(waiting_, {});
    is_dirty_ = false;
    bytes_ += unsynced_.size();
    const auto write =
        runtime_.storage().Append(kJournalFile, std::exchange(unsynced_, {}), Storage::Sync::kYes);
    if (write->Wait() != Outcome::kReady) {
      throw std::system_error(write->error(), std::generic_category(), "a write failed");
    }
    for (const auto& then : due) then();
  }
  syncing_ = false;
}

void Journal::Replace(const StoredSnapshot& snapshot, std::array<LaneLog, 2>& lanes) {
  if (durability_ == Durability::kInMemory) return;
  // The new journal has the unsynced records, too. Writes take effect in order: whoever waits for
  // an earlier record waits for a write after these. If one of these fails, that write fails, too.
  unsynced_.clear();
  for (const Lane lane : kLanes) {
    LaneLog& log = At(lanes, lane);
    WriteView(lane, At(views_, lane));
    WriteReservation(lane, At(reserved_, lane));
    Write(Kind::kBase, lane, log.base(), log.records().latest_gone);
    for (EntryIndex index = log.base() + 1; index <= log.last(); ++index) {
      log.BodyOf(index).are_written = false;
      WriteEntry(lane, index, log);
    }
  }
  bytes_ = unsynced_.size();
  Storage& storage = runtime_.storage();
  std::ignore = storage.Append(kNewSnapshotFile, EncodeSnapshot(snapshot), Storage::Sync::kYes);
  std::ignore = storage.Rename(kNewSnapshotFile, kSnapshotFile);
  std::ignore = storage.Append(kNewJournalFile, std::exchange(unsynced_, {}), Storage::Sync::kYes);
  std::ignore = storage.Rename(kNewJournalFile, kJournalFile);
}

}  // namespace depfast::copilot
