// The faults of the measurement, by name: those of the catalogue, "none" and "dead".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "faults/fault.h"

namespace depfast::measure {

std::vector<std::string> FaultNames();

// The fault that strikes `victims`; nothing for "none". Throws std::invalid_argument, in one line,
// for an unknown name.
std::optional<faults::Fault> FaultOf(const std::string& name, std::vector<PeerId> victims);

}  // namespace depfast::measure
