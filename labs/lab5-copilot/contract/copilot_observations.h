// The claims that a Copilot replica makes about itself through Host::Observe. Tests cross-check
// them with frames and disk contents.
#pragma once

#include <cstdint>
#include <string_view>

#include "copilot_messages.h"
#include "depfast/runtime.h"
#include "tally.h"

namespace depfast::copilot {

enum class Duty : std::uint8_t { kFollower = 0, kPilot = 1, kCopilot = 2 };

enum ObservationKind : std::uint32_t {
  kDutyObservation = 1,     // duty, view of the pilot's lane, of the copilot's lane
  kDecideObservation = 2,   // lane, index, 1 + dependency (0 for a no-op), hash of the commands
  kRunObservation = 3,      // lane, index
  kApplyObservation = 4,    // number of the command, its name, CommandHash
  kRestoreObservation = 5,  // commands, and entries run of each lane: of a snapshot
};

// Call at the start, and whenever a view or the duty changes.
inline void ObserveDuty(Runtime& runtime, Duty duty, View pilot, View copilot) {
  runtime.Observe({kDutyObservation, {static_cast<std::uint64_t>(duty), pilot, copilot}});
}

// The order and the names of commands, as one number.
inline std::uint64_t CommandsHash(const Commands& commands) {
  std::uint64_t hash = 0;
  for (const Command& command : commands) {
    hash = hash * 0x9E3779B97F4A7C15 + (CommandHash(command.text) ^ command.name);
  }
  return hash;
}

// Call once for each entry, when this replica knows what is decided, and at the start for those
// that it finds on its disk.
inline void ObserveDecide(Runtime& runtime, Lane lane, EntryIndex index, const Value& value,
                          const Commands& commands) {
  runtime.Observe({kDecideObservation,
                   {static_cast<std::uint64_t>(lane), index, value.no_op ? 0 : 1 + value.dependency,
                    value.no_op ? 0 : CommandsHash(commands)}});
}

// Call for each entry before its commands are applied.
inline void ObserveRun(Runtime& runtime, Lane lane, EntryIndex index) {
  runtime.Observe({kRunObservation, {static_cast<std::uint64_t>(lane), index}});
}

// Call for each command as it is applied, reads never. Commands count from 1.
inline void ObserveApply(Runtime& runtime, std::uint64_t number, const Command& command) {
  runtime.Observe({kApplyObservation, {number, command.name, CommandHash(command.text)}});
}

// Call whenever the state is that of a snapshot, at a start as well.
inline void ObserveRestore(Runtime& runtime, const SnapshotId& id) {
  runtime.Observe({kRestoreObservation, {id.commands, id.ran[0], id.ran[1]}});
}

}  // namespace depfast::copilot
