// The answers to a Prepare, counted. Given, not submitted: your rule decides by it.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "copilot_rules.h"

namespace depfast::copilot {

inline bool HasAnswered(const std::vector<Prepared>& answers, int replica) {
  return std::ranges::any_of(answers, [&](const auto& each) { return each.replica == replica; });
}

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

inline FastAccepts FastAcceptsIn(const std::vector<Prepared>& answers) {
  FastAccepts fast;
  for (const Prepared& answer : answers) {
    fast.view = std::max(fast.view, ViewOf(answer.record.ballot));
  }
  for (const auto& [replica, record, rivals, decides] : answers) {
    if (record.kind == Record::Kind::kNone || ViewOf(record.ballot) != fast.view) continue;
    fast.has_witness = true;
    fast.witness = record.witness;
    if (record.kind != Record::Kind::kFastAccepted) continue;
    ++fast.count;
    fast.initial = record.dependency;
    fast.witness_accepted |= replica == record.witness;
  }
  return fast;
}

// The rivals behind the initial dependency, by entry: of each, what is known best.
using Rivals = std::map<EntryIndex, Rival>;

inline Rivals RivalsIn(const std::vector<Prepared>& answers, EntryIndex initial) {
  Rivals rivals;
  for (const Prepared& answer : answers) {
    for (const Rival& rival : answer.rivals) {
      if (rival.entry <= initial) continue;
      Rival& known = rivals.emplace(rival.entry, rival).first->second;
      if (rival.stage > known.stage) known = rival;
    }
  }
  return rivals;
}

}  // namespace depfast::copilot
