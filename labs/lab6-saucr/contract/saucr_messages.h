// The messages of SAUCR (document 003). Given, not submitted: tests read these frames.
//
// Raft's messages (lab 2), with maps, lives and modes, and two of SAUCR's own; saucr_votes.h has
// those of elections. A reply leaves when the term that it names is on the disk. A map, and lives,
// have one element for each replica: a message with another number is refused.
//
// Tests also send messages on behalf of a replica: `candidate` and `leader` say whose a message is,
// not the connection that it comes from.
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

using raft::InstallSnapshot;
using raft::InstallSnapshotReply;
using raft::LogEntry;
using raft::RaftLog;

// A leader sends a beat in this interval (R5).
inline constexpr Duration kBeat = 20ms;
// The time without a leader's message in which one beat may be lost. After it a follower flushes
// (R9).
inline constexpr int kSilentBeats = 2;
inline constexpr Duration kSilence = kSilentBeats * kBeat;
// Entries that are on no disk are written to it in this interval, and nobody waits (R10).
inline constexpr Duration kBackgroundFlush = 100ms;
// A recovering replica, and a leader without data, ask again in this interval (R21, R29).
inline constexpr Duration kLleRetry = 50ms;

// The most bytes of entries, or of a snapshot, in a catch-up request or in a reply.
inline constexpr std::size_t kChunkBytes = std::size_t{64} << 10;

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
  EntryId last;            // of its log
  LleMap map;
  Lives lives;
  DEPFAST_FIELDS(recovered, last, map, lives)
};

// A recovering replica asks what it may have logged (R21).
struct LleQuery {
  using Reply = LleReply;
  static constexpr MethodId kMethod = 30;
  static constexpr const char* kName = "LleQuery";

  Life life = 0;  // the asker's, which is on its disk (R17)
  Lives lives;
  DEPFAST_FIELDS(life, lives)
};

struct FetchLogReply {
  std::uint64_t term = 0;  // if it is above the request's, the rest says nothing
  EntryId last;            // of the replier's log
  bool is_whole = false;   // its log has reached its recovered LLE, if it has one
  // With data wanted: the entry before `entries`, which begin at `first`. If the replier no longer
  // has entry `first`: the last entry of its snapshot, of which `state` is a part.
  EntryId base;
  std::vector<LogEntry> entries;
  std::uint64_t state_bytes = 0;  // of the whole snapshot
  std::string state;              // from the request's offset on
  DEPFAST_FIELDS(term, last, is_whole, base, entries, state_bytes, state)
};

// A new leader that is not whole looks for its data (R29). The receiver adopts the term, as from a
// leader that has entries to send.
struct FetchLog {
  using Reply = FetchLogReply;
  static constexpr MethodId kMethod = 31;
  static constexpr const char* kName = "FetchLog";

  std::uint64_t term = 0;
  PeerId leader = kNobody;
  EntryIndex first = 0;      // entries from here on are wanted; 0: none, only where the log ends
  std::uint64_t offset = 0;  // of the snapshot's state that is wanted
  DEPFAST_FIELDS(term, leader, first, offset)
};

}  // namespace depfast::saucr
