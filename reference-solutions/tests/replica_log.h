// ReplicaLog: the entries that a replica has written to its log so far, and the acknowledged
// commands among them.
//
// A replica compacts its log. The entries that it has removed are remembered here. Entries that it
// wrote and removed between two reads were never seen. Their commands are kUnseen. They count as
// present, because a replica removes only committed entries.
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

  // Reads the records that were written since the last call, and all of a file that a power cut has
  // made shorter.
  void Read();

  // The entries so far, from index 1 on, with abbreviated commands.
  const std::vector<LogEntry>& entries() const { return entries_; }

  // The command of an entry that was never seen.
  static constexpr const char* kUnseen = "(compacted before it was seen)";

  // Bytes after the last whole record, at the latest Read. In the log of a killed replica they are
  // a torn write.
  std::size_t torn_bytes() const { return torn_bytes_; }

  // Whether each of `all` is in the log, as read, at its index. Requires: later calls only append
  // to `all`.
  bool HasAll(const std::vector<Acknowledged>& all);
  // The number of commands at the beginning of `all` that HasAll has found so far.
  std::size_t found() const { return found_; }

  // The lowest acknowledged entry that the replica has written a second time, or 0. No Raft has a
  // reason to do that.
  std::uint64_t rewritten() const { return rewritten_; }

 private:
  void OnEntries(std::uint64_t first_index);
  // The entries from `first_index` on are not in the log any more.
  void Forget(std::uint64_t first_index);

  const std::string path_;
  std::uint64_t file_ = 0;  // its inode number: a new one means that the log was written anew
  std::size_t offset_ = 0;  // in the file: the bytes before it are in wal_
  std::size_t torn_bytes_ = 0;
  std::uint64_t last_in_file_ = 0;  // the index of the last entry of the file
  WalState wal_;
  std::vector<LogEntry> entries_;
  std::size_t found_ = 0;
  std::uint64_t highest_found_ = 0;  // the highest index of those found
  std::uint64_t rewritten_ = 0;
};

}  // namespace depfast::raft
