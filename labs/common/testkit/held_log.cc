#include "held_log.h"

#include <algorithm>
#include <limits>

namespace depfast {

void HeldLog::Hold(std::uint64_t index, std::uint64_t term, const CommandDigest& command) {
  if (index > applied_) entries_.insert_or_assign({index, term}, command);
}

void HeldLog::HoldPart(std::uint64_t last, std::uint64_t offset, std::uint64_t bytes,
                       std::uint64_t total) {
  auto& [held, is_all] = snapshots_[last];
  if (offset <= held) held = std::max(held, offset + bytes);
  is_all = is_all || held >= total;
}

HeldLog::Taken HeldLog::Take(std::uint64_t index, std::uint64_t term, std::uint64_t hash,
                             const std::optional<CommandDigest>& on_disk, bool is_damaged) {
  const auto held = entries_.find({index, term});
  const auto command = held == entries_.end() ? on_disk : std::optional(held->second);
  ForgetUpTo(index);
  if (command && command->hash == hash) return {*command, ""};
  if (command) return {{.hash = hash}, ", and has another command there"};
  if (is_damaged) return {{.hash = hash}, ""};
  return {{.hash = hash}, ", which it has neither received nor has on its disk"};
}

std::string HeldLog::TakeSnapshot(std::uint64_t last, std::uint64_t on_disk, bool is_damaged) {
  const auto received = snapshots_.find(last);
  const bool has_all = received != snapshots_.end() && received->second.second;
  ForgetUpTo(last);
  if (has_all || on_disk >= last || is_damaged) return "";
  return ", and has neither received it nor has it on its disk";
}

void HeldLog::ForgetUpTo(std::uint64_t index) {
  applied_ = std::max(applied_, index);
  const auto entries_end = entries_.upper_bound({index, std::numeric_limits<std::uint64_t>::max()});
  entries_.erase(entries_.begin(), entries_end);
  snapshots_.erase(snapshots_.begin(), snapshots_.upper_bound(index));
}

}  // namespace depfast
