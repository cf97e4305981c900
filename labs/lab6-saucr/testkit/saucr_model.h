// SaucrModel: SAUCR between a few replicas, as a state machine that decides by pure functions
// (saucr_rules.h), the same that a replica calls. All its runs are explored.
//
// Messages are never removed: each may reach each replica early, late, again, or never. So losses,
// delays and reorderings are all there. A replica that does nothing counts as one that is down: a
// crash and the start after it are one step. Terms have one candidate each.
//
// A command is committed as soon as its leader can know it by any of the acknowledgements that were
// sent. The mode decides nothing: each replica keeps each entry in its memory, or on its disk.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "saucr_rules.h"
#include "state_search.h"

namespace depfast::saucr {

inline constexpr std::size_t kReplicasMax = 5;
inline constexpr std::size_t kEntriesMax = 3;
inline constexpr std::size_t kTermsMax = 4;
inline constexpr std::size_t kLivesMax = 4;

// The explored runs.
struct Scope {
  int replicas = 3;
  int terms = 2;
  int entries = 1;  // of the longest log
  int crashes = 2;
  bool disks = false;       // replicas may flush, and acknowledge what is on their disks
  bool background = false;  // they may also flush in the background
  // The sets of followers that a round may name, a bit for each replica. Empty: all sets.
  std::vector<unsigned> names = {};
  // The steps that every run begins with, in the words of Explored::steps.
  std::vector<std::string> begin = {};
};

// The rules under exploration: those of saucr_rules.h, or wrong ones. Pure functions.
struct Rules {
  std::function<decltype(CommittedUpTo)> committed;
  std::function<decltype(IsOnDisk)> is_on_disk;
  std::function<decltype(FastSwitch)> fast_switch;
  std::function<decltype(LatestOnDisk)> latest_on_disk;
  std::function<decltype(MapOfRound)> map_of_round;
  std::function<decltype(Merged)> merged;
  std::function<decltype(RecoveredLle)> recovered_lle;
  std::function<decltype(GrantsVote)> grants_vote;
  std::function<decltype(ChooseData)> choose;
  std::function<decltype(NextMode)> next_mode = {};  // no exploration asks for it

  // The rest of a replica. Each is true by the rule that it names.
  bool marker_is_behind_entries = true;  // R12
  bool lives_are_durable = true;         // R17: where a replica answers a recovering one
  bool recovering_are_silent = true;     // R20: in queries
  bool maps_are_passed_on = true;        // R22
  bool recovered_lle_votes = true;       // R25; if not, the log alone
  bool log_votes = true;                 // R25; if not, a recovered LLE alone, if there is one
  bool leaders_wait_for_data = true;     // R29
  bool fetch_ends_terms = true;          // R29
};

// The rules that the caller is linked with. A sealed suite is linked with none.
inline Rules LinkedRules() {
  return {&CommittedUpTo, &IsOnDisk,     &FastSwitch, &LatestOnDisk, &MapOfRound,
          &Merged,        &RecoveredLle, &GrantsVote, &ChooseData};
}

// A byte for each fact, so that equal states have equal bytes.
struct ModelState {
  using Byte = std::uint8_t;
  using Id = Byte;  // see IdOf
  using Map = std::array<Id, kReplicasMax>;
  using Log = std::array<Byte, kEntriesMax>;  // the term of each entry; 0 behind the last

  enum Role : Byte { kFollower, kCandidate, kWantsData, kLeads };

  struct Replica {
    Byte term = 0;  // on disk, as soon as it is known
    Byte role = kFollower;
    Byte recovering = 0;
    Id recovered = 0;  // the recovered LLE
    Log log{};
    Log disk{};
    Id fast_switch = 0, latest_on_disk = 0;
    Map map{}, map_on_disk{};
    std::array<Byte, kReplicasMax> lives{}, lives_on_disk{};
    // By replica: 1 + what its map says of this one; 0: it has not answered.
    std::array<Byte, kReplicasMax> answers{};
    auto operator<=>(const Replica&) const = default;
  };
  struct LogTold {  // an answer to FetchLog
    Byte told = 0, is_whole = 0;
    Log log{};
    auto operator<=>(const LogTold&) const = default;
  };
  struct Term {
    Byte candidate = 0;  // 1 + the replica; 0: the term has not begun
    Byte votes = 0;      // a bit for each voter
    Id lle = 0;          // the candidate's
    Byte leads = 0;      // the candidate is elected, and has its data
    Byte began_at = 0;   // the first entry of the term
    Byte committed = 0;  // up to here
    Log log{};           // the leader's
    Map map_of_votes{};
    std::array<Byte, kEntriesMax> named{};
    std::array<Map, kEntriesMax> maps{};  // of each entry's round
    // Acknowledgements from memory, by replica, life and entry. 0: none; else a bit, and the lives
    // that the first one carried.
    std::array<std::array<std::array<std::uint16_t, kEntriesMax>, kLivesMax>, kReplicasMax>
        buffered{};
    std::array<Byte, kReplicasMax> durable{};
    std::array<LogTold, kReplicasMax> logs{};
    auto operator<=>(const Term&) const = default;
  };
  std::array<Replica, kReplicasMax> replicas{};
  Byte crashes = 0;
  std::array<Term, kTermsMax> terms{};
  auto operator<=>(const ModelState&) const = default;
};

// The number of times that exploration has met each situation that it must not miss.
struct Coverage {
  std::uint64_t states = 0;
  std::uint64_t fast_commits = 0;
  std::uint64_t slow_commits = 0;
  std::uint64_t recoveries = 0;  // LLEs that were recovered
  std::uint64_t data_taken = 0;  // logs that new leaders took
  std::uint64_t cuts = 0;        // recovered LLEs that new leaders gave up
};

using Explored = depfast::Explored<Coverage>;

// Throws std::invalid_argument if the scope is larger than the constants above, or begins with a
// step that there is not.
Explored Explore(const Scope& scope, const Rules& rules, std::size_t states_max);

}  // namespace depfast::saucr
