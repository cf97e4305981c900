// Journal: the facts that a replica must not forget. Given, not submitted.
//
// On disk: a write-ahead log of records with checksums (depfast/record_log.h), each a MessagePack
// array, and a snapshot.
//   [0, lane, view]                              the lane's view
//   [1, lane, index, Record, origin, commands]   an entry
//   [2, lane, index, Record]                     its record; the commands are as before
//   [3, lane, index, latest gone]                the entries up to `index` are thrown away
//   [4, lane, index]                             a pilot may have proposed entries up to `index`
//
// A pilot proposes before its own record is on its disk. After a crash it must not vote as if an
// entry that it has forgotten had never been: so it reserves indexes ahead.
// The snapshot: one record, [SnapshotId, bases, latest gone, data], of both lanes each.
//
// In memory, as published: nothing is written but a file that says that the replica has started
// once. Its memory is gone then, and with it what it has promised: such a replica must not start.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depfast/fields.h"
#include "depfast/runtime.h"
#include "lane_log.h"

namespace depfast::copilot {

inline constexpr const char* kJournalFile = "copilot.journal";
inline constexpr const char* kNewJournalFile = "copilot.journal.new";
inline constexpr const char* kSnapshotFile = "copilot.snapshot";
inline constexpr const char* kNewSnapshotFile = "copilot.snapshot.new";
inline constexpr const char* kStartedFile = "copilot.started";

enum class Durability : std::uint8_t { kInMemory, kOnDisk };

struct StoredSnapshot {
  SnapshotId id;
  PerLane base{};         // a cut: the entries up to here may be thrown away
  PerLane latest_gone{};  // see Records
  std::string data;       // the state machine's, and the memory of commands
  DEPFAST_FIELDS(id, base, latest_gone, data)
};

std::string EncodeSnapshot(const StoredSnapshot& snapshot);
std::optional<StoredSnapshot> DecodeSnapshot(std::string_view bytes);

// A record of a journal, with the fields that its kind has: see above.
struct JournalRecord {
  enum class Kind : std::uint8_t { kView = 0, kEntry = 1, kRecord = 2, kBase = 3, kReserved = 4 };

  Kind kind = Kind::kView;
  Lane lane = Lane::kPilot;
  std::uint64_t number = 0;  // the index, or the view
  Record record = {};
  View origin = 0;
  Commands commands = {};
  EntryIndex latest_gone = 0;
};

// Visits the whole records of a journal, in order. Returns the number of their bytes. Throws
// std::runtime_error, in one line, for a record that makes no sense.
std::size_t ReadJournal(std::string_view bytes, const std::function<void(JournalRecord)>& visit);

// The state that a disk holds.
struct Recovered {
  bool is_first_start = true;
  std::array<std::optional<View>, 2> views;
  std::array<LaneLog, 2> lanes;
  PerLane reserved{};
  std::optional<StoredSnapshot> snapshot;

  void Take(JournalRecord record);
};

class Journal {
 public:
  Journal(Runtime& runtime, Durability durability) : runtime_(runtime), durability_(durability) {}

  // Reads the disk. Waits. Throws std::runtime_error, in one line, if this replica must not start.
  Recovered Recover();

  void WriteView(Lane lane, View view);
  // Writes an entry as it is in the log now: its record, and its commands unless the journal has
  // them. WriteRecord: the record alone.
  void WriteEntry(Lane lane, EntryIndex index, LaneLog& log);
  void WriteRecord(Lane lane, EntryIndex index, const LaneLog& log);
  // This replica will propose no entry of the lane behind `up_to` before it has reserved more.
  void WriteReservation(Lane lane, EntryIndex up_to);

  // Calls `then` once all that was written before is durable: at once, if this is in memory. Many
  // calls share one sync. A write that fails ends the replica, and `then` is never called.
  void WhenDurable(std::function<void()> then);

  // The bytes of the journal's file.
  std::size_t bytes() const { return bytes_; }
  // Replaces snapshot and journal by new ones, with the views and reservations of before.
  void Replace(const StoredSnapshot& snapshot, std::array<LaneLog, 2>& lanes);

 private:
  template <typename... Fields>
  void Write(JournalRecord::Kind kind, Lane lane, std::uint64_t number, const Fields&... more);
  void StartInMemory();
  void Sync();

  Runtime& runtime_;
  const Durability durability_;
  std::string unsynced_;   // records that are not given to the disk yet
  bool is_dirty_ = false;  // something was written, and no sync after it has begun
  std::vector<std::function<void()>> waiting_;
  bool syncing_ = false;
  PerLane views_{};  // as written last, like reserved_
  PerLane reserved_{};
  std::size_t bytes_ = 0;
};

}  // namespace depfast::copilot
