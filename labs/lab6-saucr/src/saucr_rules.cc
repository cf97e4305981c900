#include "saucr_rules.h"

namespace depfast::saucr {

// Every function below is a stub. saucr_rules.h is the contract. Our lines: 100.

// TODO 6A: commit, and mode
EntryIndex CommittedUpTo(EntryIndex term_began_at, const std::vector<Acks>& acks,
                         const Lives& lives, const Quorums& quorums) {
  (void)term_began_at, (void)acks, (void)lives, (void)quorums;
  return 0;
}
ModeState NextMode(const ModeState& now, int functional, const Quorums& quorums) {
  (void)functional, (void)quorums;
  return now;
}

// TODO 6B: markers, and maps. Until then each replica takes its disk for complete.
bool IsOnDisk(const Markers& markers) {
  (void)markers;
  return true;
}
std::optional<EntryId> FastSwitch(const Markers& markers, std::span<const EntryId> appended) {
  (void)markers, (void)appended;
  return std::nullopt;
}
std::optional<EntryId> LatestOnDisk(const Markers& markers, EntryId last, EntryId recovered) {
  (void)markers, (void)last, (void)recovered;
  return std::nullopt;
}
LleMap MapOfRound(LleMap known, EntryId last, const std::vector<PeerId>& named) {
  (void)last, (void)named;
  return known;
}
LleMap Merged(LleMap ours, const LleMap& told) {
  (void)told;
  return ours;
}

// TODO 6C: recovery. Until then a replica votes as in lab 2.
std::optional<EntryId> RecoveredLle(PeerId self, EntryId on_disk,
                                    const std::vector<LleMap>& answers, const Quorums& quorums) {
  (void)self, (void)on_disk, (void)answers, (void)quorums;
  return std::nullopt;
}
bool GrantsVote(bool is_recovering, EntryId ours, EntryId candidates) {
  (void)is_recovering;
  return candidates >= ours;
}
DataChoice ChooseData(EntryId own, EntryId recovered, const std::vector<LogAnswer>& answers,
                      const Quorums& quorums) {
  (void)own, (void)recovered, (void)answers, (void)quorums;
  return {};
}

}  // namespace depfast::saucr
