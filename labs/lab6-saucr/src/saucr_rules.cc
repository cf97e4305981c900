#include "saucr_rules.h"

namespace depfast::saucr {

// Every function below is a stub. saucr_rules.h is the contract. Our lines: 95.

// ---- 6A: commit, and mode ----

// TODO 6A
EntryIndex CommittedUpTo(EntryIndex term_began_at, const std::vector<Acks>& acks,
                         const Lives& lives, const Quorums& quorums) {
  (void)term_began_at, (void)acks, (void)lives, (void)quorums;
  return 0;
}

// TODO 6A
ModeState NextMode(const ModeState& now, int functional, const Quorums& quorums) {
  (void)functional, (void)quorums;
  return now;
}

// ---- 6B: markers, and maps ----

// TODO 6B. Until then each replica takes its disk for complete.
bool IsOnDisk(const Markers& markers) {
  (void)markers;
  return true;
}

// TODO 6B
std::optional<EntryId> FastSwitch(const Markers& markers, std::span<const EntryId> appended) {
  (void)markers, (void)appended;
  return std::nullopt;
}

// TODO 6B
std::optional<EntryId> LatestOnDisk(const Markers& markers, EntryId last, EntryId recovered) {
  (void)markers, (void)last, (void)recovered;
  return std::nullopt;
}

// TODO 6B
LleMap MapOfRound(LleMap known, EntryId last, const std::vector<PeerId>& named) {
  (void)last, (void)named;
  return known;
}

// TODO 6B
LleMap Merged(LleMap ours, const LleMap& told) {
  (void)told;
  return ours;
}

// ---- 6C: recovery ----

// TODO 6C
std::optional<EntryId> RecoveredLle(PeerId self, EntryId on_disk,
                                    const std::vector<LleMap>& answers, const Quorums& quorums) {
  (void)self, (void)on_disk, (void)answers, (void)quorums;
  return std::nullopt;
}

// TODO 6C. Until then a replica votes as in lab 2.
bool GrantsVote(bool is_recovering, EntryId ours, EntryId candidates) {
  (void)is_recovering;
  return candidates >= ours;
}

// TODO 6C
DataChoice ChooseData(EntryId own, EntryId recovered, const std::vector<LogAnswer>& answers,
                      const Quorums& quorums) {
  (void)own, (void)recovered, (void)answers, (void)quorums;
  return {};
}

}  // namespace depfast::saucr
