// The faults of the measurement and their amounts, by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/simulator.h"

namespace depfast::measure {

// "none" included.
std::vector<std::string> FaultNames();

// The fault that strikes `victims`; nothing for "none". Throws std::invalid_argument, in one line,
// for an unknown name.
std::optional<sim::Fault> FaultOf(const std::string& name, std::vector<PeerId> victims);

}  // namespace depfast::measure
