// DiskJournal: the journal of a replica in its write-ahead log and its snapshot (saucr_wal.h).
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>

#include "depfast/runtime.h"
#include "depfast/value_event.h"
#include "saucr_journal.h"
#include "saucr_wal.h"

namespace depfast::saucr {

class DiskJournal final : public Journal {
 public:
  struct Recovered {
    WalState wal;
    std::optional<Snapshot> snapshot;
  };

  explicit DiskJournal(Runtime& runtime);

  // Reads the disk. All that it returns is durable. Waits. Throws std::runtime_error, in one line,
  // if this replica must not start.
  Recovered Recover();

  void WriteEntries(const RaftLog& log, EntryIndex first) override;
  EventPtr WriteFastSwitch(EntryId entry) override;
  EventPtr WriteLatestOnDisk(EntryId entry, const LleMap& map) override;
  EventPtr WriteLives(const Lives& lives) override;
  EventPtr WriteHardState(const HardState& state);

  EventPtr Sync() override;
  EventPtr latest_sync() const override { return last_sync_; }
  EventPtr MarkerDurable() const override { return marker_sync_; }
  const Markers& markers() const override { return state_.markers; }
  EntryIndex durable_index() const override { return durable_index_; }
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
