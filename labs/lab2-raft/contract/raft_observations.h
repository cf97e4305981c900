// The claims that a Raft replica makes about itself through Host::Observe. Tests cross-check them
// with frames and disk contents.
#pragma once

#include <cstdint>
#include <string_view>

#include "depfast/runtime.h"
#include "tally.h"

namespace depfast::raft {

enum class Role : std::uint8_t { kFollower = 0, kCandidate = 1, kLeader = 2 };

enum ObservationKind : std::uint32_t {
  kRoleObservation = 1,     // term, role
  kCommitObservation = 2,   // commit index
  kApplyObservation = 3,    // index, term, CommandHash
  kRestoreObservation = 4,  // index, term: the last entry of a snapshot
};

// Call whenever the term or the role changes.
inline void ObserveRole(Runtime& runtime, std::uint64_t term, Role role) {
  runtime.Observe({kRoleObservation, {term, static_cast<std::uint64_t>(role)}});
}

// Call whenever the commit index advances.
inline void ObserveCommit(Runtime& runtime, std::uint64_t index) {
  runtime.Observe({kCommitObservation, {index}});
}

// Call for each entry as it is applied, no-ops included, in order of the index.
inline void ObserveApply(Runtime& runtime, std::uint64_t index, std::uint64_t term,
                         std::string_view command) {
  runtime.Observe({kApplyObservation, {index, term, CommandHash(command)}});
}

// Call whenever the state machine is restored to its state after entry `index`, at a start as well,
// and before the next ObserveApply. ObserveCommit with this index may come before or after it.
inline void ObserveRestore(Runtime& runtime, std::uint64_t index, std::uint64_t term) {
  runtime.Observe({kRestoreObservation, {index, term}});
}

}  // namespace depfast::raft
