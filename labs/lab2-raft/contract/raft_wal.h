// What a Raft replica keeps on disk: a write-ahead log and a snapshot, made of records with
// checksums (depfast/record_log.h). Given, not submitted: tests read the disk.
//
// The log, kWalFile. Three kinds of records, each a MessagePack array:
//   [0, term, voted for]                  replaces the hard state
//   [1, first index, [entry, entry ...]]  entries from `first index` on; what the log held from
//                                         there on is gone
//   [2, index, term]                      the log is empty now, and begins after that entry: the
//                                         rest is in a snapshot
//
// The snapshot, kSnapshotFile: one record, [last index, last term, state].
//
// A file is replaced whole: write the new one under another name, sync, rename. The snapshot first,
// then the log that needs it: between the two a log may begin before its snapshot ends, and that is
// how it looks after a crash there. A crash may also leave a part of a new file, to which the next
// Append would add: remove both new files before you recover.
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

// What a log file says, record by record.
struct WalState {
  HardState hard_state;
  RaftLog log;

  // What a replica does with the file that it finds when it starts: takes in its whole records and
  // returns how many bytes they are. If that is less than bytes.size() a crash has torn the last
  // write, and the rest is to be cut off. Throws std::runtime_error, in one line, for a record that
  // is whole but makes no sense, and for damage before the end of the file (MayBeTorn in
  // depfast/record_log.h): whoever cut off what is behind it would lose entries that may have been
  // acknowledged.
  std::size_t Recover(std::string_view bytes);

  // The same for the next part of a file that is still written to, of which a record may be there
  // in part: does not look at what is behind the whole records. `on_entries`, if given, hears the
  // first index of each entries record, once it is taken in.
  std::size_t Read(std::string_view bytes,
                   const std::function<void(std::uint64_t first_index)>& on_entries = nullptr);
};

struct Snapshot {
  std::uint64_t last_index = 0;
  std::uint64_t last_term = 0;
  std::string state;  // of the state machine
};

std::string EncodeSnapshot(const Snapshot& snapshot);
// Nothing if the bytes are not a whole snapshot.
std::optional<Snapshot> DecodeSnapshot(std::string_view bytes);

}  // namespace depfast::raft
