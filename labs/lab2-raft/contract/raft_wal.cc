#include "raft_wal.h"

#include <stdexcept>

#include "depfast/host/codec.h"
#include "depfast/record_log.h"

namespace depfast::raft {
namespace {

enum class Record : std::uint8_t { kHardState = 0, kEntries = 1, kBase = 2 };

using Packer = msgpack::packer<frame_internal::StringSink>;

[[noreturn]] void Refuse(const char* why) {
  throw std::runtime_error(std::string("the write-ahead log makes no sense: ") + why);
}

void TakeEntries(const msgpack::object_array& record, RaftLog& log) {
  const auto first = record.ptr[1].as<std::uint64_t>();
  if (first <= log.base_index() || first > log.last_index() + 1) {
    Refuse("entries beyond the end of the log");
  }
  log.TruncateFrom(first);
  for (LogEntry& entry : record.ptr[2].as<std::vector<LogEntry>>()) log.Append(std::move(entry));
}

// A record that is an array of `count` fields, made by `pack` on its packer. Most of its bytes are
// `data_bytes` of commands, or of a state.
template <typename Pack>
std::string Fields(std::uint32_t count, std::size_t data_bytes, const Pack& pack) {
  constexpr std::size_t kOtherBytes = 64;
  std::string record;
  record.reserve(kRecordHeaderBytes + data_bytes + kOtherBytes);
  AppendRecord(record, [&] {
    frame_internal::StringSink sink(record);
    Packer packer(sink);
    packer.pack_array(count);
    pack(packer);
  });
  return record;
}

std::string EncodeBase(std::uint64_t index, std::uint64_t term) {
  return Fields(3, 0, [&](Packer& packer) {
    packer.pack(static_cast<std::uint8_t>(Record::kBase));
    packer.pack(index);
    packer.pack(term);
  });
}

// Puts a snapshot together from the records of its file.
class SnapshotReader {
 public:
  // False if the record does not continue the snapshot.
  bool Take(std::string_view payload) {
    std::string error;
    const frame_internal::Unpacked value(payload, error);
    if (!value || value.get().type != msgpack::type::ARRAY) return false;
    const msgpack::object_array& record = value.get().via.array;
    if (record.size != 3 && record.size != 4) return false;
    try {
      const auto index = record.ptr[0].as<std::uint64_t>();
      const auto term = record.ptr[1].as<std::uint64_t>();
      if (!snapshot_) snapshot_ = Snapshot{index, term, ""};
      if (is_whole_ || index != snapshot_->last_index || term != snapshot_->last_term) return false;
      snapshot_->state += record.ptr[2].as<std::string_view>();
      is_whole_ = record.size == 3 || record.ptr[3].as<bool>();
    } catch (const msgpack::type_error&) {  // another record than ours
      return false;
    }
    return true;
  }

  std::optional<Snapshot> Whole() { return is_whole_ ? std::move(snapshot_) : std::nullopt; }

 private:
  std::optional<Snapshot> snapshot_;
  bool is_whole_ = false;
};

}  // namespace

std::string EncodeHardState(const HardState& state) {
  return Fields(3, 0, [&](Packer& packer) {
    packer.pack(static_cast<std::uint8_t>(Record::kHardState));
    packer.pack(state.term);
    packer.pack(state.voted_for);
  });
}

std::string EncodeEntries(const RaftLog& log, std::uint64_t first_index) {
  std::size_t bytes = 0;
  for (std::uint64_t index = first_index; index <= log.last_index(); ++index) {
    bytes += RaftLog::SizeOf(log.At(index));
  }
  return Fields(3, bytes, [&](Packer& packer) {
    packer.pack(static_cast<std::uint8_t>(Record::kEntries));
    packer.pack(first_index);
    packer.pack_array(static_cast<std::uint32_t>(log.last_index() + 1 - first_index));
    for (std::uint64_t index = first_index; index <= log.last_index(); ++index) {
      packer.pack(log.At(index));
    }
  });
}

std::string EncodeWal(const HardState& state, const RaftLog& log) {
  return EncodeWal(state, log, log.base_index());
}

std::string EncodeWal(const HardState& state, const RaftLog& log, std::uint64_t base_index) {
  std::string bytes = EncodeBase(base_index, log.TermAt(base_index)) + EncodeHardState(state);
  if (log.last_index() > base_index) bytes += EncodeEntries(log, base_index + 1);
  return bytes;
}

std::string EncodeSnapshot(const Snapshot& snapshot) {
  return Fields(3, snapshot.state.size(), [&](Packer& packer) {
    packer.pack(snapshot.last_index);
    packer.pack(snapshot.last_term);
    packer.pack(snapshot.state);
  });
}

std::string EncodeSnapshotPiece(const Snapshot& snapshot, std::string_view piece, bool is_last) {
  return Fields(4, piece.size(), [&](Packer& packer) {
    packer.pack(snapshot.last_index);
    packer.pack(snapshot.last_term);
    packer.pack(piece);
    packer.pack(is_last);
  });
}

std::optional<Snapshot> DecodeSnapshot(std::string_view bytes) {
  SnapshotReader reader;
  bool is_ours = true;
  const std::size_t good = ReadRecords(
      bytes, [&](std::string_view payload) { is_ours = is_ours && reader.Take(payload); });
  return is_ours && good == bytes.size() ? reader.Whole() : std::nullopt;
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
