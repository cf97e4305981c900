// The files of a SAUCR replica: a write-ahead log and a snapshot, made of records with checksums
// (depfast/record_log.h). Given, not submitted: tests read the disk.
//
// The log, kWalFile. Six kinds of records, each a MessagePack array:
//   [0, term, voted for]                     replaces the hard state
//   [1, first index, [entry, entry ...]]     entries from `first index` on; they replace all
//                                            entries that the log held from there on
//   [2, index, term]                         the log is empty now, and begins after that entry: a
//                                            snapshot holds the earlier ones
//   [3, term, index]                         fast-switch-entry (document 003, section 3.4.1)
//   [4, [term, index], [[term, index] ...]]  latest-on-disk-entry, and the map at that time
//   [5, [life ...]]                          the lives that are known
// The latest of each of 0, 3, 4 and 5 counts. All but the entries are always synced. The order of
// records is the order in which they become durable.
//
// The snapshot, kSnapshotFile, and the replacement of a file are lab 2's (raft_wal.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "raft_wal.h"
#include "saucr_messages.h"

namespace depfast::saucr {

using raft::HardState;
using raft::Snapshot;

inline constexpr const char* kWalFile = "saucr.wal";
inline constexpr const char* kNewWalFile = "saucr.wal.new";
inline constexpr const char* kSnapshotFile = "saucr.snapshot";
inline constexpr const char* kNewSnapshotFile = "saucr.snapshot.new";

enum class WalRecord : std::uint8_t {
  kHardState = 0,
  kEntries = 1,
  kBase = 2,
  kFastSwitch = 3,
  kLatestOnDisk = 4,
  kLives = 5,
};

std::string EncodeFastSwitch(EntryId entry);
std::string EncodeLatestOnDisk(EntryId entry, const LleMap& map);
std::string EncodeLives(const Lives& lives);

// The state that the records of a log file describe.
struct WalState {
  HardState hard_state;
  RaftLog log;
  Markers markers;
  LleMap map;   // empty without a record of it
  Lives lives;  // empty without a record of them

  // Takes the whole records of a file, in order. Returns the number of their bytes. `on_record`, if
  // given, is called after each is taken. Throws std::runtime_error, in one line, for a whole
  // record with impossible contents.
  std::size_t Read(std::string_view bytes,
                   const std::function<void(WalRecord)>& on_record = nullptr);

  // Reads the file that a starting replica finds. Cut off what is behind the returned number: those
  // are entries that were never synced; a power cut may have left holes in them.
  // Throws std::runtime_error, in one line, if a whole record of another kind is among them: what
  // comes before such a record was synced with it, so it is damaged.
  [[nodiscard]] std::size_t Recover(std::string_view bytes);
};

// A whole new log file. Markers that are {0, 0}, and empty lives, need no record.
std::string EncodeWal(const HardState& hard_state, const RaftLog& log, const Markers& markers,
                      const LleMap& map, const Lives& lives);

}  // namespace depfast::saucr
