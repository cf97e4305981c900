// ReplicaLog: a replica's write-ahead log as it grows, and which acknowledged commands it has.
//
// A replica compacts its log: what it has forgotten is remembered here. What it wrote and forgot
// between two looks was never seen; it counts as there, because only committed entries are
// forgotten, and is a gap: kUnseen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "raft_load.h"
#include "raft_wal.h"

namespace depfast::raft {

class ReplicaLog {
 public:
  explicit ReplicaLog(std::string path) : path_(std::move(path)) {}

  // Takes in what was written since the last call.
  void Read();

  // The entries so far, from index 1 on, with abbreviated commands.
  const std::vector<LogEntry>& entries() const { return entries_; }

  // The command of an entry that was never seen.
  static constexpr const char* kUnseen = "(compacted before it was seen)";

  // Bytes behind the last whole record, at the latest Read. Of a replica that was killed: a torn
  // write.
  std::size_t torn_bytes() const { return torn_bytes_; }

  // Whether each of `all` is in the log, as read, at its index. Requires: `all` only ever grows.
  bool HasAll(const std::vector<Acknowledged>& all);
  // How many of the first of them HasAll has found so far.
  std::size_t found() const { return found_; }

  // The lowest acknowledged entry that was here and was written anew, which no Raft has a reason to
  // do; 0 if there was none.
  std::uint64_t rewritten() const { return rewritten_; }

 private:
  void OnEntries(std::uint64_t first_index);

  const std::string path_;
  std::uint64_t file_ = 0;  // its number: another one, and the log was written anew
  std::size_t offset_ = 0;  // in the file: what is before it is in wal_
  std::size_t torn_bytes_ = 0;
  WalState wal_;
  std::vector<LogEntry> entries_;
  std::size_t found_ = 0;
  std::uint64_t highest_found_ = 0;  // the highest index of those found
  std::uint64_t rewritten_ = 0;
};

}  // namespace depfast::raft
