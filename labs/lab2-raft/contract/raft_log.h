// RaftLog: a replica's log in memory, without the entries that a snapshot replaces. Given, not
// submitted.
//
// Indexes never shift. A log that was compacted up to index 100 has entries from 101 on, and still
// knows the term of entry 100: that is its base. The empty log's base is index 0 of term 0.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "raft_messages.h"

namespace depfast::raft {

class RaftLog {
 public:
  std::uint64_t base_index() const { return base_index_; }
  std::uint64_t last_index() const { return base_index_ + entries_.size(); }
  std::uint64_t last_term() const { return TermAt(last_index()); }

  // Whether TermAt knows the term of entry `index`.
  bool Knows(std::uint64_t index) const { return index >= base_index_ && index <= last_index(); }
  // Requires: Knows(index).
  std::uint64_t TermAt(std::uint64_t index) const {
    assert(Knows(index));
    return index == base_index_ ? base_term_ : At(index).term;
  }
  // Requires: base_index() < index <= last_index().
  const LogEntry& At(std::uint64_t index) const {
    assert(index > base_index_ && index <= last_index());
    return entries_[static_cast<std::size_t>(index - base_index_ - 1)];
  }
  // The entries [first, end). Requires: base_index() < first <= end <= last_index() + 1.
  std::vector<LogEntry> Slice(std::uint64_t first, std::uint64_t end) const;

  // About the size of the entries in memory, and on disk.
  std::size_t bytes() const { return bytes_; }
  static std::size_t SizeOf(const LogEntry& entry) {
    // Not sizeof(LogEntry): a string's is another one in each C++ library, and batches depend on
    // it.
    constexpr std::size_t kAroundCommand = 40;
    return entry.command.size() + kAroundCommand;
  }

  void Append(LogEntry entry) {
    bytes_ += SizeOf(entry);
    entries_.push_back(std::move(entry));
  }
  // Removes `first` and all after it. Requires: first > base_index().
  void TruncateFrom(std::uint64_t first);
  // Removes the entries up to `index`, which becomes the base. Requires: Knows(index).
  void CompactUpTo(std::uint64_t index);
  // Removes all entries: a snapshot that ends at `index` of `term` has replaced them.
  void Reset(std::uint64_t index, std::uint64_t term);

 private:
  std::uint64_t base_index_ = 0;
  std::uint64_t base_term_ = 0;
  std::deque<LogEntry> entries_;  // entries_[i] has index base_index_ + 1 + i
  std::size_t bytes_ = 0;
};

}  // namespace depfast::raft
