#include "replica_state.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "saucr_given_messages.h"

namespace depfast::saucr {

ReplicaState::ReplicaState(Runtime& of, const SaucrOptions& options)
    : runtime(of),
      quorums(of.replicas()),
      beat(options.beat),
      election_timeout_min(std::max(kElectionTimeoutMin, kElectionBeats * options.beat)),
      election_timeout_max(2 * election_timeout_min),
      journal(of) {}

void ReplicaState::Recover(WalState wal) {
  const auto replicas = static_cast<std::size_t>(runtime.replicas());
  log = std::move(wal.log);
  map = wal.map.empty() ? LleMap(replicas) : std::move(wal.map);
  lives = wal.lives.empty() ? Lives(replicas) : std::move(wal.lives);
}

EntryIndex ReplicaState::EndOfChunk(EntryIndex first, std::size_t bytes) const {
  EntryIndex end = first;
  for (std::size_t size = 0; end <= last_index() && size < bytes; ++end) {
    size += RaftLog::SizeOf(log.At(end));
  }
  return end;
}

EntryIndex ReplicaState::ConflictWith(EntryId prev) const {
  if (prev.index > last_index()) return last_index() + 1;
  if (prev.index < log.base_index() || IdAt(prev.index) == prev) return 0;
  // Skip the whole conflicting term at once (Raft, section 5.3, fast backtracking).
  const std::uint64_t term = log.TermAt(prev.index);
  EntryIndex conflict = prev.index;
  while (conflict > commit_index + 1 && log.TermAt(conflict - 1) == term) --conflict;
  return conflict;
}

std::vector<EntryId> ReplicaState::AppendFrom(EntryIndex first,
                                              const std::vector<LogEntry>& entries) {
  std::vector<EntryId> appended;
  for (EntryIndex index = first; const LogEntry& entry : entries) {
    const EntryId id{entry.term, index++};
    if (id.index <= log.base_index()) continue;
    if (id.index <= last_index() && IdAt(id.index) == id) continue;  // a duplicate, or a retry
    if (id.index <= commit_index) throw std::logic_error("a committed entry would be replaced");
    log.TruncateFrom(id.index);
    log.Append(entry);
    appended.push_back(id);
  }
  if (!appended.empty()) journal.WriteEntries(log, appended.front().index);
  NoteGrowth();
  return appended;
}

}  // namespace depfast::saucr
