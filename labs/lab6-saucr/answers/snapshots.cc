#include "snapshots.h"

#include <stdexcept>
#include <utility>

namespace depfast::saucr {

void Snapshots::Recover(std::optional<Snapshot> disk) {
  if (disk) {
    snapshot_ = *std::move(disk);
    Restore();
  }
  RaftLog& log = state_.log;
  if (log.base_index() > snapshot_.last_index) throw std::runtime_error("the log lacks entries");
  // A crash came after another replica's snapshot was installed, and before the log that continues
  // it.
  if (!state_.Has(last())) {
    log.Reset(snapshot_.last_index, snapshot_.last_term);
    state_.journal.ForgetFrom(1);
    state_.journal.Replace(snapshot_, log);
    state_.journal.Sync()->Wait();
  }
  ChooseWhenToCompact();
}

void Snapshots::Restore() {
  machine_.Restore(snapshot_.state);
  state_.commit_index = state_.agreed = snapshot_.last_index;
  ObserveRestore(state_.runtime, snapshot_.last_index, snapshot_.last_term);
  ObserveCommit(state_.runtime, state_.commit_index);
}

// ---- those of others ----

InstallSnapshotReply Snapshots::OnInstallSnapshot(const InstallSnapshot& request) {
  std::uint64_t received = 0;
  if (request.term >= elections_.term()) {
    elections_.HearLeader(request.term, request.leader);
    received = TakePart({request.last_term, request.last_index}, request.total_bytes,
                        request.offset, request.data);
    state_.journal.Sync()->Wait();
  }
  elections_.AwaitTerm();
  return {elections_.term(), elections_.term() == request.term ? received : 0};
}

std::uint64_t Snapshots::TakePart(EntryId last, std::uint64_t total_bytes, std::uint64_t offset,
                                  const std::string& data) {
  if (last.index <= state_.commit_index) return total_bytes;
  if (EntryId{incoming_.last_term, incoming_.last_index} != last) {
    incoming_ = {last.index, last.term, ""};
  }
  if (offset == incoming_.state.size()) incoming_.state += data;
  const std::uint64_t received = incoming_.state.size();
  if (received == total_bytes) InstallIncoming();
  return received;
}

void Snapshots::InstallIncoming() {
  snapshot_ = std::exchange(incoming_, {});
  // The entries behind the snapshot stay only if our log agrees with the snapshot.
  if (state_.Has(last())) {
    state_.log.CompactUpTo(snapshot_.last_index);
  } else {
    state_.log.Reset(snapshot_.last_index, snapshot_.last_term);
    state_.journal.ForgetFrom(1);
  }
  Restore();
  state_.journal.Replace(snapshot_, state_.log);
  state_.NoteGrowth();
}

// ---- our own ----

// Bounds and reasons are lab 2's (raft_messages.h).
void Snapshots::CompactIfLarge() {
  RaftLog& log = state_.log;
  if (log.bytes() <= compact_above_) return;
  EntryIndex base = log.last_index();
  std::size_t stays = 0;
  while (base > log.base_index() && (base > state_.commit_index || stays < raft::kRetainedBytes)) {
    stays += RaftLog::SizeOf(log.At(base--));
  }
  // The entries that stay are written again. Behind a long tail of uncommitted entries that would
  // cost much and free little, time after time.
  if (stays > log.bytes() / 3 * 2) return;
  snapshot_ = {state_.commit_index, log.TermAt(state_.commit_index), machine_.Snapshot()};
  log.CompactUpTo(base);
  state_.journal.Replace(snapshot_, log);
  ChooseWhenToCompact();
}

// If all replicas compacted at the same moment, all disks would be busy.
void Snapshots::ChooseWhenToCompact() {
  const auto most = static_cast<std::int64_t>(raft::CompactAboveBytes(snapshot_.state.size()));
  compact_above_ = static_cast<std::size_t>(state_.runtime.RandomBetween(most / 2, most));
}

}  // namespace depfast::saucr
