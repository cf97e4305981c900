#include "raft_wal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdexcept>

#include "depfast/record_log.h"
#include "raft_observations.h"

namespace depfast::raft {
namespace {

enum class Record : std::uint8_t { kHardState = 0, kEntries = 1 };

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

void TakeEntries(const msgpack::object_array& record, std::vector<LogEntry>& log) {
  const auto first = record.ptr[1].as<std::uint64_t>();
  if (first < 1 || first > log.size() + 1) Refuse("entries beyond the end of the log");
  log.resize(first - 1);
  for (LogEntry& entry : record.ptr[2].as<std::vector<LogEntry>>()) {
    log.push_back(std::move(entry));
  }
}

}  // namespace

std::string EncodeHardState(const HardState& state) {
  std::string payload;
  frame_internal::StringSink sink(payload);
  Packer packer(sink);
  packer.pack_array(3);
  packer.pack(static_cast<std::uint8_t>(Record::kHardState));
  packer.pack(state.term);
  packer.pack(state.voted_for);
  return Framed(payload);
}

std::string EncodeEntries(std::uint64_t first_index, std::span<const LogEntry> entries) {
  std::string payload;
  frame_internal::StringSink sink(payload);
  Packer packer(sink);
  packer.pack_array(3);
  packer.pack(static_cast<std::uint8_t>(Record::kEntries));
  packer.pack(first_index);
  packer.pack_array(static_cast<std::uint32_t>(entries.size()));
  for (const LogEntry& entry : entries) packer.pack(entry);
  return Framed(payload);
}

std::size_t WalState::Read(std::string_view bytes,
                           const std::function<void(std::uint64_t)>& on_entries) {
  return ReadRecords(bytes, [&](std::string_view payload) {
    std::string error;
    const auto handle = frame_internal::UnpackBody(payload, error);
    if (!handle) Refuse(error.c_str());
    const msgpack::object& object = handle->get();
    if (object.type != msgpack::type::ARRAY || object.via.array.size != 3) Refuse("odd record");
    const msgpack::object_array& record = object.via.array;
    try {
      switch (static_cast<Record>(record.ptr[0].as<std::uint8_t>())) {
        case Record::kHardState:
          hard_state = {record.ptr[1].as<std::uint64_t>(), record.ptr[2].as<PeerId>()};
          return;
        case Record::kEntries:
          TakeEntries(record, entries);
          if (on_entries) on_entries(record.ptr[1].as<std::uint64_t>());
          return;
      }
    } catch (const msgpack::type_error&) {
      Refuse("a field of the wrong type");
    }
    Refuse("an unknown record");
  });
}

std::uint64_t CommandHash(std::string_view command) {
  return XXH3_64bits(command.data(), command.size());
}

}  // namespace depfast::raft
