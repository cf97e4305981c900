#include "copilot_rules.h"

#include <algorithm>
#include <cassert>

#include "prepared_answers.h"

namespace depfast::copilot {
namespace {

using Kind = Record::Kind;

// Whether an entry was proposed to depend on something before `entry`, as far as is known. One that
// is committed with a later dependency, or as a no-op, is no exception: so a proposer that has
// refused an entry refuses it for ever, and a taker may count on that.
bool Conflicts(const Record& record, EntryIndex entry) {
  if (record.kind == Kind::kNone) return IsTakeover(record.promised);
  return record.least < entry;
}

// Whether the entry is, or may yet be, decided to depend on something before `entry`.
bool MayDependOnLess(const Record& record, EntryIndex entry) {
  if (record.kind == Kind::kCommitted) return !record.no_op && record.dependency < entry;
  return Conflicts(record, entry);
}

EntryIndex LatestConflict(EntryIndex entry, const Records& other) {
  EntryIndex k = other.last();
  while (k > other.base && !Conflicts(other.At(k), entry)) --k;
  return k;  // all that is thrown away comes first
}

}  // namespace

// ---- ordering ----

std::optional<EntryIndex> Suggestion(EntryIndex entry, EntryIndex dependency,
                                     const Records& other) {
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

namespace {

Rival::Stage StageOf(const Record& record, EntryIndex entry) {
  switch (record.kind) {
    case Kind::kNone:
      return Rival::Stage::kPromised;
    case Kind::kFastAccepted:
    case Kind::kSuggested:
      // Proposed anew to come after `entry`, it is a rival by an older proposal, or by a promise.
      return record.initial < entry ? Rival::Stage::kProposed : Rival::Stage::kPromised;
    case Kind::kAccepted:
      return Rival::Stage::kAccepted;
    case Kind::kCommitted:
      break;
  }
  return Rival::Stage::kCommitted;
}

}  // namespace

std::vector<Rival> RivalsOf(EntryIndex entry, EntryIndex initial, const Records& other) {
  std::vector<Rival> rivals;
  if (other.latest_gone > initial) {
    rivals.push_back({other.latest_gone, 0, Rival::Stage::kCommitted});
  }
  for (EntryIndex k = std::max(initial, other.base) + 1; k <= other.last(); ++k) {
    if (!MayDependOnLess(other.At(k), entry)) continue;
    rivals.push_back({k, ViewOf(other.At(k).ballot), StageOf(other.At(k), entry)});
  }
  return rivals;
}

namespace {

// The answer that decides by itself: a commit, or else what was accepted at the highest ballot.
const Record* Strongest(const std::vector<Prepared>& answers) {
  const Record* strongest = nullptr;
  for (const Prepared& answer : answers) {
    const Record& record = answer.record;
    if (record.kind == Kind::kCommitted) return &record;
    if (record.kind != Kind::kAccepted) continue;
    if (strongest == nullptr || record.ballot > strongest->ballot) strongest = &record;
  }
  return strongest;
}

// The most fast-accepts that there can be. The proposer of a rival has refused this entry.
int MostFastAccepts(const FastAccepts& fast, const Rivals& rivals,
                    const std::vector<Prepared>& answers, const Quorums& quorums) {
  const int silent = quorums.replicas() - static_cast<int>(answers.size());
  const bool one_refused = std::ranges::any_of(rivals, [&](const auto& each) {
    const Rival& rival = each.second;
    return rival.stage == Rival::Stage::kProposed &&
           !HasAnswered(answers, OwnerOf(rival.view, quorums.replicas()));
  });
  return fast.count + silent - (one_refused ? 1 : 0);
}

// Whether the proposer of a rival, which has refused the entry, is that replica.
bool HasRefused(int replica, const Rivals& rivals, const Quorums& quorums) {
  return std::ranges::any_of(rivals, [&](const auto& each) {
    const Rival& rival = each.second;
    return rival.stage == Rival::Stage::kProposed &&
           OwnerOf(rival.view, quorums.replicas()) == replica;
  });
}

// Whether the proposer has not committed the entry on the fast path, and never will. One that has
// started again may have forgotten a commit, but none without the vote of its witness.
bool WasNotCommitted(const FastAccepts& fast, const Rivals& rivals,
                     const std::vector<Prepared>& answers, const Quorums& quorums) {
  if (fast.has_witness && HasAnswered(answers, OwnerOf(fast.view, quorums.replicas()))) {
    const bool knows = HasAnswered(answers, fast.witness);
    if (knows ? !fast.witness_accepted : HasRefused(fast.witness, rivals, quorums)) return true;
  }
  return std::ranges::any_of(answers, [&](const Prepared& each) {
    return each.decides && ViewOf(each.record.ballot) == fast.view;
  });
}

// Whether the entry was committed shows by its rivals: not if one of them is decided to come first.
Choice ByRivals(EntryIndex entry, EntryIndex initial, const Rivals& rivals, const Records& other) {
  for (const auto& [k, rival] : rivals) {
    if (k > other.latest_gone && k <= other.base) continue;  // a no-op
    if (k <= other.latest_gone) return Value{.no_op = true};
    const bool is_here = k <= other.last();
    const bool is_decided = is_here && other.At(k).kind == Kind::kCommitted;
    if (is_decided && !MayDependOnLess(other.At(k), entry)) continue;
    if (!is_decided && rival.stage != Rival::Stage::kCommitted) return Undecided{k};
    return Value{.no_op = true};
  }
  return Value{.dependency = initial};
}

}  // namespace

Choice ChooseAfterPrepare(EntryIndex entry, const std::vector<Prepared>& answers,
                          const Records& other, const Quorums& quorums) {
  if (const Record* const strongest = Strongest(answers)) {
    return Value{strongest->no_op, strongest->dependency};
  }
  const FastAccepts fast = FastAcceptsIn(answers);
  // One fast-accept of a silent proposer is certain: its own.
  const bool has_answered = HasAnswered(answers, OwnerOf(fast.view, quorums.replicas()));
  if (fast.count >= (has_answered ? quorums.majority() : quorums.f())) {
    return Value{.dependency = fast.initial};
  }
  const Rivals rivals = RivalsIn(answers, fast.initial);
  if (WasNotCommitted(fast, rivals, answers, quorums) ||
      MostFastAccepts(fast, rivals, answers, quorums) < quorums.fast()) {
    return Value{.no_op = true};
  }
  return ByRivals(entry, fast.initial, rivals, other);
}

// ---- execution ----

namespace {

bool MayRun(const Value& entry, EntryIndex other_ran) {
  return entry.no_op || entry.dependency <= other_ran;
}

}  // namespace

Next NextToRun(const std::optional<Value>& pilot, EntryIndex pilot_ran,
               const std::optional<Value>& copilot, EntryIndex copilot_ran) {
  if (pilot && MayRun(*pilot, copilot_ran)) return Next::kPilot;
  if (copilot && MayRun(*copilot, pilot_ran)) return Next::kCopilot;
  return pilot && copilot ? Next::kPilot : Next::kNothing;  // a cycle
}

}  // namespace depfast::copilot
