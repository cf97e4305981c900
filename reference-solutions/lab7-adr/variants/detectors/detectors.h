// Detectors of slow faults by the rules of other systems, to compare lab 7's with. None of their
// code is here. Each watches all variables of lab 7, whatever its system watches.
#pragma once

#include <memory>

#include "depfast/time.h"
#include "levels.h"
#include "static_pair.h"

namespace depfast::adr {

// Watches one variable of one replica.
class Detector {
 public:
  virtual ~Detector() = default;
  // An operation ended at `now`, and took `value`. Returns the level since then. Requires: `now`
  // never goes back.
  virtual Level Update(Time now, Duration value) = 0;
  // An operation that has not ended is as bad from these ages on.
  virtual StaticThresholds limits() const { return {kForever, kForever, 0}; }
};

// The one that ADR_DETECTOR of the environment names. Throws std::invalid_argument, in one line,
// for a name that detectors.cc does not have.
std::unique_ptr<Detector> MakeDetector();

}  // namespace depfast::adr
