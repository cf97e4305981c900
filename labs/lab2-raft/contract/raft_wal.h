// The format of a Raft replica's write-ahead log: one file, records with checksums
// (depfast/record_log.h). Given, not submitted: tests read the disk.
//
// Two kinds of records, each a MessagePack array:
//   [0, term, voted for]                 replaces the hard state
//   [1, first index, [entry, entry ...]] entries from `first index` on; what the log held from
//   there
//                                        on is gone
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "raft_messages.h"

namespace depfast::raft {

inline constexpr const char* kWalFile = "raft.wal";

struct HardState {
  std::uint64_t term = 0;
  PeerId voted_for = kNobody;
};

std::string EncodeHardState(const HardState& state);
// Requires: first_index >= 1.
std::string EncodeEntries(std::uint64_t first_index, std::span<const LogEntry> entries);

// What a log file says, record by record.
struct WalState {
  HardState hard_state;
  std::vector<LogEntry> entries;  // entries[i] has index i + 1

  // Takes in the whole records at the start of `bytes` and returns how many bytes they are. The
  // rest is a torn tail, or damage: see ReadRecords. `on_entries`, if given, hears the first index
  // of each entries record, once it is taken in. Throws std::runtime_error, in one line, for a
  // record that is whole but makes no sense.
  std::size_t Read(std::string_view bytes,
                   const std::function<void(std::uint64_t first_index)>& on_entries = nullptr);

  std::uint64_t last_index() const { return entries.size(); }
};

}  // namespace depfast::raft
