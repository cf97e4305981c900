#include "prepared_answers.h"

#include <algorithm>

namespace depfast::copilot {

using Kind = Record::Kind;

bool HasAnswered(const std::vector<Prepared>& answers, int replica) {
  return std::ranges::any_of(answers, [&](const auto& each) { return each.replica == replica; });
}

FastAccepts FastAcceptsIn(const std::vector<Prepared>& answers) {
  FastAccepts fast;
  for (const Prepared& answer : answers) {
    fast.view = std::max(fast.view, ViewOf(answer.record.ballot));
  }
  for (const Prepared& answer : answers) {
    const Record& record = answer.record;
    if (record.kind == Kind::kNone || ViewOf(record.ballot) != fast.view) continue;
    fast.has_witness = true;
    fast.witness = record.witness;
    if (record.kind != Kind::kFastAccepted) continue;
    ++fast.count;
    fast.initial = record.dependency;
    fast.witness_accepted |= answer.replica == record.witness;
  }
  return fast;
}

Rivals RivalsIn(const std::vector<Prepared>& answers, EntryIndex initial) {
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
