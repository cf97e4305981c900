// What the answers to Prepare say, counted. Given, not submitted: your rule decides by it.
#pragma once

#include <map>
#include <vector>

#include "copilot_rules.h"
#include "copilot_types.h"

namespace depfast::copilot {

bool HasAnswered(const std::vector<Prepared>& answers, int replica);

// The fast-accepts that the answers know of. Those of an older view came to nothing: a majority did
// not know the entry when the next view began.
struct FastAccepts {
  int count = 0;
  EntryIndex initial = 0;  // the dependency that they accept
  View view = 0;           // in which the entry was proposed
  bool has_witness = false;
  int witness = 0;                // of the proposal, if any answer knows it
  bool witness_accepted = false;  // as it has answered itself
};

FastAccepts FastAcceptsIn(const std::vector<Prepared>& answers);

// The rivals behind the initial dependency, by entry: of each, what is known best.
using Rivals = std::map<EntryIndex, Rival>;

Rivals RivalsIn(const std::vector<Prepared>& answers, EntryIndex initial);

}  // namespace depfast::copilot
