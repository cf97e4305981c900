// The probes that a replica makes for itself, by name: a sealed replica is told which to make.
#pragma once

#include <memory>
#include <string>

#include "depfast/host/probe.h"

namespace depfast {

// Throws std::invalid_argument if there is no probe of that name.
std::unique_ptr<ReportingProbe> MakeProbe(const std::string& name);

}  // namespace depfast
