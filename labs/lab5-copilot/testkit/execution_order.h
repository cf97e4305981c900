// The order in which a rule runs the entries of two short logs, whatever a replica knows of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "copilot_rules.h"
#include "copilot_types.h"

namespace depfast::copilot {

// The decisions for the entries of a lane, from 1 on.
using Decisions = std::vector<Value>;

// The entry that runs next on a replica that knows these decisions. `pilot_ran` and `copilot_ran`:
// the entries of each lane that have run.
using NextRule = std::function<Next(const Decisions& pilot, EntryIndex pilot_ran,
                                    const Decisions& copilot, EntryIndex copilot_ran)>;

// NextToRun, or the rule of a solution under test.
using NextFunction = std::function<decltype(NextToRun)>;
NextRule RuleOf(const NextFunction& next);

// The entries that run, in order, without no-ops: such as "P.1". A replica stops where the rule
// names an entry that it does not know.
std::vector<std::string> OrderBy(const NextRule& rule, const Decisions& pilot,
                                 const Decisions& copilot);

struct TriedLogs {
  std::size_t pairs = 0;
  std::size_t bad = 0;  // that two replicas may run in two orders, or not wholly
};

// Tries all pairs of logs up to that length that may be decided, with all prefixes of both.
TriedLogs TryAllLogs(const NextRule& rule, EntryIndex longest);

}  // namespace depfast::copilot
