// The files of a Raft replica: a write-ahead log and a snapshot, made of records with checksums
// (depfast/record_log.h). Given, not submitted: tests read the disk.
//
// The log, kWalFile. Three kinds of records, each a MessagePack array:
//   [0, term, voted for]                  replaces the hard state
//   [1, first index, [entry, entry ...]]  entries from `first index` on; they replace all entries
//                                         that the log held from there on
//   [2, index, term]                      the log is empty now, and begins after that entry: a
//                                         snapshot holds the earlier ones
//
// The snapshot, kSnapshotFile: one record, [last index, last term, state]. Or several, for a state
// that is written in pieces: [last index, last term, piece, whether it is the last].
//
// A file is replaced whole: write the new one under another name, sync, rename. Replace the
// snapshot first, then the log that needs it. After a crash between the two the log begins before
// its snapshot ends. A crash may also leave a part of a new file, and the next Append would add to
// it: remove both new files before you recover.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "raft_log.h"
#include "raft_messages.h"

namespace depfast::raft {

inline constexpr const char* kWalFile = "raft.wal";
inline constexpr const char* kNewWalFile = "raft.wal.new";
inline constexpr const char* kSnapshotFile = "raft.snapshot";
inline constexpr const char* kNewSnapshotFile = "raft.snapshot.new";

struct HardState {
  std::uint64_t term = 0;
  PeerId voted_for = kNobody;
};

std::string EncodeHardState(const HardState& state);
// The entries of `log` from `first_index` on. Requires: first_index > log.base_index().
std::string EncodeEntries(const RaftLog& log, std::uint64_t first_index);
// A whole new log file.
std::string EncodeWal(const HardState& state, const RaftLog& log);
// A whole new log file without the entries up to `base_index`. Requires: log.Knows(base_index).
std::string EncodeWal(const HardState& state, const RaftLog& log, std::uint64_t base_index);

// The state that the records of a log file describe.
struct WalState {
  HardState hard_state;
  RaftLog log;

  // Reads the whole records of the file that a starting replica finds. Returns the number of their
  // bytes. If that is less than bytes.size(), a crash has torn the last write: cut off the rest.
  // Throws std::runtime_error, in one line, for a whole record with impossible contents, and for
  // damage before the end of the file (MayBeTorn in depfast/record_log.h). The entries after the
  // damage may have been acknowledged, so they must not be cut off.
  [[nodiscard]] std::size_t Recover(std::string_view bytes);

  // Reads the next part of a file that is still written to. Its last record may be there in
  // part, so the bytes behind the whole records are not looked at. `on_entries`, if given, is
  // called with the first index of each entries record, once the record is taken in.
  std::size_t Read(std::string_view bytes,
                   const std::function<void(std::uint64_t first_index)>& on_entries = nullptr);
};

struct Snapshot {
  std::uint64_t last_index = 0;
  std::uint64_t last_term = 0;
  std::string state;  // of the state machine
};

std::string EncodeSnapshot(const Snapshot& snapshot);
// One record of a snapshot file in pieces. Of `snapshot`, the state is not looked at.
std::string EncodeSnapshotPiece(const Snapshot& snapshot, std::string_view piece, bool is_last);
// Nothing if the bytes are not a whole snapshot. A replica with such a file must not start: its log
// begins after entries that it no longer has.
[[nodiscard]] std::optional<Snapshot> DecodeSnapshot(std::string_view bytes);

}  // namespace depfast::raft
