// The values of which Copilot's logs are made. Given, not submitted.
//
// There are two logs, or lanes, one of each pilot. An entry of one lane has a dependency: an entry
// of the other lane that runs before it, with all entries before that one. The entries of a lane
// count from 1; as a dependency, 0 means none.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

#include "depfast/fields.h"

namespace depfast::copilot {

enum class Lane : std::uint8_t { kPilot = 0, kCopilot = 1 };

inline constexpr Lane kLanes[] = {Lane::kPilot, Lane::kCopilot};
constexpr Lane Other(Lane lane) { return lane == Lane::kPilot ? Lane::kCopilot : Lane::kPilot; }

// The value of one lane. The pilot's is the first of the pair.
template <typename T>
constexpr T& At(std::array<T, 2>& pair, Lane lane) {
  return pair[static_cast<std::size_t>(lane)];
}
template <typename T>
constexpr const T& At(const std::array<T, 2>& pair, Lane lane) {
  return pair[static_cast<std::size_t>(lane)];
}

using EntryIndex = std::uint64_t;
using PerLane = std::array<EntryIndex, 2>;

// The time in which one replica proposes in a lane. View v belongs to replica v % replicas.
using View = std::uint64_t;
constexpr int OwnerOf(View view, int replicas) {
  return static_cast<int>(view % static_cast<View>(replicas));
}

// A proposal's number. The higher one wins. The first ballot of a view is its proposer's; a replica
// that takes an entry over does so at a later one, which is its alone.
using Ballot = std::uint64_t;

inline constexpr int kTakeoverBits = 24;
constexpr Ballot FirstBallot(View view) { return view << kTakeoverBits; }
constexpr View ViewOf(Ballot ballot) { return ballot >> kTakeoverBits; }
constexpr bool IsTakeover(Ballot ballot) { return ballot != FirstBallot(ViewOf(ballot)); }

// The numbers of replicas that decide, of 2f + 1.
class Quorums {
 public:
  // Requires: an odd number, 3 at least.
  explicit constexpr Quorums(int replicas) : f_(replicas / 2) {}

  constexpr int replicas() const { return 2 * f_ + 1; }
  constexpr int f() const { return f_; }
  constexpr int majority() const { return f_ + 1; }
  // With the proposer's own.
  constexpr int fast() const { return f_ + (f_ + 1) / 2; }

 private:
  int f_;
};

// A replica's record of an entry.
struct Record {
  enum class Kind : std::uint8_t {
    kNone,
    kFastAccepted,  // with the initial dependency, at the first ballot of a view
    kSuggested,     // with the later dependency that this replica has suggested, likewise
    kAccepted,      // on the slow path, or by a takeover
    kCommitted,
  };

  Kind kind = Kind::kNone;
  bool no_op = false;
  Ballot promised = 0;        // lower ballots are refused
  Ballot ballot = 0;          // at which it was recorded
  EntryIndex initial = 0;     // the dependency with which it was proposed
  EntryIndex dependency = 0;  // as recorded; 0 for a no-op
  // The other lane's pilot, as the proposer knew it. A commit on the fast path without its vote is
  // on the proposer's disk before anybody hears of it.
  std::int32_t witness = 0;
  // The smallest dependency with which the entry was ever proposed, as far as this replica knows:
  // entries of the other lane behind it are refused if they do not depend on this one. A promise to
  // a taker makes it 0: the taker may know of a proposal that this replica has missed.
  EntryIndex least = 0;

  // Whether the replica knows that there is this entry.
  bool is_known() const { return IsTakeover(promised) || kind != Kind::kNone; }
  friend auto operator<=>(const Record&, const Record&) = default;
  DEPFAST_FIELDS(kind, no_op, promised, ballot, initial, dependency, witness, least)
};

// A replica's records of a lane. It has thrown away those up to `base`, which have run. They come
// before all entries that it keeps, of both lanes: where two lanes are cut, no entry before the cut
// depends on one behind it.
struct Records {
  EntryIndex base = 0;
  std::span<const Record> entries;  // entries[k - base - 1] is of entry k
  EntryIndex latest_gone = 0;       // the latest entry up to base that is no no-op

  EntryIndex last() const { return base + entries.size(); }
  // Requires: base < k <= last().
  const Record& At(EntryIndex k) const { return entries[k - base - 1]; }
};

// The decided value of an entry: its commands with that dependency, or nothing at all.
struct Value {
  bool no_op = false;
  EntryIndex dependency = 0;
  friend bool operator==(const Value&, const Value&) = default;
};

// An entry of the other lane that may come before the one that is taken over: it is, or may yet be,
// decided to depend on something before that one.
struct Rival {
  enum class Stage : std::uint8_t {
    kPromised,  // it may, and its view's proposer is not known to have refused the other one
    kProposed,
    kAccepted,
    kCommitted,
  };

  EntryIndex entry = 0;
  View view = 0;  // in which it was proposed, unless it is only promised
  Stage stage = Stage::kPromised;
  friend auto operator<=>(const Rival&, const Rival&) = default;
  DEPFAST_FIELDS(entry, view, stage)
};

}  // namespace depfast::copilot
