// The text form of faults, both ways: Parse(Print(fault)) == fault.
//
//   KIND [AMOUNT] on replica ID... [to ID...] [from SECONDS s] [for SECONDS s]
//
//   cpu-slow 5% on replica 2 from 1.000 s for 3.000 s
//   disk-slow 128 KB/s on replicas 0 1
//   cut on replica 0 to 1 2 from 0.700000001 s
//
// Amounts are written in the unit of the kind (see AmountUnit). A fault without "from" starts at
// zero, and one without "for" never ends. Words are separated by spaces.
#pragma once

#include <string>
#include <string_view>

#include "faults/fault.h"

namespace depfast::faults {

// Exact. Equal to fault.Describe() if the times are whole milliseconds.
// Requires: start and duration are not negative.
std::string Print(const Fault& fault);

// Throws std::invalid_argument, with the reason in one line, if `text` is not a fault.
Fault Parse(std::string_view text);

// A plan: one fault a line. Empty lines and lines that begin with '#' are left out.
std::string PrintPlan(const FaultPlan& plan);
// Throws std::invalid_argument that names the line.
FaultPlan ParsePlan(std::string_view text);

}  // namespace depfast::faults
