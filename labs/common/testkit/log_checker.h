// LogChecker: a test's or a measurement's view of a replicated log. Each protocol has a checker of
// its own: RaftChecker in lab 2.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command_digest.h"
#include "depfast/peer.h"
#include "depfast/time.h"

namespace depfast {

class LogChecker {
 public:
  virtual ~LogChecker() = default;

  // The replicas that are up and claim to propose: one in Raft. The order of their roles is fixed:
  // a pilot comes before a copilot.
  virtual std::vector<PeerId> Proposers() const = 0;

  // Whether several replicas propose, and clients send each of them a copy of a command. It stays
  // so while all but one are down.
  virtual bool HasSeveralProposers() const { return false; }

  // Whether a proposer serves clients. In Raft a leader first opens its term with an entry.
  virtual bool Serves(PeerId proposer) const {
    (void)proposer;
    return true;
  }

  // The last index that a replica has applied, and the last that is committed. A replica has
  // applied all that is committed when AppliedUpTo(replica) >= CommittedUpTo(). A replica begins at
  // 0.
  virtual std::uint64_t AppliedUpTo(PeerId replica) const = 0;
  virtual std::uint64_t CommittedUpTo() const = 0;

  // The last index that a replica has on its disk. A replica may apply entries that its own disk
  // lacks yet. For a log that is not on disks: the last index that it has applied.
  virtual std::uint64_t StoredUpTo(PeerId replica) const { return AppliedUpTo(replica); }

  // The last index that a replica has applied and has on its disk: it has caught up to there.
  std::uint64_t HasUpTo(PeerId replica) const {
    return std::min(AppliedUpTo(replica), StoredUpTo(replica));
  }

  // Whether `replica` may tell a client, now, that this command is committed
  // at `index`: it has applied that command there, and enough replicas hold the entry, by the log's
  // rule (Durability). Returns why not, as the end of a sentence
  // with "but"; empty if it may.
  virtual std::string WhyNotCommitted(PeerId replica, std::uint64_t index,
                                      const CommandDigest& command) const = 0;

  // Whether `replica` may answer a read, now, that it received at `since`. Returns why not, as the
  // end of a sentence with "but"; empty if it may, or if the log has no rule that its checker
  // knows.
  virtual std::string WhyMayNotRead(PeerId replica, Time since) const {
    (void)replica, (void)since;
    return "";
  }

  // Whether the log is one sequence of entries, numbered from 1: all replicas apply the same entry
  // at an index.
  virtual bool NumbersEntries() const { return false; }

  // The command of the entry at `index`, which is empty for a no-op. Nothing if no replica has
  // applied it. Requires: NumbersEntries().
  virtual std::optional<CommandDigest> AppliedAt(std::uint64_t index) const {
    (void)index;
    return std::nullopt;
  }

  // The result that the state machine gives to the command at `index`. None if the checker does not
  // compute the machine's state, or knows no such command.
  virtual std::optional<std::string> ResultAt(std::uint64_t index) const {
    (void)index;
    return std::nullopt;
  }

  // Whether some replica has applied this command.
  virtual bool HasApplied(const CommandDigest& command) const = 0;

  // For a log with a fast and a slow way to commit (SAUCR's modes): whether it is in the fast one,
  // and the number of entries that it has committed in the slow one. Others are always in a fast
  // one.
  virtual bool IsFast() const { return true; }
  virtual std::uint64_t CommittedSlowly() const { return 0; }

  // The number of snapshots that a replica has restored since it was last started.
  virtual std::uint64_t Restored(PeerId replica) const = 0;
  // The bytes of a replica's log on its disk, and whether it has a snapshot there.
  virtual std::size_t LogBytes(PeerId replica) const = 0;
  virtual bool HasSnapshot(PeerId replica) const = 0;

  // The snapshot on a replica's disk: the state after entry `index`.
  struct StoredSnapshot {
    std::uint64_t index = 0;
    std::string state;
  };
  // Nothing without a whole one, or if the checker cannot read it.
  virtual std::optional<StoredSnapshot> SnapshotOf(PeerId replica) const {
    (void)replica;
    return std::nullopt;
  }

  // The first violated invariant, as a sentence; empty if none was violated.
  virtual std::string FirstViolation() const = 0;
  // The first violation that may lose or change data. Other rules are about progress: a violation
  // fails a test, and costs no more than that.
  virtual std::string FirstSafetyViolation() const { return FirstViolation(); }
};

}  // namespace depfast
