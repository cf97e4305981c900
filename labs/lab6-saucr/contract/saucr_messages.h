// The messages of SAUCR (document 003). Given, not submitted: tests read these frames.
//
// Raft's messages (lab 2), with maps, lives and modes, and SAUCR's own; saucr_given_messages.h has
// those that the given half sends. A map, and lives, have one element for each replica: a message
// with another number is refused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "depfast/carried_entries.h"
#include "depfast/host/frame.h"
#include "depfast/time.h"
#include "raft_log.h"
#include "raft_messages.h"
#include "saucr_types.h"

namespace depfast::saucr {

using raft::LogEntry;
using raft::RaftLog;

inline constexpr Duration kBeat = 20ms;  // between two beats of a leader (R5)
inline constexpr int kSilentBeats = 2;   // one of them may be lost
// Then a follower flushes (R9). At longer beats (SaucrOptions) it is kSilentBeats of them.
inline constexpr Duration kSilence = kSilentBeats * kBeat;
inline constexpr Duration kBackgroundFlush = 100ms;  // between two of them (R10)
// A recovering replica, and a leader without data, ask again in this interval (R21, R29).
inline constexpr Duration kLleRetry = 50ms;

struct AppendEntriesReply {
  std::uint64_t term = 0;
  bool success = false;
  // On success: the follower acknowledges the leader's log up to here (R1, R2). A beat's answer
  // acknowledges nothing: 0.
  EntryIndex match = 0;
  EntryIndex durable = 0;   // of that, what is on its disk
  EntryIndex conflict = 0;  // on failure: the first index at which the logs may differ
  Life life = 0;            // the follower's own
  Lives lives;              // as it knows them
  DEPFAST_FIELDS(term, success, match, durable, conflict, life, lives)
};

// A round, a catch-up request, a special request (no beat, and no entries: R6), or a beat.
struct AppendEntries {
  using Reply = AppendEntriesReply;
  static constexpr MethodId kMethod = 2;
  static constexpr const char* kName = "AppendEntries";

  std::uint64_t term = 0;
  PeerId leader = kNobody;
  EntryId prev;  // the entry before `entries`; of a beat {0, 0}: it matches every log
  std::vector<LogEntry> entries;
  EntryIndex leader_commit = 0;
  Mode mode = Mode::kSlow;  // the leader's (R4)
  bool beat = false;
  LleMap map;
  Lives lives;

  // The last entry that it shows of the leader's log; 0 for a beat, which shows none.
  EntryIndex Last() const { return beat ? 0 : prev.index + entries.size(); }

  // For runtime verification (depfast/carried_entries.h).
  CarriedEntries Carried() const { return {term, prev.index + 1, prev.index + 1 + entries.size()}; }
  DEPFAST_FIELDS(term, leader, prev, entries, leader_commit, mode, beat, map, lives)
};

struct LleReply {
  bool recovered = false;  // the replier is not recovering: without that the rest is empty (R20)
  EntryId last;            // of its log (R22); no decision needs it: readers of a trace do
  LleMap map;
  Lives lives;
  DEPFAST_FIELDS(recovered, last, map, lives)
};

// A recovering replica asks what it may have logged (R21).
struct LleQuery {
  using Reply = LleReply;
  static constexpr MethodId kMethod = 30;
  static constexpr const char* kName = "LleQuery";

  // The asker's own, which is on its disk (R17). `lives` has it, too: no decision needs it. A trace
  // shows by it which life asks, and tests compare it with both disks.
  Life life = 0;
  Lives lives;
  DEPFAST_FIELDS(life, lives)
};

}  // namespace depfast::saucr
