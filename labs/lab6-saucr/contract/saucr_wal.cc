#include "saucr_wal.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include "depfast/host/codec.h"
#include "depfast/record_log.h"

namespace depfast::saucr {
namespace {

using Fields = msgpack::object_array;

[[noreturn]] void Refuse(const std::string& why) {
  throw std::runtime_error("the write-ahead log makes no sense: " + why);
}

// A record that is an array of these fields.
template <typename... Values>
std::string Record(WalRecord kind, const Values&... values) {
  std::string record;
  AppendRecord(record, [&] {
    frame_internal::StringSink sink(record);
    msgpack::packer<frame_internal::StringSink> packer(sink);
    packer.pack_array(1 + sizeof...(values));
    packer.pack(static_cast<std::uint8_t>(kind));
    (packer.pack(values), ...);
  });
  return record;
}

template <typename T>
T Field(const Fields& fields, std::uint32_t number) {
  if (number >= fields.size) Refuse("a record is too short");
  return fields.ptr[number].as<T>();
}

void TakeEntries(EntryIndex first, std::vector<LogEntry> entries, RaftLog& log) {
  if (first <= log.base_index() || first > log.last_index() + 1) {
    Refuse("entries beyond the end of the log");
  }
  log.TruncateFrom(first);
  for (LogEntry& entry : entries) log.Append(std::move(entry));
}

WalRecord Take(const Fields& fields, WalState& state) {
  const auto kind = static_cast<WalRecord>(Field<std::uint8_t>(fields, 0));
  switch (kind) {
    case WalRecord::kHardState:
      state.hard_state = {Field<std::uint64_t>(fields, 1), Field<PeerId>(fields, 2)};
      return kind;
    case WalRecord::kEntries:
      TakeEntries(Field<EntryIndex>(fields, 1), Field<std::vector<LogEntry>>(fields, 2), state.log);
      return kind;
    case WalRecord::kBase:
      state.log.Reset(Field<EntryIndex>(fields, 1), Field<std::uint64_t>(fields, 2));
      return kind;
    case WalRecord::kFastSwitch:
      state.markers.fast_switch = {Field<std::uint64_t>(fields, 1), Field<EntryIndex>(fields, 2)};
      return kind;
    case WalRecord::kLatestOnDisk:
      state.markers.latest_on_disk = Field<EntryId>(fields, 1);
      state.map = Field<LleMap>(fields, 2);
      return kind;
    case WalRecord::kLives:
      state.lives = Field<Lives>(fields, 1);
      return kind;
  }
  Refuse("an unknown record");
}

// Calls `take` with the fields of each whole record. Returns the number of their bytes.
std::size_t ReadFields(std::string_view bytes, const std::function<void(const Fields&)>& take) {
  return ReadRecords(bytes, [&](std::string_view payload) {
    std::string error;
    const frame_internal::Unpacked value(payload, error);
    if (!value || value.get().type != msgpack::type::ARRAY) Refuse("no array");
    try {
      take(value.get().via.array);
    } catch (const msgpack::type_error&) {
      Refuse("a field of the wrong type");
    }
  });
}

// Whether `bytes`, behind a bad record, have a whole record that is not of entries.
bool HasSyncedRecord(std::string_view bytes) {
  bool has = false;
  const auto look = [&](const Fields& fields) {
    has = has || Field<std::uint8_t>(fields, 0) != static_cast<std::uint8_t>(WalRecord::kEntries);
  };
  while (!bytes.empty() && !has) {
    const std::size_t whole = ReadFields(bytes, look);
    bytes.remove_prefix(whole > 0 ? whole : 1);
  }
  return has;
}

}  // namespace

std::string EncodeFastSwitch(EntryId entry) {
  return Record(WalRecord::kFastSwitch, entry.term, entry.index);
}

std::string EncodeLatestOnDisk(EntryId entry, const LleMap& map) {
  return Record(WalRecord::kLatestOnDisk, entry, map);
}

std::string EncodeLives(const Lives& lives) { return Record(WalRecord::kLives, lives); }

std::size_t WalState::Read(std::string_view bytes,
                           const std::function<void(WalRecord)>& on_record) {
  return ReadFields(bytes, [&](const Fields& fields) {
    const WalRecord kind = Take(fields, *this);
    if (on_record) on_record(kind);
  });
}

std::size_t WalState::Recover(std::string_view bytes) {
  const std::size_t good = Read(bytes);
  if (HasSyncedRecord(bytes.substr(good))) {
    throw std::runtime_error("the write-ahead log is damaged at byte " + std::to_string(good) +
                             ", before a record that was synced");
  }
  return good;
}

std::string EncodeWal(const HardState& hard_state, const RaftLog& log, const Markers& markers,
                      const LleMap& map, const Lives& lives) {
  std::string bytes = raft::EncodeWal(hard_state, log);
  if (!lives.empty()) bytes += EncodeLives(lives);
  if (markers.fast_switch != EntryId()) bytes += EncodeFastSwitch(markers.fast_switch);
  if (markers.latest_on_disk != EntryId()) bytes += EncodeLatestOnDisk(markers.latest_on_disk, map);
  return bytes;
}

}  // namespace depfast::saucr
