#include "copilot_rules.h"

#include <algorithm>
#include <cassert>
#include <map>

namespace depfast::copilot {
namespace {

using Kind = Record::Kind;

// Whether the entry is, or may yet be, decided to depend on something before `entry`.
bool MayDependOnLess(const Record& record, EntryIndex entry) {
  if (record.kind == Kind::kCommitted) return !record.no_op && record.dependency < entry;
  if (record.kind == Kind::kNone) return record.promised > 0;
  return record.initial < entry;
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

std::vector<Rival> RivalsOf(EntryIndex entry, EntryIndex initial, std::span<const Record> other) {
  std::vector<Rival> rivals;
  for (EntryIndex k = initial + 1; k <= other.size(); ++k) {
    const Record& record = other[k - 1];
    const bool may_precede = MayDependOnLess(record, entry);
    if (record.kind >= Kind::kAccepted) {
      rivals.push_back({k, Rival::Stage::kSettled, may_precede});
    } else if (may_precede) {
      const bool proposed = record.kind != Kind::kNone;
      rivals.push_back({k, proposed ? Rival::Stage::kProposed : Rival::Stage::kPromised, true});
    }
  }
  return rivals;
}

namespace {

// The answer that decides by itself: a commit, or else what was accepted at the highest ballot.
const Record* Strongest(const std::vector<Prepared>& answers) {
  const Record* strongest = nullptr;
  for (const auto& [role, record, rivals] : answers) {
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
};

FastAccepts FastAcceptsIn(const std::vector<Prepared>& answers) {
  FastAccepts fast;
  for (const auto& [role, record, rivals] : answers) {
    fast.of_proposer |= role == Role::kProposer;
    fast.of_other_pilot |= role == Role::kOtherPilot;
    if (record.kind != Kind::kFastAccepted) continue;
    ++fast.count;
    fast.initial = record.dependency;
  }
  return fast;
}

// The latest entry that may come before this one although this one does not wait for it.
EntryIndex LatestRival(EntryIndex initial, const std::vector<Prepared>& answers) {
  EntryIndex latest = initial;
  for (const Prepared& answer : answers) {
    for (const Rival& rival : answer.rivals) {
      if (rival.may_precede) latest = std::max(latest, rival.entry);
    }
  }
  return latest;
}

// Whether the other pilot has proposed an entry that conflicts with this one, and cannot have seen
// it committed in another order: then it has refused this entry.
bool OtherPilotRefused(EntryIndex initial, const std::vector<Prepared>& answers) {
  std::map<EntryIndex, Rival::Stage> furthest;
  for (const Prepared& answer : answers) {
    for (const Rival& rival : answer.rivals) {
      if (rival.entry <= initial) continue;
      Rival::Stage& stage = furthest[rival.entry];
      stage = std::max(stage, rival.stage);
    }
  }
  return std::ranges::any_of(
      furthest, [](const auto& each) { return each.second == Rival::Stage::kProposed; });
}

// The most fast-accepts that there can be.
int MostFastAccepts(const FastAccepts& fast, const std::vector<Prepared>& answers,
                    const Quorums& quorums) {
  const int silent = quorums.replicas() - static_cast<int>(answers.size());
  const bool refused = !fast.of_other_pilot && OtherPilotRefused(fast.initial, answers);
  return fast.count + silent - (refused ? 1 : 0);
}

// Whether the entry was committed shows by the conflicting entries: not if one of them is decided
// to come first.
Choice ByOtherLog(EntryIndex entry, EntryIndex initial, EntryIndex latest_rival,
                  std::span<const Record> other) {
  for (EntryIndex k = initial + 1; k <= latest_rival; ++k) {
    if (k > other.size() || other[k - 1].kind != Kind::kCommitted) return Undecided{k};
    if (MayDependOnLess(other[k - 1], entry)) return Value{.no_op = true};
  }
  return Value{.dependency = initial};
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
  if (fast.of_proposer || MostFastAccepts(fast, answers, quorums) < quorums.fast()) {
    return Value{.no_op = true};
  }
  return ByOtherLog(entry, fast.initial, LatestRival(fast.initial, answers), other);
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
