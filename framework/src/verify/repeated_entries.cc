#include "depfast/verify/repeated_entries.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace depfast {

void RepeatedEntries::Sent(const CarriedEntries& entries) {
  if (entries.empty() || entries.generation < generation_) return;
  if (entries.generation > generation_) sends_.clear();
  generation_ = entries.generation;
  if (!Continues(entries)) Add(entries.first, entries.end, +1);
}

// A leader mostly sends the entries after its last send. Then the last range only grows.
bool RepeatedEntries::Continues(const CarriedEntries& entries) {
  if (sends_.size() < 2) return false;
  const auto end = std::prev(sends_.end());
  if (end->first != entries.first || std::prev(end)->second != 1) return false;
  auto node = sends_.extract(end);
  node.key() = entries.end;
  sends_.insert(sends_.end(), std::move(node));
  return true;
}

void RepeatedEntries::GivenUp(const CarriedEntries& entries) {
  if (!entries.empty() && entries.generation == generation_) Add(entries.first, entries.end, -1);
}

void RepeatedEntries::Clear() {
  sends_.clear();
  most_ = 0;
}

void RepeatedEntries::Add(std::uint64_t first, std::uint64_t end, std::int64_t change) {
  Split(first);
  Split(end);
  for (auto range = sends_.find(first); range->first != end; ++range) {
    range->second += change;
    most_ = std::max(most_, static_cast<std::uint64_t>(std::max<std::int64_t>(0, range->second)));
  }
  Merge(first, end);
}

// Makes `at` the beginning of a range.
void RepeatedEntries::Split(std::uint64_t at) {
  const auto next = sends_.upper_bound(at);
  sends_.try_emplace(at, next == sends_.begin() ? 0 : std::prev(next)->second);
}

// Joins the ranges that begin in [from, to] with equal neighbours.
void RepeatedEntries::Merge(std::uint64_t from, std::uint64_t to) {
  for (auto range = sends_.find(from); range != sends_.end() && range->first <= to;) {
    const std::int64_t before = range == sends_.begin() ? 0 : std::prev(range)->second;
    range = range->second == before ? sends_.erase(range) : std::next(range);
  }
}

}  // namespace depfast
