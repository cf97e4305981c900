// The shape of a run: the times of the fault, and the length of the measured window.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depfast/time.h"
#include "faults/fault.h"
#include "testkit/load.h"

namespace depfast::measure {

// - before: the fault begins with the load, before the window; a system that is slow has settled
// - under: the fault begins with the window, under load that ran without it
// - flapping: like under, but the fault comes and goes
// - long: like before, with a window that holds compaction, snapshots and periodic stalls
// - onset: the fault begins after 13 to 20 s of the window, drawn, and ends after 10 s, 3 s before
//   the window's end
// - long-onset: the same with 90 s
// - changing: the window is long, for a load that changes
// - stages:2000,4000,3000: 2 s of the window before the fault, 4 s with it, 3 s after it (in ms)
std::vector<std::string> ShapeNames();

// The load of a run of this shape, if it begins at `start`. Without a fault the shape sets only the
// window's length. `seed`: of the run, if the fault's begin is drawn. Throws std::invalid_argument,
// in one line, for an unknown shape; HasOnset and PlanOf, too.
testkit::LoadWindow WindowOf(const std::string& shape, Time start, std::uint64_t seed = 0);

// Whether the fault begins and ends inside the window.
bool HasOnset(const std::string& shape);

// Whether the shape has stages before and after the fault.
bool HasStages(const std::string& shape);

// When `fault` is on. The last one that does not end by itself lasts until everything heals.
faults::FaultPlan PlanOf(const std::string& shape, const faults::Fault& fault,
                         const testkit::LoadWindow& window);

}  // namespace depfast::measure
