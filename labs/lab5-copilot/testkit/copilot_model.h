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
#include <string>
#include <vector>

#include "copilot_rules.h"

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

// A replica takes an entry over, once, at a ballot of its own.
struct TakeoverPlan {
  int taker;
  EntryName entry;
};

// What is explored. `entries`: of each log in order. `pilot_crashes`: the pilot is dead as soon as
// its messages are sent, which leaves fewer runs.
enum class Crash : std::uint8_t { kNobody, kPilot, kBothPilots };

struct Scope {
  int replicas = 3;
  std::vector<EntryName> entries;
  std::vector<TakeoverPlan> takeovers;
  Crash crash = Crash::kNobody;
  // The steps that every run begins with, in the words of Explored::steps. Nobody has crashed yet.
  std::vector<std::string> begin = {};
  // The pilot may start again, once. It has forgotten what it has learned or committed since its
  // last write, and proposes nothing any more.
  bool pilot_restarts = false;
};

// The rules under exploration: those of copilot_rules.h, or wrong ones. Pure functions.
struct Rules {
  std::function<decltype(Suggestion)> suggestion;
  std::function<decltype(SlowDependency)> slow_dependency;
  std::function<decltype(RivalsOf)> rivals;
  std::function<decltype(ChooseAfterPrepare)> choose;
  int fast_quorum = 0;  // 0: that of Quorums
};

// A byte for each fact, so that equal states have equal bytes.
struct ModelState {
  struct Cell {  // a replica's part of an entry
    std::uint8_t promised = 0;
    std::uint8_t kind = 0, no_op = 0, ballot = 0, initial = 0, dependency = 0;  // its Record
    std::array<std::uint8_t, 4> was{};  // kind, no_op, ballot, dependency before the commit
    std::uint8_t keeps = 0;             // the commit is on disk, too
    std::uint8_t answer = 0;            // to FastAccept: 0 none, else 1 + the suggested dependency
    std::uint8_t fast_ok = 0;           // whether that was a FastAcceptOk
    std::uint8_t accepted = 0;          // a bit for each ballot at which it has answered AcceptOk
    // An answer to Prepare. [0]: whether there is one. From [7] on: rivals, one of each entry.
    std::array<std::array<std::uint8_t, 7 + kEntriesMax>, kTakeoversMax> prepared{};
    auto operator<=>(const Cell&) const = default;
  };
  struct Proposal {
    std::uint8_t stage = 0;  // Stage
    std::uint8_t initial = 0;
    std::uint8_t no_op = 0, dependency = 0;  // of the Accept
    auto operator<=>(const Proposal&) const = default;
  };
  struct Fact {  // what was ever committed of an entry
    std::uint8_t committed = 0, no_op = 0, dependency = 0, differs = 0;
    auto operator<=>(const Fact&) const = default;
  };
  std::array<std::array<Cell, kEntriesMax>, kReplicasMax> cells{};
  std::array<Proposal, kEntriesMax> proposals{};
  std::array<Proposal, kTakeoversMax> takeovers{};
  std::array<Fact, kEntriesMax> facts{};
  std::uint8_t restarted = 0;
  auto operator<=>(const ModelState&) const = default;
};

// How often exploration has met what must not be missed.
struct Coverage {
  std::uint64_t states = 0;
  std::uint64_t fast_commits = 0;
  std::uint64_t slow_commits = 0;
  std::uint64_t recovered = 0;     // takeovers that kept the value
  std::uint64_t given_up = 0;      // takeovers that made a no-op
  std::uint64_t undecided = 0;     // takeovers that had to wait for the other log
  std::uint64_t by_other_log = 0;  // kept with fewer fast-accepts than are sure
};

// `violated`: the first broken invariant in words; empty if all states are good. `steps`: the
// shortest way to it.
struct Explored {
  Coverage coverage;
  std::string violated;
  std::vector<std::string> steps;
  bool complete = false;  // all states, not only `states_max`
};

Explored Explore(const Scope& scope, const Rules& rules, std::size_t states_max);

}  // namespace depfast::copilot
