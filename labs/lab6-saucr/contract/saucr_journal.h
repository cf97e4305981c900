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

#include <memory>

#include "depfast/event.h"
#include "raft_log.h"
#include "saucr_types.h"

namespace depfast::saucr {

class Journal {
 public:
  using EventPtr = std::shared_ptr<Event>;

  virtual ~Journal() = default;

  // The entries of `log` from `first` on; what the file had from there on is void. No sync.
  virtual void WriteEntries(const raft::RaftLog& log, EntryIndex first) = 0;
  virtual EventPtr WriteFastSwitch(EntryId entry) = 0;
  virtual EventPtr WriteLatestOnDisk(EntryId entry, const LleMap& map) = 0;
  virtual EventPtr WriteLives(const Lives& lives) = 0;

  // Makes all durable that was written before. Without anything unsynced: the latest sync.
  virtual EventPtr Sync() = 0;
  virtual EventPtr latest_sync() const = 0;  // begins none
  // Ready once the latest fast-switch-entry is durable; at once if none was ever written.
  virtual EventPtr MarkerDurable() const = 0;

  // The latest markers that were written.
  virtual const Markers& markers() const = 0;
  // The disk has the entries of the log up to here.
  virtual EntryIndex durable_index() const = 0;
};

}  // namespace depfast::saucr
