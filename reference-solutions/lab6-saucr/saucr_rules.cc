#include "saucr_rules.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <utility>

namespace depfast::saucr {

// ---- 6A: commit, and mode ----

namespace {

// Whether a fast quorum has the entry in its memories, and knows of each other that it may (R3a).
bool IsInMemories(EntryIndex entry, const std::vector<Acks>& acks, const Lives& lives,
                  const Quorums& quorums) {
  int have = 0;
  for (std::size_t replica = 0; replica < acks.size(); ++replica) {
    const auto& [buffered, durable, named_from, life] = acks[replica];
    const bool is_named = named_from != 0 && named_from <= entry;
    // An acknowledgement of an earlier life is of a memory that is gone (R17).
    if (buffered >= entry && is_named && life == lives[replica]) ++have;
  }
  return have >= quorums.fast();
}

// The latest entry that a majority has on its disks (R3b).
EntryIndex OnDisks(const std::vector<Acks>& acks, const Quorums& quorums) {
  std::vector<EntryIndex> durable;
  for (const Acks& each : acks) durable.push_back(each.durable);
  const auto nth = durable.begin() + quorums.majority() - 1;
  std::nth_element(durable.begin(), nth, durable.end(), std::greater<>());
  return *nth;
}

}  // namespace

EntryIndex CommittedUpTo(EntryIndex term_began_at, const std::vector<Acks>& acks,
                         const Lives& lives, const Quorums& quorums) {
  EntryIndex committed = OnDisks(acks, quorums);
  // The latest entry that is committed in memory is the latest of some replica.
  for (const Acks& each : acks) {
    if (each.buffered > committed && IsInMemories(each.buffered, acks, lives, quorums)) {
      committed = each.buffered;
    }
  }
  return committed >= term_began_at ? committed : 0;
}

ModeState NextMode(const ModeState& now, int functional, const Quorums& quorums) {
  if (functional < quorums.fast()) return {};
  const int prompt = std::min(now.prompt_beats + 1, kPromptBeats);
  const bool is_fast = now.mode == Mode::kFast || prompt == kPromptBeats;
  return {is_fast ? Mode::kFast : Mode::kSlow, prompt};
}

// ---- 6B: markers, and maps ----

bool IsOnDisk(const Markers& markers) { return markers.latest_on_disk >= markers.fast_switch; }

std::optional<EntryId> FastSwitch(const Markers& markers, std::span<const EntryId> appended) {
  if (!IsOnDisk(markers)) return std::nullopt;  // the disk says already that entries are missing
  const auto first = std::ranges::find_if(
      appended, [&](const EntryId& each) { return each > markers.latest_on_disk; });
  return first != appended.end() ? std::optional(*first) : std::nullopt;
}

std::optional<EntryId> LatestOnDisk(const Markers& markers, EntryId last, EntryId recovered) {
  const bool is_whole = last >= recovered;
  const EntryId latest = std::max(last, markers.fast_switch);
  return is_whole && latest > markers.latest_on_disk ? std::optional(latest) : std::nullopt;
}

LleMap MapOfRound(LleMap known, EntryId last, const std::vector<PeerId>& named) {
  for (const PeerId replica : named) known[static_cast<std::size_t>(replica)] = last;
  return known;
}

LleMap Merged(LleMap ours, const LleMap& told) {
  assert(ours.size() == told.size());
  std::ranges::transform(ours, told, ours.begin(), [](const EntryId& one, const EntryId& other) {
    return std::max(one, other);
  });
  return ours;
}

// ---- 6C: recovery ----

std::optional<EntryId> RecoveredLle(PeerId self, EntryId on_disk,
                                    const std::vector<LleMap>& answers, const Quorums& quorums) {
  if (std::cmp_less(answers.size(), quorums.minority())) return std::nullopt;
  EntryId lle = on_disk;
  for (const LleMap& map : answers) lle = std::max(lle, map[static_cast<std::size_t>(self)]);
  return lle;
}

bool GrantsVote(bool is_recovering, EntryId ours, EntryId candidates) {
  return !is_recovering && candidates >= ours;
}

namespace {

// The answer with the most advanced log, of equal ones that of the lowest id; null if there is none
// that `counts`.
template <typename Counts>
const LogAnswer* MostAdvanced(const std::vector<LogAnswer>& answers, const Counts& counts) {
  const LogAnswer* best = nullptr;
  for (const LogAnswer& each : answers) {
    if (!counts(each)) continue;
    const bool is_better = best == nullptr || each.last > best->last ||
                           (each.last == best->last && each.replica < best->replica);
    if (is_better) best = &each;
  }
  return best;
}

}  // namespace

DataChoice ChooseData(EntryId own, EntryId recovered, const std::vector<LogAnswer>& answers,
                      const Quorums& quorums) {
  const LogAnswer* const best = MostAdvanced(answers, [](const LogAnswer&) { return true; });
  if (best != nullptr && best->last >= recovered) return {DataChoice::Kind::kTake, best->replica};
  // Nobody who has answered has the entry. The whole ones have lacked it always.
  const auto is_whole = [](const LogAnswer& each) { return each.is_whole; };
  if (std::ranges::count_if(answers, is_whole) < quorums.minority()) return {};
  const LogAnswer* const whole = MostAdvanced(answers, is_whole);
  if (whole->last <= own) return {DataChoice::Kind::kOwn};
  return {DataChoice::Kind::kTake, whole->replica};
}

}  // namespace depfast::saucr
