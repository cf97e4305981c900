// The decisions of SAUCR (document 003): commit and mode, markers and maps, recovery.
//
// Pure functions: they know no time, no network and no disk. The replica calls them, and so does
// the exploration that proves them for small clusters. All lists by replica have an element for
// each replica.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "saucr_types.h"

namespace depfast::saucr {

// ---- 6A: commit, and mode ----

// The highest entry that these acknowledgements commit (R3; section 3.2): 0 if they commit none.
// An entry is committed, and all before it are,
//   - if a fast quorum has it buffered, in the latest life of each, and its round has named each;
//   - or if a majority has it durable, in whichever life.
// The mode plays no part. Entries before `term_began_at`, the first of the leader's term, are
// committed with a later one alone (Raft, section 5.4.2).
//
// `acks`: by replica, the leader's own among them. `lives`: by replica, the latest known.
EntryIndex CommittedUpTo(EntryIndex term_began_at, const std::vector<Acks>& acks,
                         const Lives& lives, const Quorums& quorums);

// The mode after a beat (R6, R7; section 3.3). `functional`: the replicas that answered the beat
// and take part in rounds, the leader included. With a majority or fewer the mode is slow at once.
// It is fast after kPromptBeats beats in a row with more.
ModeState NextMode(const ModeState& now, int functional, const Quorums& quorums);

// ---- 6B: markers, and maps ----

// Whether all that the replica acknowledged before its crash is on its disk (R14; section 3.4.1).
// If not, it is recovering.
bool IsOnDisk(const Markers& markers);

// The fast-switch-entry to write before entries are acknowledged from memory (R11, R13); nothing if
// the one on the disk will do, or none is needed. It is the first of the entries that is ahead of
// latest-on-disk. `appended`: the entries that this message, or round, has appended, in the order
// of the log.
std::optional<EntryId> FastSwitch(const Markers& markers, std::span<const EntryId> appended);

// The latest-on-disk-entry to write after the entries of a flush (R12, R28); nothing if the
// present one says as much, or none may be written, because the log has not reached the recovered
// LLE. It is never behind the fast-switch-entry. `last`: the last entry of the flushed log.
// `recovered`: the recovered LLE, {} if there is none.
std::optional<EntryId> LatestOnDisk(const Markers& markers, EntryId last, EntryId recovered);

// The map of a round whose last entry is `last` (R15; section 3.4.2): that entry for each replica
// that is named, and the known values for the others.
// Requires: `last` is not behind any known value.
LleMap MapOfRound(LleMap known, EntryId last, const std::vector<PeerId>& named);

// A replica's map after it was told another one: the larger value of each replica (R16, R19, R22).
LleMap Merged(LleMap ours, const LleMap& told);

// ---- 6C: recovery ----

// The LLE of a recovering replica (R21; section 3.5), nothing with the answers of fewer than a
// minority. It is the largest of its own values in the maps, and of `on_disk`, the last entry of
// its disk. `answers`: the maps of different replicas, which were not recovering.
std::optional<EntryId> RecoveredLle(PeerId self, EntryId on_disk,
                                    const std::vector<LleMap>& answers, const Quorums& quorums);

// Whether a replica grants its vote, or its pre-vote, to a candidate by their LLEs (R20, R25;
// section 3.5). Terms and earlier votes are not asked here. An LLE is the recovered one, or the
// last entry of the log, whichever is ahead.
bool GrantsVote(bool is_recovering, EntryId ours, EntryId candidates);

// The log that a new leader takes whose own one ends before its recovered LLE (R29; section 3.5).
//   - One that has reached the recovered LLE; else,
//   - with the answers of a minority of whole replicas, the most advanced of theirs and its own;
//   - else it must ask more.
// It takes the most advanced log that will do, among equal ones its own, or the one of the lowest
// id. `own`: the last entry of its log. `answers`: one a replica, without the leader's.
// Requires: own < recovered.
DataChoice ChooseData(EntryId own, EntryId recovered, const std::vector<LogAnswer>& answers,
                      const Quorums& quorums);

}  // namespace depfast::saucr
