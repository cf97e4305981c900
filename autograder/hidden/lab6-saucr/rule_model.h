// The rules R3 to R29 of lab 6's handout that are pure, one by one: what random questions are
// compared with. See saucr_rules.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "saucr_rules.h"

namespace depfast::saucr::model {

// R3, entry by entry from the last one on.
inline EntryIndex CommittedUpTo(EntryIndex term_began_at, const std::vector<Acks>& acks,
                                const Lives& lives, const Quorums& quorums) {
  EntryIndex last = 0;
  for (const Acks& each : acks) last = std::max({last, each.buffered, each.durable});
  for (EntryIndex entry = last; entry >= std::max<EntryIndex>(term_began_at, 1); --entry) {
    int in_memory = 0;
    int on_disk = 0;
    for (std::size_t replica = 0; replica < acks.size(); ++replica) {
      const Acks& ack = acks[replica];
      const bool is_named = ack.named_from > 0 && ack.named_from <= entry;  // R15
      const bool is_present = ack.life == lives[replica];                   // R17
      in_memory += ack.buffered >= entry && is_named && is_present ? 1 : 0;
      on_disk += ack.durable >= entry ? 1 : 0;
    }
    if (in_memory >= quorums.fast() || on_disk >= quorums.majority()) return entry;
  }
  return 0;
}

// R6 and R7, by all beats of a term so far: the replicas that were functional at each.
inline Mode ModeAfter(const std::vector<int>& functional, const Quorums& quorums) {
  const auto bare = std::find_if(functional.rbegin(), functional.rend(),
                                 [&](int each) { return each <= quorums.majority(); });
  return bare - functional.rbegin() >= kPromptBeats ? Mode::kFast : Mode::kSlow;
}

// R14: terms first.
inline bool IsAhead(EntryId one, EntryId other) {
  return one.term != other.term ? one.term > other.term : one.index > other.index;
}

inline bool IsOnDisk(const Markers& markers) {
  return !IsAhead(markers.fast_switch, markers.latest_on_disk);
}

// R11 and R13.
inline std::optional<EntryId> FastSwitch(const Markers& markers,
                                         std::span<const EntryId> appended) {
  for (const EntryId& each : appended) {
    if (IsAhead(each, markers.latest_on_disk) && model::IsOnDisk(markers)) return each;
  }
  return std::nullopt;
}

// R12 and R28.
inline std::optional<EntryId> LatestOnDisk(const Markers& markers, EntryId last,
                                           EntryId recovered) {
  if (IsAhead(recovered, last)) return std::nullopt;
  const EntryId covered = IsAhead(markers.fast_switch, last) ? markers.fast_switch : last;
  if (!IsAhead(covered, markers.latest_on_disk)) return std::nullopt;
  return covered;
}

// R15.
inline LleMap MapOfRound(LleMap known, EntryId last, const std::vector<PeerId>& named) {
  LleMap map;
  for (std::size_t replica = 0; replica < known.size(); ++replica) {
    const bool is_named = std::ranges::count(named, static_cast<PeerId>(replica)) > 0;
    map.push_back(is_named ? last : known[replica]);
  }
  return map;
}

// R16.
inline LleMap Merged(LleMap ours, const LleMap& told) {
  LleMap map;
  for (std::size_t replica = 0; replica < ours.size(); ++replica) {
    map.push_back(IsAhead(told[replica], ours[replica]) ? told[replica] : ours[replica]);
  }
  return map;
}

// R21.
inline std::optional<EntryId> RecoveredLle(PeerId self, EntryId on_disk,
                                           const std::vector<LleMap>& answers,
                                           const Quorums& quorums) {
  if (static_cast<int>(answers.size()) < quorums.minority()) return std::nullopt;
  EntryId lle = on_disk;
  for (const LleMap& answer : answers) {
    const EntryId value = answer.at(static_cast<std::size_t>(self));
    if (IsAhead(value, lle)) lle = value;
  }
  return lle;
}

// R20 and R25.
inline bool GrantsVote(bool is_recovering, EntryId ours, EntryId candidates) {
  if (is_recovering) return false;
  return !IsAhead(ours, candidates);
}

// R29.
inline DataChoice ChooseData(EntryId own, EntryId recovered, const std::vector<LogAnswer>& answers,
                             const Quorums& quorums) {
  std::vector<LogAnswer> sorted = answers;  // the most advanced first, of equal ones the lowest id
  std::ranges::sort(sorted, [](const LogAnswer& one, const LogAnswer& other) {
    return one.last == other.last ? one.replica < other.replica : IsAhead(one.last, other.last);
  });
  for (const LogAnswer& each : sorted) {
    if (!IsAhead(recovered, each.last)) return {DataChoice::Kind::kTake, each.replica};
  }
  std::erase_if(sorted, [](const LogAnswer& each) { return !each.is_whole; });
  if (static_cast<int>(sorted.size()) < quorums.minority()) return {};
  if (!IsAhead(sorted.front().last, own)) return {DataChoice::Kind::kOwn, kNobody};
  return {DataChoice::Kind::kTake, sorted.front().replica};
}

}  // namespace depfast::saucr::model
