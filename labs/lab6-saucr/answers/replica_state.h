// ReplicaState: a replica's log and its knowledge of all logs. The parts of a replica share it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "depfast/runtime.h"
#include "disk_journal.h"
#include "saucr_base.h"
#include "saucr_messages.h"
#include "saucr_types.h"

namespace depfast::saucr {

struct ReplicaState {
  // Throws std::invalid_argument for a number of replicas that Quorums refuses.
  ReplicaState(Runtime& runtime, const SaucrOptions& options);

  // Takes what the disk has.
  void Recover(WalState wal);

  EntryIndex last_index() const { return log.last_index(); }
  EntryId last() const { return {log.last_term(), log.last_index()}; }
  EntryId IdAt(EntryIndex index) const { return {log.TermAt(index), index}; }
  bool Has(EntryId entry) const { return log.Knows(entry.index) && IdAt(entry.index) == entry; }
  Life life() const { return lives[static_cast<std::size_t>(runtime.self())]; }
  bool is_whole() const { return last() >= recovered; }
  // The LLE by which this replica votes and is voted for.
  EntryId lle() const { return std::max(last(), recovered); }

  // The end of a chunk that begins with entry `first` and has about `bytes` bytes: one entry at
  // least, if there is one. Requires: log.base_index() < first.
  EntryIndex EndOfChunk(EntryIndex first, std::size_t bytes) const;
  // The first index at which our log may differ from one that has this entry; 0 if ours has it.
  EntryIndex ConflictWith(EntryId prev) const;
  // Takes entries from another log, and writes them to the journal. Returns the ids of those that
  // are new. Throws std::logic_error if they would replace a committed one.
  std::vector<EntryId> AppendFrom(EntryIndex first, const std::vector<LogEntry>& entries);
  // Call after the log has grown.
  void NoteGrowth() {
    if (is_whole()) recovered = {};
  }

  Runtime& runtime;
  const Quorums quorums;
  const Duration beat;
  const Duration election_timeout_min;
  const Duration election_timeout_max;
  DiskJournal journal;

  RaftLog log;  // on disk all but its end
  LleMap map;
  Lives lives;
  bool is_recovering = false;
  EntryId recovered;  // {} once the log has reached it
  EntryIndex commit_index = 0;
  // Our log is that of the term's leader up to here, by its messages.
  EntryIndex agreed = 0;
};

}  // namespace depfast::saucr
