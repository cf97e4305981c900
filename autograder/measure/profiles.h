// The profiles of the measurement, by name.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "sim/profile.h"

namespace depfast::measure {

inline std::vector<std::string> ProfileNames() { return {"low-jitter", "realistic", "slow-disk"}; }

// Throws std::invalid_argument, in one line, for an unknown name.
inline sim::Profile ProfileOf(const std::string& name) {
  if (name == "low-jitter") return sim::Profile::TeachingLowJitter();
  if (name == "realistic") return sim::Profile::TeachingRealistic();
  if (name == "slow-disk") return sim::Profile::SlowDisk();
  throw std::invalid_argument("unknown profile '" + name + "'");
}

}  // namespace depfast::measure
