// The values that SAUCR's rules speak of (document 003). Given, not submitted.
//
// n = 2f + 1 replicas. A replica keeps new entries in its memory while many replicas are up, and on
// its disk otherwise. The entries of the log count from 1.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "depfast/fields.h"
#include "depfast/peer.h"

namespace depfast::saucr {

using EntryIndex = std::uint64_t;

// The number of times that a replica has started without entries that it had buffered (R17).
using Life = std::uint32_t;

// An entry of some leader's log. Ids compare by their terms first: the log that ends with the
// larger id is ahead. {0, 0} is the end of the empty log.
struct EntryId {
  std::uint64_t term = 0;
  EntryIndex index = 0;

  friend auto operator<=>(const EntryId&, const EntryId&) = default;
  DEPFAST_FIELDS(term, index)
};

// By replica: the last entry that it may have logged (document 003, section 3.4.2).
using LleMap = std::vector<EntryId>;
// By replica: the latest life that is known.
using Lives = std::vector<Life>;

// Whether followers answer for entries in their memories, or on their disks (section 3.2).
enum class Mode : std::uint8_t { kSlow = 0, kFast = 1 };

// The numbers of replicas that decide, of 2f + 1.
class Quorums {
 public:
  // Throws std::invalid_argument, in one line, unless the number is odd and 3 at least.
  explicit Quorums(int replicas);

  int replicas() const { return 2 * f_ + 1; }
  // f: the answers by which a recovering replica learns what it has lost.
  int minority() const { return f_; }
  // f + 1: the disks that commit an entry.
  int majority() const { return f_ + 1; }
  // f + 2: the memories that commit an entry.
  int fast() const { return f_ + 2; }

 private:
  int f_;
};

// The two entries that a disk names (section 3.4.1). Durable, or written before what follows.
struct Markers {
  EntryId fast_switch;     // an entry that was buffered, and all behind it may have been
  EntryId latest_on_disk;  // this entry and all before it are on the disk

  friend bool operator==(const Markers&, const Markers&) = default;
  DEPFAST_FIELDS(fast_switch, latest_on_disk)
};

// A leader's knowledge of one replica's log in its term, and of its own log.
struct Acks {
  EntryIndex buffered = 0;    // acknowledged up to here, in `life`
  EntryIndex durable = 0;     // on the disk up to here, in whichever life
  EntryIndex named_from = 0;  // each round from this entry on has named the replica; 0: none has
  Life life = 0;              // of the latest acknowledgement

  friend bool operator==(const Acks&, const Acks&) = default;
  DEPFAST_FIELDS(buffered, durable, named_from, life)
};

// The mode that a leader is in. A new leader begins with ModeState() (R8).
struct ModeState {
  Mode mode = Mode::kSlow;
  int prompt_beats = 0;  // in a row, with more than a majority functional

  friend bool operator==(const ModeState&, const ModeState&) = default;
  DEPFAST_FIELDS(mode, prompt_beats)
};

// The beats in a row, each with a fast quorum functional, that take a leader to fast mode (R7).
inline constexpr int kPromptBeats = 3;

// An answer to a leader that looks for its data (R29).
struct LogAnswer {
  PeerId replica = kNobody;
  EntryId last;           // of the replica's log
  bool is_whole = false;  // that log has reached the replica's recovered LLE, if there is one

  DEPFAST_FIELDS(replica, last, is_whole)
};

// The log that such a leader takes.
struct DataChoice {
  enum class Kind : std::uint8_t {
    kAskMore = 0,  // none yet
    kTake = 1,     // that of replica `from`
    kOwn = 2,      // its own, as it is
  };

  Kind kind = Kind::kAskMore;
  PeerId from = kNobody;  // with kTake alone

  friend bool operator==(const DataChoice&, const DataChoice&) = default;
  DEPFAST_FIELDS(kind, from)
};

}  // namespace depfast::saucr
