// Snapshots: logs are cut, and a replica gets a snapshot instead of what was thrown away. Given,
// not submitted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "command_memory.h"
#include "copilot_messages.h"
#include "decisions.h"
#include "depfast/runtime.h"
#include "journal.h"
#include "pilots.h"
#include "replicated_log.h"

namespace depfast::copilot {

// What has run on this replica.
struct Progress {
  PerLane entries{};           // of each lane, up to here
  std::uint64_t commands = 0;  // of both
  CommandMemory memory;
};

class Snapshots {
 public:
  // All must outlive this. A snapshot holds `machine` and `progress`, and replaces both.
  Snapshots(Runtime& runtime, StateMachine& machine, Progress& progress, Journal& journal,
            const Pilots& pilots, Decisions& decisions);

  // Serves other replicas from now on.
  void Serve();

  void Restore(const StoredSnapshot& snapshot);
  // Fetches a peer's snapshot, in parts that each take `patience` at most. Returns whether this
  // replica has it now.
  bool FetchFrom(PeerId peer, Duration patience);

  // Cuts the logs if they are large. Call it after each entry.
  void CompactIfLarge();
  // Throws away entries up to here, as far as they have run and a cut allows.
  void Truncate(const PerLane& up_to);

 private:
  FetchSnapshotReply PartOf(const FetchSnapshot& request);
  StoredSnapshot Make() const;
  void WriteJournalAnew(const StoredSnapshot& snapshot);
  void DrawLimit();
  EntryIndex BeforeRetained(Lane lane) const;
  PerLane CutBefore(PerLane up_to) const;

  Runtime& runtime_;
  StateMachine& machine_;
  Progress& progress_;
  Journal& journal_;
  const Pilots& pilots_;
  Decisions& decisions_;
  std::size_t compact_above_ = 0;  // bytes of commands in memory and on the disk
  // The snapshot that others are fetching.
  SnapshotId served_id_;
  std::string served_;
};

}  // namespace depfast::copilot
