// The messages of the Raft lab. Given, not submitted: tests read these frames.
//
// Raft: Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm", ATC 2014,
// figure 2. Indexes start at 1; index 0 with term 0 is the empty log's.
//
// Tests also send messages on behalf of a replica: `candidate` and `leader` say whose a message is,
// not the connection that it comes from. A reply leaves when its term is on disk, whatever the
// reply says.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "depfast/carried_entries.h"
#include "depfast/host/frame.h"
#include "depfast/time.h"
#include "submit.h"

namespace depfast::raft {

// Timing that tests rely on. A leader sends to each follower at least every kHeartbeatInterval. A
// follower that hears nothing for its election timeout campaigns. The timeout is drawn anew for
// each wait, from the whole of [kElectionTimeoutMin, kElectionTimeoutMax]. It begins at a message
// of the term's leader, a granted vote, the replica's own campaign, its start, and the end of its
// leadership. Nothing else begins it again: no message of an old term, no pre-vote, no denied vote.
inline constexpr Duration kHeartbeatInterval = 50ms;
inline constexpr Duration kElectionTimeoutMin = 300ms;
inline constexpr Duration kElectionTimeoutMax = 600ms;

// A replica takes a snapshot before its log holds much more than kCompactAboveBytes
// (RaftLog::bytes). It keeps about kRetainedBytes of applied entries for followers that are a
// little behind: such a follower gets entries, not a snapshot.
inline constexpr std::size_t kCompactAboveBytes = std::size_t{4} << 20;
inline constexpr std::size_t kRetainedBytes = std::size_t{1} << 20;
// kCompactAboveBytes is enough. But the bound may grow with the state, as LogCabin's does
// (logcabin.github.io, snapshotRatio and snapshotMinLogSize): a longer log makes snapshots rarer.
// From kLargeStateBytes on, the bound is higher by kLongLogBytes, or by kLogPerSnapshot times the
// state if that is more. The moment is drawn from the second half of the bound. So snapshots take
// at most half of the bytes that a replica writes to its disk.
inline constexpr std::size_t kLogPerSnapshot = 4;
inline constexpr std::size_t kLargeStateBytes = std::size_t{1} << 20;
inline constexpr std::size_t kLongLogBytes = std::size_t{32} << 20;
// `snapshot_bytes`: of the state in the latest snapshot; 0 without one.
inline constexpr std::size_t CompactAboveBytes(std::size_t snapshot_bytes) {
  const std::size_t least = snapshot_bytes < kLargeStateBytes ? 0 : kLongLogBytes;
  return kCompactAboveBytes + std::max(least, kLogPerSnapshot * snapshot_bytes);
}
// A snapshot is sent in chunks of at most this size.
inline constexpr std::size_t kSnapshotChunkBytes = std::size_t{64} << 10;

struct LogEntry {
  std::uint64_t term = 0;
  std::string command;  // empty: a no-op, with which a leader opens its term

  friend bool operator==(const LogEntry&, const LogEntry&) = default;
  DEPFAST_FIELDS(term, command)
};

struct RequestVoteReply {
  std::uint64_t term = 0;  // the replier's own, also in the answer to a pre-vote
  bool granted = false;
  DEPFAST_FIELDS(term, granted)
};

struct RequestVote {
  using Reply = RequestVoteReply;
  static constexpr MethodId kMethod = 1;
  static constexpr const char* kName = "RequestVote";

  std::uint64_t term = 0;
  PeerId candidate = kNobody;
  std::uint64_t last_log_index = 0;
  std::uint64_t last_log_term = 0;
  // Pre-vote (Ongaro's thesis, section 9.6): asks whether a vote would be granted in `term`, the
  // candidate's next; changes nothing. A leader refuses, whenever it is asked. A replica that has
  // heard of its term's leader within kElectionTimeoutMin also refuses.
  bool pre_vote = false;
  DEPFAST_FIELDS(term, candidate, last_log_index, last_log_term, pre_vote)
};

struct AppendEntriesReply {
  std::uint64_t term = 0;
  bool success = false;
  // On success: the follower's log equals the leader's up to here, and is durable up to here.
  std::uint64_t match_index = 0;
  // On failure: the first index at which the logs may differ; the leader tries again from there.
  std::uint64_t conflict_index = 0;
  DEPFAST_FIELDS(term, success, match_index, conflict_index)
};

struct AppendEntries {
  using Reply = AppendEntriesReply;
  static constexpr MethodId kMethod = 2;
  static constexpr const char* kName = "AppendEntries";

  std::uint64_t term = 0;
  PeerId leader = kNobody;
  std::uint64_t prev_log_index = 0;
  std::uint64_t prev_log_term = 0;
  std::vector<LogEntry> entries;  // empty: a heartbeat
  std::uint64_t leader_commit = 0;

  // For runtime verification (depfast/carried_entries.h).
  CarriedEntries Carried() const {
    return {term, prev_log_index + 1, prev_log_index + 1 + entries.size()};
  }
  DEPFAST_FIELDS(term, leader, prev_log_index, prev_log_term, entries, leader_commit)
};

struct InstallSnapshotReply {
  std::uint64_t term = 0;
  // The number of this snapshot's bytes that the follower has, in order: the next chunk begins
  // there. Bytes of another snapshot do not count. It is the size of the snapshot once the follower
  // has restored it durably, or no longer needs it.
  std::uint64_t received = 0;
  DEPFAST_FIELDS(term, received)
};

// A chunk of the leader's snapshot (extended Raft paper, figure 13), for a follower that needs
// entries which the leader no longer has. A leader that takes a newer snapshot during a transfer
// goes on with the older one. A follower never makes one snapshot of the chunks of two.
struct InstallSnapshot {
  using Reply = InstallSnapshotReply;
  static constexpr MethodId kMethod = 4;
  static constexpr const char* kName = "InstallSnapshot";

  std::uint64_t term = 0;
  PeerId leader = kNobody;
  std::uint64_t last_index = 0;  // the snapshot is the state after this entry
  std::uint64_t last_term = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t offset = 0;  // of `data` in the snapshot
  std::string data;
  DEPFAST_FIELDS(term, leader, last_index, last_term, total_bytes, offset, data)
};

}  // namespace depfast::raft
