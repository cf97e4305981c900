#include "journal.h"

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

#include "depfast/host/frame.h"
#include "depfast/record_log.h"

namespace depfast::copilot {
namespace {

using Kind = JournalRecord::Kind;
using Packer = msgpack::packer<frame_internal::StringSink>;

// Appends a record that is an array of these fields.
template <typename... Fields>
void Append(std::string& out, const Fields&... fields) {
  AppendRecord(out, [&] {
    frame_internal::StringSink sink(out);
    Packer packer(sink);
    packer.pack_array(sizeof...(fields));
    (packer.pack(fields), ...);
  });
}

void AppendRecordOf(std::string& out, Lane lane, EntryIndex index, const LaneLog& log) {
  Append(out, static_cast<std::uint8_t>(Kind::kRecord), lane, index, log.RecordOf(index));
}

void AppendEntry(std::string& out, Lane lane, EntryIndex index, LaneLog& log) {
  LaneLog::Body& body = log.BodyOf(index);
  if (!body.origin) return AppendRecordOf(out, lane, index, log);
  body.are_written = true;
  Append(out, static_cast<std::uint8_t>(Kind::kEntry), lane, index, log.RecordOf(index),
         *body.origin, body.commands);
}

[[noreturn]] void Refuse() { throw std::runtime_error("the journal makes no sense"); }

// The field `number` of a record.
template <typename T>
T Field(const msgpack::object_array& record, std::uint32_t number) {
  if (number >= record.size) Refuse();
  return record.ptr[number].as<T>();
}

JournalRecord Decode(const msgpack::object_array& fields) {
  JournalRecord out;
  out.kind = static_cast<Kind>(Field<std::uint8_t>(fields, 0));
  out.lane = static_cast<Lane>(Field<std::uint8_t>(fields, 1));
  if (out.lane > Lane::kCopilot || out.kind > Kind::kReserved) Refuse();
  out.number = Field<std::uint64_t>(fields, 2);
  if (out.kind == Kind::kBase) out.latest_gone = Field<EntryIndex>(fields, 3);
  if (out.kind != Kind::kEntry && out.kind != Kind::kRecord) return out;
  out.record = Field<Record>(fields, 3);
  if (out.kind == Kind::kRecord) return out;
  out.origin = Field<View>(fields, 4);
  out.commands = Field<Commands>(fields, 5);
  return out;
}

// A missing file is empty.
std::optional<std::string> ReadFile(Runtime& runtime, const char* file) {
  const auto read = runtime.storage().Read(file);
  if (read->Wait() == Outcome::kReady) return read->data();
  if (read->error() == ENOENT) return std::nullopt;
  throw std::system_error(read->error(), std::generic_category(),
                          std::string("cannot read ") + file);
}

}  // namespace

std::size_t ReadJournal(std::string_view bytes, const std::function<void(JournalRecord)>& visit) {
  return ReadRecords(bytes, [&](std::string_view payload) {
    std::string error;
    const frame_internal::Unpacked value(payload, error);
    if (!value || value.get().type != msgpack::type::ARRAY) Refuse();
    try {
      visit(Decode(value.get().via.array));
    } catch (const msgpack::type_error&) {
      Refuse();
    }
  });
}

void Recovered::Take(JournalRecord record) {
  const auto& [kind, lane, number, entry, origin, commands, latest_gone] = record;
  LaneLog& log = lanes[static_cast<std::size_t>(lane)];
  switch (kind) {
    case Kind::kView:
      views[static_cast<std::size_t>(lane)] = number;
      return;
    case Kind::kReserved:
      At(reserved, lane) = number;
      return;
    case Kind::kBase:
      log.Reset(number, latest_gone);
      return;
    case Kind::kEntry:
    case Kind::kRecord:
      break;
  }
  if (log.IsDecided(number)) return;  // a copy
  if (kind == Kind::kEntry) log.SetCommands(number, origin, std::move(record.commands));
  log.Set(number, entry);
}

std::string EncodeSnapshot(const StoredSnapshot& snapshot) {
  std::string out;
  Append(out, snapshot.id, snapshot.base, snapshot.latest_gone, snapshot.data);
  return out;
}

std::optional<StoredSnapshot> DecodeSnapshot(std::string_view bytes) {
  std::optional<StoredSnapshot> snapshot;
  const std::size_t good = ReadRecords(bytes, [&](std::string_view payload) {
    std::string error;
    const frame_internal::Unpacked value(payload, error);
    if (!value || value.get().type != msgpack::type::ARRAY) return;
    const msgpack::object_array& fields = value.get().via.array;
    if (fields.size != 4) return;
    try {
      snapshot = {fields.ptr[0].as<SnapshotId>(), fields.ptr[1].as<PerLane>(),
                  fields.ptr[2].as<PerLane>(), fields.ptr[3].as<std::string>()};
    } catch (const msgpack::type_error&) {  // another record than ours: no snapshot
    }
  });
  return good == bytes.size() ? snapshot : std::nullopt;
}

Recovered Journal::Recover() {
  Recovered state;
  if (!on_disk()) {
    if (ReadFile(runtime_, kStartedFile)) {
      throw std::runtime_error(
          "this replica kept its log in memory and has lost it: it must not vote again");
    }
    const auto started = runtime_.storage().Append(kStartedFile, "1", Storage::Sync::kYes);
    if (started->Wait() != Outcome::kReady) throw std::runtime_error("a write failed");
    return state;
  }
  // A crash may have left unfinished files.
  std::ignore = runtime_.storage().Remove(kNewSnapshotFile);
  std::ignore = runtime_.storage().Remove(kNewJournalFile);
  if (const auto bytes = ReadFile(runtime_, kSnapshotFile)) {
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
  if (!state.snapshot) return state;
  state.is_first_start = false;
  for (const Lane lane : kLanes) {
    state.lanes[static_cast<std::size_t>(lane)].Reset(At(state.snapshot->base, lane),
                                                      At(state.snapshot->latest_gone, lane));
  }
  return state;
}

void Journal::WriteView(Lane lane, View view) {
  if (!on_disk()) return;
  Append(unsynced_, static_cast<std::uint8_t>(Kind::kView), lane, view);
  is_dirty_ = true;
}

void Journal::WriteEntry(Lane lane, EntryIndex index, LaneLog& log) {
  if (!on_disk()) return;
  // Commands may be large, and an Accept often comes after a proposal, or again and again.
  if (log.BodyOf(index).are_written) return WriteRecord(lane, index, log);
  AppendEntry(unsynced_, lane, index, log);
  is_dirty_ = true;
}

void Journal::WriteRecord(Lane lane, EntryIndex index, const LaneLog& log) {
  if (!on_disk()) return;
  AppendRecordOf(unsynced_, lane, index, log);
  is_dirty_ = true;
}

void Journal::WriteReservation(Lane lane, EntryIndex up_to) {
  At(reserved_, lane) = up_to;
  if (!on_disk()) return;
  Append(unsynced_, static_cast<std::uint8_t>(Kind::kReserved), lane, up_to);
  is_dirty_ = true;
}

void Journal::WhenDurable(std::function<void()> then) {
  if (!is_dirty_ && !syncing_) {
    then();
    return;
  }
  waiting_.push_back(std::move(then));
  StartSync();
}

void Journal::StartSync() {
  if (std::exchange(syncing_, true)) return;
  // The coroutine runs after all messages of this step are handled: one sync for their records.
  runtime_.Spawn("journal", [this] { Sync(); });
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

void Journal::Replace(const StoredSnapshot& snapshot, const std::array<View, 2>& views,
                      std::array<LaneLog, 2>& lanes) {
  if (!on_disk()) return;
  std::string journal;
  for (const Lane lane : kLanes) {
    LaneLog& log = lanes[static_cast<std::size_t>(lane)];
    Append(journal, static_cast<std::uint8_t>(Kind::kView), lane,
           views[static_cast<std::size_t>(lane)]);
    Append(journal, static_cast<std::uint8_t>(Kind::kReserved), lane, At(reserved_, lane));
    Append(journal, static_cast<std::uint8_t>(Kind::kBase), lane, log.base(), log.latest_gone());
    for (EntryIndex index = log.base() + 1; index <= log.last(); ++index) {
      AppendEntry(journal, lane, index, log);
    }
  }
  // The new journal has the unsynced records, too. Writes take effect in order: whoever waits for
  // an earlier record waits for a write after these. If one of these fails, that write fails, too.
  unsynced_.clear();
  is_dirty_ = true;
  bytes_ = journal.size();
  Storage& storage = runtime_.storage();
  std::ignore = storage.Append(kNewSnapshotFile, EncodeSnapshot(snapshot), Storage::Sync::kYes);
  std::ignore = storage.Rename(kNewSnapshotFile, kSnapshotFile);
  std::ignore = storage.Append(kNewJournalFile, std::move(journal), Storage::Sync::kYes);
  std::ignore = storage.Rename(kNewJournalFile, kJournalFile);
}

}  // namespace depfast::copilot
