// DurableRecords: what a replica's disk says of its entries.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "command_digest.h"
#include "copilot_types.h"
#include "journal.h"
#include "sim/disk.h"

namespace depfast::copilot {

// The order, the names and the texts of commands. `hash` is the CommandsHash that a replica claims.
CommandDigest CommandsDigest(const Commands& commands);

class DurableRecords {
 public:
  // Takes in what has become durable since the last call. Throws std::runtime_error, in one line,
  // for a journal that makes no sense.
  void Read(const sim::SimDisk& disk);

  // Whether the disk supports what a replica says of the entry at `ballot`. An entry that is
  // committed or thrown away supports all; so does a disk that a test has damaged.
  bool HasRecord(Lane lane, EntryIndex index, Ballot ballot) const;
  bool HasAccepted(Lane lane, EntryIndex index, Ballot ballot) const;
  bool HasPromised(Lane lane, EntryIndex index, Ballot ballot) const;

  // Whether the disk holds these commands as the entry's, or a snapshot in which they have run.
  bool HasCommands(Lane lane, EntryIndex index, const CommandDigest& commands) const;
  // The id by which the disk's snapshot names itself.
  const SnapshotId& snapshot() const { return snapshot_; }
  bool is_damaged() const { return is_damaged_; }

 private:
  struct Stored {
    Record record;
    CommandDigest commands = {};
  };
  struct LaneRecords {
    EntryIndex base = 0;
    std::map<EntryIndex, Stored> entries;  // no deque: what a replica writes may be any index
  };

  void ReadSnapshot(const sim::SimDisk& disk);
  void ReadNewRecords(const sim::SimDisk& disk);
  void Take(const JournalRecord& record);
  // Null if the disk does not know the entry. Requires: the entry is not thrown away.
  const Record* Find(Lane lane, EntryIndex index) const;
  bool IsSettled(Lane lane, EntryIndex index) const;
  const LaneRecords& Of(Lane lane) const { return lanes_[static_cast<std::size_t>(lane)]; }

  bool is_damaged_ = false;
  std::uint64_t generation_ = 0;
  std::size_t bytes_read_ = 0;
  std::array<LaneRecords, 2> lanes_;
  std::uint64_t snapshot_generation_ = 0;
  SnapshotId snapshot_;
};

}  // namespace depfast::copilot
