#include "rule_model.h"

#include <algorithm>
#include <map>

#include "prepared_answers.h"

namespace depfast::copilot::model {
namespace {

using Kind = Record::Kind;
using RivalStage = Rival::Stage;

const Value kNoOp{.no_op = true};

// Rule 7.
bool Conflicts(const Record& record, EntryIndex entry) {
  return record.kind == Kind::kNone ? IsTakeover(record.promised) : record.least < entry;
}

// Rule 21.
bool IsRival(const Record& record, EntryIndex entry) {
  if (record.kind != Kind::kCommitted) return Conflicts(record, entry);
  return !record.no_op && record.dependency < entry;
}

const std::map<Kind, RivalStage> kStages = {{Kind::kNone, RivalStage::kPromised},
                                            {Kind::kFastAccepted, RivalStage::kProposed},
                                            {Kind::kSuggested, RivalStage::kProposed},
                                            {Kind::kAccepted, RivalStage::kAccepted},
                                            {Kind::kCommitted, RivalStage::kCommitted}};

}  // namespace

// Rule 8.
std::optional<EntryIndex> Suggestion(EntryIndex entry, EntryIndex dependency,
                                     const Records& other) {
  EntryIndex latest = other.base;
  for (EntryIndex k = other.base + 1; k <= other.last(); ++k) {
    if (Conflicts(other.At(k), entry)) latest = k;
  }
  return latest > dependency ? std::optional(latest) : std::nullopt;
}

// Rule 11.
EntryIndex SlowDependency(std::vector<EntryIndex> suggested, const Quorums& quorums) {
  std::ranges::sort(suggested);
  return suggested[static_cast<std::size_t>(quorums.majority()) - 1];
}

// Rule 21.
std::vector<Rival> RivalsOf(EntryIndex entry, EntryIndex initial, const Records& other) {
  std::vector<Rival> rivals;
  for (EntryIndex k = initial + 1; k <= other.last(); ++k) {
    if (k <= other.base) {
      if (k == other.latest_gone) rivals.push_back({k, 0, RivalStage::kCommitted});
    } else if (IsRival(other.At(k), entry)) {
      const Record& record = other.At(k);
      const RivalStage stage = kStages.at(record.kind);
      const bool is_anew = stage == RivalStage::kProposed && record.initial >= entry;
      rivals.push_back({k, ViewOf(record.ballot), is_anew ? RivalStage::kPromised : stage});
    }
  }
  return rivals;
}

namespace {

// Rule 23, for an entry without a commit or an Accept among its answers.
class AfterProposals {
 public:
  AfterProposals(EntryIndex entry, const std::vector<Prepared>& answers, const Records& other,
                 const Quorums& quorums)
      : entry_(entry),
        answers_(answers),
        other_(other),
        quorums_(quorums),
        fast_(FastAcceptsIn(answers)),
        rivals_(RivalsIn(answers, fast_.initial)) {}

  Choice Choose() const {
    const bool is_silent = !Answered(Proposer());
    if (fast_.count >= quorums_.f() + 1 || (fast_.count >= quorums_.f() && is_silent)) {
      return Value{.dependency = fast_.initial};
    }
    if (OneDecides() || (!is_silent && WitnessHasRefused())) return kNoOp;
    if (MostFastAccepts() < quorums_.fast()) return kNoOp;
    return ByRivals();
  }

 private:
  bool Answered(int replica) const { return HasAnswered(answers_, replica); }
  int Proposer() const { return OwnerOf(fast_.view, quorums_.replicas()); }
  // The proposers of the rivals at stage kProposed.
  std::vector<int> ProposersOfRivals() const {
    std::vector<int> found;
    for (const auto& [k, rival] : rivals_) {
      if (rival.stage != RivalStage::kProposed) continue;
      found.push_back(OwnerOf(rival.view, quorums_.replicas()));
    }
    return found;
  }
  bool OneDecides() const {
    return std::ranges::any_of(answers_, [&](const Prepared& each) {
      return each.decides && ViewOf(each.record.ballot) == fast_.view;
    });
  }
  bool WitnessHasRefused() const {
    if (!fast_.has_witness) return false;
    if (Answered(fast_.witness)) return !fast_.witness_accepted;
    return std::ranges::count(ProposersOfRivals(), fast_.witness) > 0;
  }
  int MostFastAccepts() const {
    const int silent = quorums_.replicas() - static_cast<int>(answers_.size());
    const bool one_has_refused =
        std::ranges::any_of(ProposersOfRivals(), [&](int replica) { return !Answered(replica); });
    return fast_.count + silent - (one_has_refused ? 1 : 0);
  }
  Choice ByRivals() const {
    for (const auto& [k, rival] : rivals_) {
      if (k <= other_.latest_gone) return kNoOp;
      if (k <= other_.base) continue;
      const Record here = k <= other_.last() ? other_.At(k) : Record();
      if (here.kind == Kind::kCommitted) {
        if (!here.no_op && here.dependency < entry_) return kNoOp;
        continue;
      }
      if (rival.stage == RivalStage::kCommitted) return kNoOp;
      return Undecided{k};
    }
    return Value{.dependency = fast_.initial};
  }

  EntryIndex entry_;
  const std::vector<Prepared>& answers_;
  const Records& other_;
  const Quorums& quorums_;
  FastAccepts fast_;
  Rivals rivals_;
};

}  // namespace

// Rule 23.
Choice ChooseAfterPrepare(EntryIndex entry, const std::vector<Prepared>& answers,
                          const Records& other, const Quorums& quorums) {
  std::optional<Record> accepted;
  for (const auto& [replica, record, rivals, decides] : answers) {
    if (record.kind == Kind::kCommitted) return Value{record.no_op, record.dependency};
    if (record.kind != Kind::kAccepted) continue;
    if (!accepted || accepted->ballot < record.ballot) accepted = record;
  }
  if (accepted) return Value{accepted->no_op, accepted->dependency};
  return AfterProposals(entry, answers, other, quorums).Choose();
}

// Rule 24: the commit, the highest Accept, or the latest proposal.
bool Latest(const Record& one, const Record& two) {
  const bool settles = one.kind >= Kind::kAccepted || two.kind >= Kind::kAccepted;
  if (settles && one.kind != two.kind) return one.kind > two.kind;
  if (one.kind == Kind::kNone || two.kind == Kind::kNone) return one.kind != Kind::kNone;
  return one.ballot >= two.ballot;
}

// Rule 16.
Next NextToRun(const std::optional<Value>& pilot, EntryIndex pilot_ran,
               const std::optional<Value>& copilot, EntryIndex copilot_ran) {
  const bool pilot_may = pilot && (pilot->no_op || pilot->dependency <= copilot_ran);
  const bool copilot_may = copilot && (copilot->no_op || copilot->dependency <= pilot_ran);
  if (pilot_may || (pilot && copilot && !copilot_may)) return Next::kPilot;
  return copilot_may ? Next::kCopilot : Next::kNothing;
}

}  // namespace depfast::copilot::model
