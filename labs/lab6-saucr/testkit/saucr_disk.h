// SaucrDisk: what a replica's disk says, in the bytes that a crash would leave.
#pragma once

#include <cstddef>
#include <cstdint>

#include "saucr_types.h"
#include "saucr_wal.h"
#include "sim/disk.h"

namespace depfast::saucr {

class SaucrDisk {
 public:
  // Takes in what has become durable since the last call. Throws std::runtime_error, in one line,
  // for a log that makes no sense.
  void Read(const sim::SimDisk& disk);

  // A test has damaged it: nothing can be said.
  bool is_damaged() const { return is_damaged_; }
  const WalState& wal() const { return wal_; }
  // The last entry in the log or in the snapshot.
  EntryId last() const;
  EntryIndex snapshot_index() const { return snapshot_.index; }  // the last in the snapshot
  // Whether the log has this entry, or the snapshot an entry of its index.
  bool Has(EntryId entry) const;
  // The log's entry; null if it has none.
  const LogEntry* Find(EntryId entry) const;
  // The term of the entry before it. Requires: Find(entry).
  std::uint64_t TermBefore(EntryId entry) const { return wal_.log.TermAt(entry.index - 1); }
  // Latest-on-disk is not behind fast-switch: the replica will take its disk for complete.
  bool SaysAllIsThere() const { return wal_.markers.latest_on_disk >= wal_.markers.fast_switch; }
  // The life of a replica as the disk knows it.
  Life LifeOf(PeerId replica) const;

 private:
  void ReadSnapshot(const sim::SimDisk& disk);

  bool is_damaged_ = false;
  std::uint64_t generation_ = 0;
  std::size_t bytes_read_ = 0;
  WalState wal_;
  std::uint64_t snapshot_generation_ = 0;
  EntryId snapshot_;
};

}  // namespace depfast::saucr
