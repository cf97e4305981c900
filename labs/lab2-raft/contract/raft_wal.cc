#include "raft_wal.h"

#include <stdexcept>

#include "depfast/record_log.h"

namespace depfast::raft {
namespace {

enum class Record : std::uint8_t { kHardState = 0, kEntries = 1, kBase = 2 };

using Packer = msgpack::packer<frame_internal::StringSink>;

[[noreturn]] void Refuse(const char* why) {
  throw std::runtime_error(std::string("the write-ahead log makes no sense: ") + why);
}

std::string Framed(const std::string& payload) {
  std::string out;
  out.reserve(payload.size() + kRecordHeaderBytes);
  AppendRecord(payload, out);
  return out;
}

void TakeEntries(const msgpack::object_array& record, RaftLog& log) {
  const auto first = record.ptr[1].as<std::uint64_t>();
  if (first <= log.base_index() || first > log.last_index() + 1) {
    Refuse("entries beyond the end of the log");
  }
  log.TruncateFrom(first);
  for (LogEntry& entry : record.ptr[2].as<std::vector<LogEntry>>()) log.Append(std::move(entry));
}

// A record that is an array of three, made by `pack` on its packer.
template <typename Pack>
std::string ThreeFields(const Pack& pack) {
  std::string payload;
  frame_internal::StringSink sink(payload);
  Packer packer(sink);
  packer.pack_array(3);
  pack(packer);
  return Framed(payload);
}

std::string EncodeBase(std::uint64_t index, std::uint64_t term) {
  return ThreeFields([&](Packer& packer) {
    packer.pack(static_cast<std::uint8_t>(Record::kBase));
    packer.pack(index);
    packer.pack(term);
  });
}

}  // namespace

std::string EncodeHardState(const HardState& state) {
  return ThreeFields([&](Packer& packer) {
    packer.pack(static_cast<std::uint8_t>(Record::kHardState));
    packer.pack(state.term);
    packer.pack(state.voted_for);
  });
}

std::string EncodeEntries(const RaftLog& log, std::uint64_t first_index) {
  return ThreeFields([&](Packer& packer) {
    packer.pack(static_cast<std::uint8_t>(Record::kEntries));
    packer.pack(first_index);
    packer.pack_array(static_cast<std::uint32_t>(log.last_index() + 1 - first_index));
    for (std::uint64_t index = first_index; index <= log.last_index(); ++index) {
      packer.pack(log.At(index));
    }
  });
}

std::string EncodeWal(const HardState& state, const RaftLog& log) {
  std::string bytes = EncodeBase(log.base_index(), log.base_term()) + EncodeHardState(state);
  if (log.last_index() > log.base_index()) bytes += EncodeEntries(log, log.base_index() + 1);
  return bytes;
}

std::string EncodeSnapshot(const Snapshot& snapshot) {
  return ThreeFields([&](Packer& packer) {
    packer.pack(snapshot.last_index);
    packer.pack(snapshot.last_term);
    packer.pack(snapshot.state);
  });
}

std::optional<Snapshot> DecodeSnapshot(std::string_view bytes) {
  std::optional<Snapshot> snapshot;
  const std::size_t good = ReadRecords(bytes, [&](std::string_view payload) {
    std::string error;
    const frame_internal::Unpacked value(payload, error);
    if (!value || value.get().type != msgpack::type::ARRAY) return;
    const msgpack::object_array& record = value.get().via.array;
    if (record.size != 3) return;
    try {
      snapshot = Snapshot{record.ptr[0].as<std::uint64_t>(), record.ptr[1].as<std::uint64_t>(),
                          record.ptr[2].as<std::string>()};
    } catch (const msgpack::type_error&) {  // another record than ours: no snapshot
    }
  });
  return good == bytes.size() ? snapshot : std::nullopt;
}

std::size_t WalState::Recover(std::string_view bytes) {
  const std::size_t good = Read(bytes);
  if (!MayBeTorn(bytes.substr(good))) {
    throw std::runtime_error("the write-ahead log is damaged at byte " + std::to_string(good) +
                             ", and the entries after it may have been acknowledged");
  }
  return good;
}

std::size_t WalState::Read(std::string_view bytes,
                           const std::function<void(std::uint64_t)>& on_entries) {
  return ReadRecords(bytes, [&](std::string_view payload) {
    std::string error;
    const frame_internal::Unpacked value(payload, error);
    if (!value) Refuse(error.c_str());
    const msgpack::object& object = value.get();
    if (object.type != msgpack::type::ARRAY || object.via.array.size != 3) Refuse("odd record");
    const msgpack::object_array& record = object.via.array;
    try {
      switch (static_cast<Record>(record.ptr[0].as<std::uint8_t>())) {
        case Record::kHardState:
          hard_state = {record.ptr[1].as<std::uint64_t>(), record.ptr[2].as<PeerId>()};
          return;
        case Record::kEntries:
          TakeEntries(record, log);
          if (on_entries) on_entries(record.ptr[1].as<std::uint64_t>());
          return;
        case Record::kBase:
          log.Reset(record.ptr[1].as<std::uint64_t>(), record.ptr[2].as<std::uint64_t>());
          return;
      }
    } catch (const msgpack::type_error&) {
      Refuse("a field of the wrong type");
    }
    Refuse("an unknown record");
  });
}

}  // namespace depfast::raft
