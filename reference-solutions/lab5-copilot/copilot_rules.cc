#include "copilot_rules.h"

#include <algorithm>
#include <cassert>

namespace depfast::copilot {
namespace {

using Kind = Record::Kind;

// Whether the entry is, or may yet be, decided to depend on something before `entry`.
bool MayDependOnLess(const Record& record, EntryIndex entry) {
  if (record.kind == Kind::kCommitted) return !record.no_op && record.dependency < entry;
  if (record.promised > 0) return true;
  return record.kind != Kind::kNone && record.initial < entry;
}

}  // namespace

// ---- ordering ----

std::optional<EntryIndex> Suggestion(EntryIndex entry, EntryIndex dependency,
                                     std::span<const Record> other) {
  const EntryIndex conflict = LatestConflict(entry, other);
  return conflict > dependency ? std::optional(conflict) : std::nullopt;
}

EntryIndex SlowDependency(std::vector<EntryIndex> suggested, const Quorums& quorums) {
  const auto nth = suggested.begin() + quorums.majority() - 1;
  assert(nth < suggested.end());
  std::nth_element(suggested.begin(), nth, suggested.end());
  return *nth;
}

// ---- takeover ----

EntryIndex LatestConflict(EntryIndex entry, std::span<const Record> other) {
  EntryIndex k = other.size();
  while (k > 0 && !MayDependOnLess(other[k - 1], entry)) --k;
  return k;
}

namespace {

// The answer that decides by itself: a commit, or else what was accepted at the highest ballot.
const Record* Strongest(const std::vector<Prepared>& answers) {
  const Record* strongest = nullptr;
  for (const auto& [role, record, conflict] : answers) {
    if (record.kind == Kind::kCommitted) return &record;
    if (record.kind != Kind::kAccepted) continue;
    if (strongest == nullptr || record.ballot > strongest->ballot) strongest = &record;
  }
  return strongest;
}

// The fast-accepts that the answers know of.
struct FastAccepts {
  int count = 0;
  EntryIndex initial = 0;    // the dependency that they accept
  bool of_proposer = false;  // whether the proposer is among those who have answered
  bool of_other_pilot = false;
  EntryIndex conflict = 0;  // the latest entry that may come before this one
};

FastAccepts FastAcceptsIn(const std::vector<Prepared>& answers) {
  FastAccepts fast;
  for (const auto& [role, record, conflict] : answers) {
    fast.of_proposer |= role == Role::kProposer;
    fast.of_other_pilot |= role == Role::kOtherPilot;
    fast.conflict = std::max(fast.conflict, conflict);
    if (record.kind != Kind::kFastAccepted) continue;
    ++fast.count;
    fast.initial = record.dependency;
  }
  return fast;
}

// The most fast-accepts that there can be. The proposer of a conflicting entry refuses this one.
int MostFastAccepts(const FastAccepts& fast, std::size_t answers, const Quorums& quorums) {
  const int silent = quorums.replicas() - static_cast<int>(answers);
  const bool refused = fast.conflict > fast.initial && !fast.of_other_pilot;
  return fast.count + silent - (refused ? 1 : 0);
}

// Whether the entry was committed shows by the conflicting entries: not if one of them is decided
// to come first.
Choice ByOtherLog(EntryIndex entry, const FastAccepts& fast, std::span<const Record> other) {
  for (EntryIndex k = fast.initial + 1; k <= fast.conflict; ++k) {
    if (k > other.size() || other[k - 1].kind != Kind::kCommitted) return Undecided{k};
    if (MayDependOnLess(other[k - 1], entry)) return Value{.no_op = true};
  }
  return Value{.dependency = fast.initial};
}

}  // namespace

Choice ChooseAfterPrepare(EntryIndex entry, const std::vector<Prepared>& answers,
                          std::span<const Record> other, const Quorums& quorums) {
  if (const Record* const strongest = Strongest(answers)) {
    return Value{strongest->no_op, strongest->dependency};
  }
  const FastAccepts fast = FastAcceptsIn(answers);
  // A proposer that has answered with a promise commits nothing any more.
  const int sure = fast.of_proposer ? quorums.majority() : quorums.f();
  if (fast.count >= sure) return Value{.dependency = fast.initial};
  if (fast.of_proposer || MostFastAccepts(fast, answers.size(), quorums) < quorums.fast()) {
    return Value{.no_op = true};
  }
  return ByOtherLog(entry, fast, other);
}

// ---- execution ----

namespace {

bool MayRun(const Value& entry, EntryIndex other_ran) {
  return entry.no_op || entry.dependency <= other_ran;
}

}  // namespace

Next NextToRun(Decided pilot, EntryIndex pilot_ran, Decided copilot, EntryIndex copilot_ran) {
  const bool knows_pilot = pilot_ran < pilot.size();
  const bool knows_copilot = copilot_ran < copilot.size();
  if (knows_pilot && MayRun(pilot[pilot_ran], copilot_ran)) return Next::kPilot;
  if (knows_copilot && MayRun(copilot[copilot_ran], pilot_ran)) return Next::kCopilot;
  return knows_pilot && knows_copilot ? Next::kPilot : Next::kNothing;  // a cycle
}

}  // namespace depfast::copilot
