// CopilotModel: Copilot's messages between a few replicas, as a state machine that decides by pure
// functions (copilot_rules.h), the same that a replica calls. All its runs are explored.
//
// Messages are never removed: each may reach each replica once, late, or never. So losses, delays
// and reorderings are all there. A replica that never hears anything is a crashed one. Replica 0 is
// the pilot, replica 1 the copilot.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "copilot_rules.h"
#include "state_search.h"

namespace depfast::copilot {

inline constexpr int kReplicasMax = 5;
inline constexpr int kEntriesMax = 4;  // of both logs
inline constexpr int kTakeoversMax = 2;

// An entry: of the log of a pilot (0 or 1), from 1 on.
struct EntryName {
  int log;
  EntryIndex index;
  friend bool operator==(const EntryName&, const EntryName&) = default;
};

// A replica takes an entry over, once, at a ballot of its own. `in_new_view`: in that of the lane's
// successor, as soon as the taker knows it.
struct TakeoverPlan {
  int taker;
  EntryName entry;
  bool in_new_view = false;
};

// A follower asks for a pilot's lane. It has the lane once a majority has granted that, and
// proposes behind all entries that any of them knew.
struct Succession {
  int log;
  int successor;
};

// The explored runs. `entries`: of each log in order. `pilot_crashes`: the pilot is dead as soon as
// its messages are sent, which leaves fewer runs.
enum class Crash : std::uint8_t { kNobody, kPilot, kBothPilots };

struct Scope {
  int replicas = 3;
  std::vector<EntryName> entries;
  std::vector<TakeoverPlan> takeovers = {};
  Crash crash = Crash::kNobody;
  // The steps that every run begins with, in the words of Explored::steps. Nobody has crashed yet.
  std::vector<std::string> begin = {};
  // The pilot may start again, once. It has forgotten what it has learned or committed since its
  // last write, and proposes nothing any more.
  bool pilot_restarts = false;
  // Not together with pilot_restarts.
  std::optional<Succession> succession = {};
};

// The rules under exploration: those of copilot_rules.h, or wrong ones. Pure functions.
struct Rules {
  std::function<decltype(Suggestion)> suggestion;
  std::function<decltype(SlowDependency)> slow_dependency;
  std::function<decltype(RivalsOf)> rivals;
  std::function<decltype(ChooseAfterPrepare)> choose;
  int fast_quorum = 0;  // 0: that of Quorums
  // Record::least of an entry that is proposed again: by the one before, and the new dependency.
  std::function<EntryIndex(EntryIndex, EntryIndex)> least = [](EntryIndex before, EntryIndex now) {
    return before < now ? before : now;
  };
};

// A byte for each fact, so that equal states have equal bytes.
struct ModelState {
  // A ballot counts from its lane's first one. Those of the successor's view begin here.
  static constexpr std::uint8_t kNewView = 4;
  static_assert(kTakeoversMax < kNewView);
  // The bytes of an answer to Prepare: whether there is one, then its record. Behind them the
  // rivals, one of each entry.
  static constexpr int kSaid = 9;

  struct Cell {  // a replica's part of an entry
    std::uint8_t promised = 0;
    std::uint8_t kind = 0, no_op = 0, ballot = 0, initial = 0, dependency = 0;  // its Record
    std::uint8_t witness = 0;           // 1: the successor, 0: the first pilot of the other lane
    std::uint8_t least = 0;             // of its Record
    std::uint8_t origin = 0;            // 1: its commands are the successor's
    std::array<std::uint8_t, 4> was{};  // kind, no_op, ballot, dependency before the commit
    std::uint8_t keeps = 0;             // the commit is on disk, too
    // By proposal, the successor's second.
    std::array<std::uint8_t, 2> answer{};   // to FastAccept: 0 none, else 1 + what it suggests
    std::array<std::uint8_t, 2> fast_ok{};  // whether that was a FastAcceptOk
    std::uint8_t accepted = 0;  // a bit for each ballot at which it has answered AcceptOk
    std::array<std::array<std::uint8_t, kSaid + kEntriesMax>, kTakeoversMax> prepared{};
    auto operator<=>(const Cell&) const = default;
  };
  struct Replica {
    std::array<Cell, kEntriesMax> cells{};
    std::uint8_t knows_view = 0;  // the successor's
    std::uint8_t granted = 0;     // the lane: 1 + the latest entry that it knew
    auto operator<=>(const Replica&) const = default;
  };
  struct Proposal {
    std::uint8_t stage = 0;  // Stage
    std::uint8_t initial = 0, witness = 0, origin = 0;
    std::uint8_t no_op = 0, dependency = 0;  // of the Accept
    auto operator<=>(const Proposal&) const = default;
  };
  struct Fact {  // what was ever committed of an entry
    std::uint8_t committed = 0, no_op = 0, dependency = 0, origin = 0, differs = 0;
    auto operator<=>(const Fact&) const = default;
  };
  std::array<Replica, kReplicasMax> replicas{};
  // By view, the successor's second.
  std::array<std::array<Proposal, kEntriesMax>, 2> proposals{};
  std::array<Proposal, kTakeoversMax> takeovers{};
  std::array<Fact, kEntriesMax> facts{};
  std::uint8_t restarted = 0;
  std::uint8_t elected = 0;  // the successor: 1 + the latest entry of earlier views
  auto operator<=>(const ModelState&) const = default;
};

// The number of times that exploration has met each situation that it must not miss.
struct Coverage {
  std::uint64_t states = 0;
  std::uint64_t fast_commits = 0;
  std::uint64_t slow_commits = 0;
  std::uint64_t recovered = 0;     // takeovers that kept the value
  std::uint64_t given_up = 0;      // takeovers that made a no-op
  std::uint64_t undecided = 0;     // takeovers that had to wait for the other log
  std::uint64_t by_other_log = 0;  // kept with fewer fast-accepts than are sure
  std::uint64_t proposed_again =
      0;  // entries that the successor proposed, and its predecessor, too
};

using Explored = depfast::Explored<Coverage>;

Explored Explore(const Scope& scope, const Rules& rules, std::size_t states_max);

}  // namespace depfast::copilot
