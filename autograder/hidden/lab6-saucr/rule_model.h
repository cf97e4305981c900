// The rules R3 to R29 of lab 6's handout that are pure, one by one: what random questions are
// compared with.
#pragma once

#include <optional>
#include <vector>

#include "saucr_rules.h"

namespace depfast::saucr::model {

// See saucr_rules.h.
EntryIndex CommittedUpTo(EntryIndex term_began_at, const std::vector<Acks>& acks,
                         const Lives& lives, const Quorums& quorums);
bool IsOnDisk(const Markers& markers);
std::optional<EntryId> FastSwitch(const Markers& markers, const std::vector<EntryId>& appended);
std::optional<EntryId> LatestOnDisk(const Markers& markers, EntryId last, EntryId recovered);
LleMap MapOfRound(const LleMap& known, EntryId last, const std::vector<PeerId>& named);
LleMap Merged(const LleMap& ours, const LleMap& told);
std::optional<EntryId> RecoveredLle(PeerId self, EntryId on_disk,
                                    const std::vector<LleMap>& answers, const Quorums& quorums);
bool GrantsVote(bool is_recovering, EntryId ours, EntryId candidates);
DataChoice ChooseData(EntryId own, EntryId recovered, const std::vector<LogAnswer>& answers,
                      const Quorums& quorums);

// R6 and R7, by all beats of a term so far: the replicas that were functional at each.
Mode ModeAfter(const std::vector<int>& functional, const Quorums& quorums);

}  // namespace depfast::saucr::model
