// The shape of a run: the times of the fault, and the length of the measured window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "depfast/time.h"
#include "faults/fault.h"
#include "testkit/load.h"

namespace depfast::measure {

// - before: the fault begins with the load, before the window; a system that is slow has settled
// - under: the fault begins with the window, under load that ran without it
// - flapping: like under, but the fault comes and goes
// - long: like before, with a window that holds compaction, snapshots and periodic stalls
// - changing: the window is long, for a load that changes: in a closed loop one client has company
//   in the middle third
// - stages:2000,4000,3000: 2 s of the window before the fault, 4 s with it, 3 s after it (in ms)
// - onset: stages of 13 to 20 s, drawn, then 10 s and 3 s
// - long-onset: the same with 90 s under the fault
// - return: an onset with 10 s after the fault; at kReturn clients return to their replicas
// - shift: at first all replicas have what is the fault later. When that is over they have 13.5 s
//   to learn what is usual now. The fault begins after 23.5 s and a drawn time without an upper
//   bound that matters: no other moment tells it.
// - shift-return: both
//
// The load of a run of this shape, if it begins at `start`. Without a fault the shape sets only the
// window's length. `seed`: of the run, if the fault's begin is drawn. Throws std::invalid_argument,
// in one line, for an unknown shape; PlanOf, too.
testkit::LoadWindow WindowOf(const std::string& shape, Time start, std::uint64_t seed = 0);

// After the fault. A slow replica sends its clients away for 5 s more (lab 7, E1), and may need
// 1.3 s to find itself well.
inline constexpr Duration kReturn = 7s;
// After a shift, before the baseline: a replica may have been late for its clients at first.
inline constexpr Duration kReturnOfShift = 3s;

// Whether the fault begins and ends inside the window.
bool HasStages(const std::string& shape);

// Whether the shape itself says how long the stages are, as a sweep does.
bool IsOfSweep(const std::string& shape);

// When `fault` is on. The last one that does not end by itself lasts until everything heals.
faults::FaultPlan PlanOf(const std::string& shape, const faults::Fault& fault,
                         const testkit::LoadWindow& window);

// Until when all replicas have the fault, if they have it at first. Requires: HasStages.
std::optional<Time> ShiftOf(const std::string& shape, const testkit::LoadWindow& window);

}  // namespace depfast::measure
