// The decisions of Copilot (Ngo, Sen, Lloyd, OSDI 2020): ordering, takeover, execution.
//
// Pure functions: they know no time, no network and no disk. The replica calls them, and so does
// the exploration that proves them for small clusters.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "copilot_types.h"
#include "depfast/fields.h"

namespace depfast::copilot {

// ---- ordering ----

// FastAccept(entry, dependency) reaches a replica. Returns the entry of the other lane that the
// replica suggests as the dependency instead; nothing if the dependency is compatible with what it
// has recorded.
//
// `other`: its records of the other lane. Two entries are in order when one of them
// depends on the other. So the dependency is refused if a later entry is recorded that depends on
// something before `entry`. The dependency counts with which it was proposed, for ever: also if it
// is committed with a later one, or as a no-op. So a taker may count on a refusal. An entry that is
// promised to a taker, and unknown otherwise, may yet be decided to depend on nothing. Returns the
// latest such entry. If none is kept, that is `other.base`: what is thrown away comes before
// `entry`.
std::optional<EntryIndex> Suggestion(EntryIndex entry, EntryIndex dependency, const Records& other);

// The final dependency on the slow path: the majority-th smallest of those that the replicas have
// suggested, the initial one where it was compatible. The proposer's own is among them.
// Requires: a majority of suggestions.
EntryIndex SlowDependency(std::vector<EntryIndex> suggested, const Quorums& quorums);

// ---- takeover ----

// The rivals of `entry` behind its initial dependency, in order.
std::vector<Rival> RivalsOf(EntryIndex entry, EntryIndex initial, const Records& other);

// A replica's promise to a taker. A refusal is no answer: leave it out.
struct Prepared {
  int replica = 0;
  Record record;              // before this promise
  std::vector<Rival> rivals;  // RivalsOf
  // It proposed the entry, and has not started again since: it knows whether it committed the
  // entry, and after this promise it never will.
  bool decides = false;
  DEPFAST_FIELDS(replica, record, rivals, decides)
};

// This entry of the other lane must be decided first, and the taker must know it.
struct Undecided {
  EntryIndex entry = 0;
  friend bool operator==(const Undecided&, const Undecided&) = default;
};

using Choice = std::variant<Value, Undecided>;

// Returns what the taker of `entry` proposes, by the answers of a majority or more.
// `other`: the taker's present records of the other lane.
//
// An entry that may have been committed on the fast path keeps its value, any other becomes a
// no-op. If both pilots are dead, takers of three, five or seven replicas never wait for each
// other.
Choice ChooseAfterPrepare(EntryIndex entry, const std::vector<Prepared>& answers,
                          const Records& other, const Quorums& quorums);

// ---- execution ----

enum class Next : std::uint8_t { kNothing, kPilot, kCopilot };

// Which lane's next entry runs. Nothing if neither may run by what is known.
//
// `pilot`: what is decided for the next entry of the pilot's lane, if that is known. `pilot_ran`:
// the entries of that lane that need not be waited for. The copilot's likewise. An entry waits for
// its dependency. Where the next entries of both lanes wait for each other, the pilot's runs first.
// The order is the same on every replica, whatever each knows at a time, because of any two entries
// one depends on the other.
Next NextToRun(const std::optional<Value>& pilot, EntryIndex pilot_ran,
               const std::optional<Value>& copilot, EntryIndex copilot_ran);

}  // namespace depfast::copilot
