#include "asked_rules.h"

namespace depfast::saucr {
namespace {

std::optional<EntryId> EntryIn(const RuleAnswer& answer) {
  return answer.has_entry ? std::optional(answer.entry) : std::nullopt;
}

}  // namespace

EntryIndex AskedRules::CommittedUpTo(EntryIndex term_began_at, const std::vector<Acks>& acks,
                                     const Lives& lives) {
  return static_cast<EntryIndex>(Ask(AskCommitted{term_began_at, acks, lives}).number);
}

ModeState AskedRules::NextMode(const ModeState& now, int functional, const Quorums& quorums) {
  return Ask(AskMode{now, functional, quorums.replicas()}).mode;
}

bool AskedRules::IsOnDisk(const Markers& markers) { return Ask(AskIsOnDisk{markers}).number != 0; }

std::optional<EntryId> AskedRules::FastSwitch(const Markers& markers,
                                              std::span<const EntryId> appended) {
  return EntryIn(Ask(AskFastSwitch{markers, {appended.begin(), appended.end()}}));
}

std::optional<EntryId> AskedRules::LatestOnDisk(const Markers& markers, EntryId last,
                                                EntryId recovered) {
  return EntryIn(Ask(AskLatestOnDisk{markers, last, recovered}));
}

LleMap AskedRules::MapOfRound(const LleMap& known, EntryId last, const std::vector<PeerId>& named) {
  return Ask(AskMapOfRound{known, last, named}).map;
}

LleMap AskedRules::Merged(const LleMap& ours, const LleMap& told) {
  return Ask(AskMerged{ours, told}).map;
}

std::optional<EntryId> AskedRules::RecoveredLle(PeerId self, EntryId on_disk,
                                                const std::vector<LleMap>& answers,
                                                const Quorums& quorums) {
  return EntryIn(Ask(AskRecoveredLle{self, on_disk, answers, quorums.replicas()}));
}

bool AskedRules::GrantsVote(bool is_recovering, EntryId ours, EntryId candidates) {
  return Ask(AskVote{is_recovering, ours, candidates}).number != 0;
}

DataChoice AskedRules::ChooseData(EntryId own, EntryId recovered,
                                  const std::vector<LogAnswer>& answers, const Quorums& quorums) {
  return Ask(AskData{own, recovered, answers, quorums.replicas()}).choice;
}

Rules AskedRules::All() {
  return {
      .committed = [this](EntryIndex term_began_at, const std::vector<Acks>& acks,
                          const Lives& lives,
                          const Quorums&) { return CommittedUpTo(term_began_at, acks, lives); },
      .is_on_disk = [this](const Markers& markers) { return IsOnDisk(markers); },
      .fast_switch =
          [this](const Markers& markers, std::span<const EntryId> appended) {
            return FastSwitch(markers, appended);
          },
      .latest_on_disk = [this](
                            const Markers& markers, EntryId last,
                            EntryId recovered) { return LatestOnDisk(markers, last, recovered); },
      .map_of_round =
          [this](const LleMap& known, EntryId last, const std::vector<PeerId>& named) {
            return MapOfRound(known, last, named);
          },
      .merged = [this](const LleMap& ours, const LleMap& told) { return Merged(ours, told); },
      .recovered_lle =
          [this](PeerId self, EntryId on_disk, const std::vector<LleMap>& answers,
                 const Quorums& quorums) { return RecoveredLle(self, on_disk, answers, quorums); },
      .grants_vote =
          [this](bool is_recovering, EntryId ours, EntryId candidates) {
            return GrantsVote(is_recovering, ours, candidates);
          },
      .choose =
          [this](EntryId own, EntryId recovered, const std::vector<LogAnswer>& answers,
                 const Quorums& quorums) { return ChooseData(own, recovered, answers, quorums); }};
}

void PrintTo(const EntryId& id, std::ostream* out) {
  *out << "(" << id.term << "," << id.index << ")";
}

void PrintTo(Mode mode, std::ostream* out) {
  *out << (mode == Mode::kFast ? "fast" : mode == Mode::kSlow ? "slow" : "an unknown mode");
}

void PrintTo(const DataChoice& choice, std::ostream* out) {
  switch (choice.kind) {
    case DataChoice::Kind::kAskMore:
      *out << "ask more";
      return;
    case DataChoice::Kind::kTake:
      *out << "take the log of replica " << choice.from;
      return;
    case DataChoice::Kind::kOwn:
      *out << "keep the own log";
      return;
  }
  *out << "an unknown choice";
}

}  // namespace depfast::saucr
