// RepeatedEntries: the number of times that entries of a log are sent to one peer.
//
// A send counts while it may still be useful: it is under way, or it was answered. A send that the
// caller gave up (released, or timed out) does not count: after a vain wait a caller may try again.
// An entry that counts thrice is sent without need. The repeated background tasks of TiDB (document
// 000, sections 3.1 and 5.2.3) are such sends.
#pragma once

#include <cstdint>
#include <map>

#include "depfast/carried_entries.h"

namespace depfast {

// The sends to one peer, in one window.
class RepeatedEntries {
 public:
  // A newer generation makes the older entries void.
  void Sent(const CarriedEntries& entries);
  // Requires: these entries were sent, and since the last Clear.
  void GivenUp(const CarriedEntries& entries);

  // The most sends of one entry since the last Clear.
  std::uint64_t most() const { return most_; }

  // A new window begins.
  void Clear();

 private:
  bool Continues(const CarriedEntries& entries);
  void Add(std::uint64_t first, std::uint64_t end, std::int64_t change);
  void Split(std::uint64_t at);
  void Merge(std::uint64_t from, std::uint64_t to);

  std::uint64_t generation_ = 0;
  std::uint64_t most_ = 0;
  // From this index to the next key: the sends of each entry. Neighbours differ; the last is 0.
  std::map<std::uint64_t, std::int64_t> sends_;
};

}  // namespace depfast
