// Journal: what a SAUCR replica writes to its disk, and what of that is durable. Given, not
// submitted.
//
// A write returns at once. The records of a step are one write, at the step's end; one sync makes
// all of them durable that were written before. Entries wait for a sync that is asked for. All
// other records ask for one themselves.
//
// An event of the journal is ready once its records are durable. If a write fails, this replica
// ends, and the event is never ready.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>

#include "depfast/runtime.h"
#include "depfast/value_event.h"
#include "saucr_wal.h"

namespace depfast::saucr {

class Journal {
 public:
  using EventPtr = std::shared_ptr<Event>;

  struct Recovered {
    WalState wal;
    std::optional<Snapshot> snapshot;
  };

  explicit Journal(Runtime& runtime);

  // Reads the disk. All that it returns is durable. Waits. Throws std::runtime_error, in one line,
  // if this replica must not start.
  Recovered Recover();

  // The entries of `log` from `first` on; what the file had from there on is void. No sync.
  void WriteEntries(const RaftLog& log, EntryIndex first);
  EventPtr WriteFastSwitch(EntryId entry);
  EventPtr WriteLatestOnDisk(EntryId entry, const LleMap& map);
  EventPtr WriteLives(const Lives& lives);
  EventPtr WriteHardState(const HardState& state);

  // Makes all durable that was written before. Without anything unsynced: the latest sync.
  EventPtr Sync();
  // Begins none.
  EventPtr latest_sync() const { return last_sync_; }
  // Ready once the latest fast-switch-entry is durable; at once if none was ever written.
  EventPtr MarkerDurable() const { return marker_sync_; }

  // The latest markers that were written.
  const Markers& markers() const { return state_.markers; }
  // The disk has the entries of the log up to here.
  EntryIndex durable_index() const { return durable_index_; }
  // Whether something was written that no sync covers yet.
  bool has_unsynced() const { return has_unsynced_; }

  // The entries from `first` on are no longer those of the disk.
  void ForgetFrom(EntryIndex first);
  // Replaces snapshot and log file by new ones: these, and the markers, map and lives as they were
  // written. A later Sync makes them durable.
  void Replace(const Snapshot& snapshot, const RaftLog& log);

 private:
  void Append(const std::string& record);
  EventPtr AppendAndSync(const std::string& record);
  void WriteSoon();
  void Write();

  // The latest records that were written, but for the entries: the journal's owner has the log.
  struct {
    HardState hard_state;
    Markers markers;
    LleMap map;
    Lives lives;
  } state_;

  Runtime& runtime_;
  std::string pending_;  // records of this step
  bool writes_soon_ = false;
  bool has_unsynced_ = false;
  std::shared_ptr<IntEvent> next_sync_;  // null unless the next write syncs
  EventPtr last_sync_;                   // the latest that was asked for
  EventPtr marker_sync_;
  EntryIndex written_index_ = 0;  // the last entry that was written
  EntryIndex durable_index_ = 0;
  std::list<EntryIndex> in_flight_;  // for each sync under way: the entries that it makes durable
};

}  // namespace depfast::saucr
