// Snapshots: the state of the committed entries that a replica no longer has. It makes them of its
// own log, and installs those of others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "elections.h"
#include "replica_state.h"
#include "state_machine.h"

namespace depfast::saucr {

class Snapshots {
 public:
  // All must outlive this.
  Snapshots(ReplicaState& state, Elections& elections, StateMachine& machine)
      : state_(state), elections_(elections), machine_(machine) {}

  // Begins with what the disk has. Waits. Requires: the state has its log, and no snapshot yet.
  void Recover(std::optional<Snapshot> disk);

  const Snapshot& latest() const { return snapshot_; }
  EntryId last() const { return {snapshot_.last_term, snapshot_.last_index}; }

  InstallSnapshotReply OnInstallSnapshot(const InstallSnapshot& request);
  // Takes a part of a snapshot, and restores it once it is complete. Returns the bytes that this
  // replica has of it.
  std::uint64_t TakePart(EntryId last, std::uint64_t total_bytes, std::uint64_t offset,
                         const std::string& data);
  // Call after entries were applied.
  void CompactIfLarge();

 private:
  void InstallIncoming();
  void Restore();
  void ChooseWhenToCompact();

  ReplicaState& state_;
  Elections& elections_;
  StateMachine& machine_;
  Snapshot snapshot_;              // log.base_index() <= snapshot_.last_index <= commit_index
  Snapshot incoming_;              // the part of another replica's that has arrived
  std::size_t compact_above_ = 0;  // bytes of the log
};

}  // namespace depfast::saucr
