// The decisions of Copilot (Ngo, Sen, Lloyd, OSDI 2020): ordering, takeover, execution.
//
// Pure functions: they know no time, no network and no disk. The replica calls them, and so does
// the exploration that proves them for small clusters.
//
// There are two logs, one of each pilot. An entry of one log has a dependency: an entry of the
// other log that runs before it, with all entries before that one. The entries of a log count from
// 1; as a dependency, 0 means none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace depfast::copilot {

using EntryIndex = std::uint64_t;

// 0 is the original proposer's. A replica takes an entry over at a higher one, which is its alone.
using Ballot = std::uint64_t;

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

// What a replica has recorded of an entry.
struct Record {
  enum class Kind : std::uint8_t {
    kNone,
    kFastAccepted,  // with the initial dependency, at ballot 0
    kSuggested,     // with the later dependency that this replica has suggested, at ballot 0
    kAccepted,      // on the slow path, or by a takeover
    kCommitted,
  };

  Kind kind = Kind::kNone;
  bool no_op = false;
  Ballot promised = 0;        // lower ballots are refused
  Ballot ballot = 0;          // of the latest Accept
  EntryIndex initial = 0;     // the dependency with which it was proposed
  EntryIndex dependency = 0;  // as recorded; 0 for a no-op

  // Whether the replica knows that there is this entry.
  bool is_known() const { return promised > 0 || kind != Kind::kNone; }

  friend bool operator==(const Record&, const Record&) = default;
};

// What is decided for an entry: its commands with that dependency, or nothing at all.
struct Value {
  bool no_op = false;
  EntryIndex dependency = 0;

  friend bool operator==(const Value&, const Value&) = default;
};

// ---- ordering ----

// FastAccept(entry, dependency) reaches a replica. Returns the entry of the other log that the
// replica suggests as the dependency instead; nothing if the dependency is compatible with what it
// has recorded.
//
// `other[k - 1]`: its record of entry k of the other log. Two entries are in order when one of them
// depends on the other. So the dependency is refused if a later entry is recorded that depends on
// something before `entry`. A no-op orders nothing. An entry that is taken over may yet be decided
// to depend on nothing.
std::optional<EntryIndex> Suggestion(EntryIndex entry, EntryIndex dependency,
                                     std::span<const Record> other);

// The final dependency on the slow path: the majority-th smallest of those that the replicas have
// suggested, the initial one where it was compatible. The proposer's own is among them.
// Requires: a majority of suggestions.
EntryIndex SlowDependency(std::vector<EntryIndex> suggested, const Quorums& quorums);

// ---- takeover ----

// The latest entry of the other log that may be decided to depend on something before `entry`, by
// what this replica has recorded of it; 0: there is none.
EntryIndex LatestConflict(EntryIndex entry, std::span<const Record> other);

// What a replica knows of an entry of the other log that may come before the one that is taken over.
struct Rival {
  enum class Stage : std::uint8_t {
    kPromised,  // only that somebody takes it over
    kProposed,
    kSettled,  // accepted or committed
  };

  EntryIndex entry = 0;
  Stage stage = Stage::kPromised;
  bool may_precede = false;  // it may be decided to depend on something before the other entry

  friend bool operator==(const Rival&, const Rival&) = default;
};

// The rivals of `entry` behind its initial dependency: those that may precede it, and the settled
// ones. In order.
std::vector<Rival> RivalsOf(EntryIndex entry, EntryIndex initial, std::span<const Record> other);

enum class Role : std::uint8_t { kProposer, kOtherPilot, kFollower };

// A replica's answer to Prepare.
struct Prepared {
  Role role = Role::kFollower;  // of the answering replica, for this entry
  Record record;                // before this promise
  std::vector<Rival> rivals;    // RivalsOf
};

// This entry of the other log must be decided first, and the taker must know it.
struct Undecided {
  EntryIndex entry = 0;
  friend bool operator==(const Undecided&, const Undecided&) = default;
};

using Choice = std::variant<Value, Undecided>;

// What the taker of `entry` proposes, by the answers of a majority or more, its own among them.
// `other[k - 1]`: its own record of entry k of the other log, as of now.
//
// An entry that may have been committed on the fast path keeps its value, any other becomes a
// no-op. If both pilots are dead, nothing has to be decided first: three, five or seven replicas
// never wait for each other's takeovers.
Choice ChooseAfterPrepare(EntryIndex entry, const std::vector<Prepared>& answers,
                          std::span<const Record> other, const Quorums& quorums);

// ---- execution ----

// A log in the order of its entries, as far as a replica knows the decisions without a gap.
using Decided = std::span<const Value>;

enum class Next : std::uint8_t { kNothing, kPilot, kCopilot };

// Which log's next entry runs: entry `pilot_ran` + 1 of the pilot's log, or entry `copilot_ran` + 1
// of the copilot's. Nothing if neither may run by what is known.
//
// An entry waits for its dependency. Where the next entries of both logs wait for each other, the
// pilot's runs first. The order is the same on every replica, whatever each knows at a time,
// because of any two entries one depends on the other.
Next NextToRun(Decided pilot, EntryIndex pilot_ran, Decided copilot, EntryIndex copilot_ran);

}  // namespace depfast::copilot
