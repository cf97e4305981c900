#include "raft_log.h"

namespace depfast::raft {

std::vector<LogEntry> RaftLog::Slice(std::uint64_t first, std::uint64_t end) const {
  assert(first > base_index_ && first <= end && end <= last_index() + 1);
  const auto from = entries_.begin() + static_cast<std::ptrdiff_t>(first - base_index_ - 1);
  return {from, from + static_cast<std::ptrdiff_t>(end - first)};
}

void RaftLog::TruncateFrom(std::uint64_t first) {
  assert(first > base_index_);
  while (last_index() >= first) {
    bytes_ -= SizeOf(entries_.back());
    entries_.pop_back();
  }
}

void RaftLog::CompactUpTo(std::uint64_t index) {
  const std::uint64_t term = TermAt(index);
  while (base_index_ < index) {
    bytes_ -= SizeOf(entries_.front());
    entries_.pop_front();
    ++base_index_;
  }
  base_term_ = term;
}

void RaftLog::Reset(std::uint64_t index, std::uint64_t term) {
  entries_.clear();
  bytes_ = 0;
  base_index_ = index;
  base_term_ = term;
}

}  // namespace depfast::raft
