// The faults of the measurement, by name: "none", "dead", the presets of the catalogue, and any
// kind of it that slows a replica with an amount, such as "net-slow:2000000" (in the kind's unit).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "faults/fault.h"

namespace depfast::measure {

// Without those that have an amount in their names.
std::vector<std::string> FaultNames();

// The fault that strikes `victims`; nothing for "none". Throws std::invalid_argument, in one line,
// for an unknown name, and for an amount that the kind cannot have.
std::optional<faults::Fault> FaultOf(const std::string& name, std::vector<PeerId> victims);

}  // namespace depfast::measure
