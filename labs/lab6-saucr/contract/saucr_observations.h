// The claims that a SAUCR replica makes about itself through Host::Observe: Raft's (lab 2), and
// these. Tests cross-check them with frames and disk contents. The given half of a replica makes
// them all.
#pragma once

#include <cstdint>

#include "depfast/runtime.h"
#include "raft_observations.h"
#include "saucr_types.h"

namespace depfast::saucr {

using raft::ObserveApply;
using raft::ObserveCommit;
using raft::ObserveRestore;
using raft::ObserveRole;
using raft::Role;
using enum raft::ObservationKind;

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

enum SaucrObservationKind : std::uint32_t {
  kModeObservation = 5,      // term, mode: of a leader, at the begin of its term and at each change
  kRecoveryObservation = 6,  // Recovery; term and index of the LLE
  kFlushObservation = 7,     // FlushReason, last index of the log
};

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
