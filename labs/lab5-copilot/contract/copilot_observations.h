// The claims that a Copilot replica makes about itself through Runtime::Observe. Tests cross-check
// them with frames and disk contents.
#pragma once

#include <cstdint>

#include "copilot_messages.h"
#include "tally.h"

namespace depfast::copilot {

enum class Duty : std::uint8_t { kFollower = 0, kPilot = 1, kCopilot = 2 };

enum ObservationKind : std::uint32_t {
  kDutyObservation = 1,     // duty, view of the pilot's lane, of the copilot's lane: each change
  kDecideObservation = 2,   // lane, index, 1 + dependency (0 for a no-op), CommandsHash (or 0)
  kRunObservation = 3,      // lane, index: before the commands of the entry are applied
  kApplyObservation = 4,    // number of the command, from 1 on, its name, CommandHash: no reads
  kRestoreObservation = 5,  // commands, and entries run of each lane: the state is a snapshot's
};

// The order and the names of commands, as one number.
inline std::uint64_t CommandsHash(const Commands& commands) {
  std::uint64_t hash = 0;
  for (const Command& command : commands) {
    hash = hash * 0x9E3779B97F4A7C15 + (CommandHash(command.text) ^ command.name);
  }
  return hash;
}

}  // namespace depfast::copilot
