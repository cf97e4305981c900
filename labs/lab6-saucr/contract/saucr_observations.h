// The claims that a SAUCR replica makes about itself through Host::Observe. Tests cross-check them
// with frames and disk contents. The given half of a replica makes them all.
#pragma once

#include <cstdint>
#include <string_view>

#include "depfast/runtime.h"
#include "saucr_types.h"
#include "tally.h"

namespace depfast::saucr {

enum class Role : std::uint8_t { kFollower = 0, kCandidate = 1, kLeader = 2 };

enum class Recovery : std::uint8_t {
  kOnDisk = 0,      // nothing was lost
  kRecovering = 1,  // entries were lost, and nobody has told which (R20)
  kRecovered = 2,   // it knows its LLE; the data may be missing
};

enum class FlushReason : std::uint8_t {
  kBackground = 0,  // the interval is over (R10)
  kSilent = 1,      // of the leader (R9), or an orderly stop (R33)
  kSlow = 2,        // this leader leaves fast mode (R6)
};

enum ObservationKind : std::uint32_t {
  kRoleObservation = 1,      // term, role
  kCommitObservation = 2,    // commit index
  kApplyObservation = 3,     // index, term, CommandHash
  kRestoreObservation = 4,   // index, term: the last entry of a snapshot
  kModeObservation = 5,      // term, mode: of a leader, at the begin of its term and at each change
  kRecoveryObservation = 6,  // Recovery; term and index of the LLE
  kFlushObservation = 7,     // FlushReason, last index of the log
};

// Whenever the term or the role changes.
inline void ObserveRole(Runtime& runtime, std::uint64_t term, Role role) {
  runtime.Observe({kRoleObservation, {term, static_cast<std::uint64_t>(role)}});
}

// Whenever the commit index advances.
inline void ObserveCommit(Runtime& runtime, EntryIndex index) {
  runtime.Observe({kCommitObservation, {index}});
}

// For each entry as it is applied, no-ops included, in order of the index.
inline void ObserveApply(Runtime& runtime, EntryId entry, std::string_view command) {
  runtime.Observe({kApplyObservation, {entry.index, entry.term, CommandHash(command)}});
}

// Whenever the state machine is restored to its state after `last`, at a start as well.
inline void ObserveRestore(Runtime& runtime, EntryId last) {
  runtime.Observe({kRestoreObservation, {last.index, last.term}});
}

inline void ObserveMode(Runtime& runtime, std::uint64_t term, Mode mode) {
  runtime.Observe({kModeObservation, {term, static_cast<std::uint64_t>(mode)}});
}

// At a start, and when this changes.
inline void ObserveRecovery(Runtime& runtime, Recovery recovery, EntryId lle) {
  runtime.Observe(
      {kRecoveryObservation, {static_cast<std::uint64_t>(recovery), lle.term, lle.index}});
}

// When a flush of a log begins that ends at `last`.
inline void ObserveFlush(Runtime& runtime, FlushReason reason, EntryIndex last) {
  runtime.Observe({kFlushObservation, {static_cast<std::uint64_t>(reason), last}});
}

}  // namespace depfast::saucr
