// CarriedEntries: the part of a log that a request carries.
//
// Runtime verification looks for entries that are sent to one peer again and again (document 000,
// section 5.2.3). The runtime does not know what a log is, so a request type says it: it has a
// const member function `CarriedEntries Carried() const`.
#pragma once

#include <cstdint>

namespace depfast {

// The entries [first, end). Entries with the same index and the same generation are the same entry:
// a Raft leader's generation is its term.
struct CarriedEntries {
  std::uint64_t generation = 0;
  std::uint64_t first = 0;
  std::uint64_t end = 0;

  bool empty() const { return end <= first; }
};

}  // namespace depfast
