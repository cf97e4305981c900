// Replace this file by your lab 2's: 7D begins with a copy of it. Then give its constructor the
// third parameter.
#include "raft.h"

#include "depfast/broadcast.h"
#include "quorum_event.h"

namespace depfast::raft {

// Every function below is a stub: it compiles, and does nothing. The header is its contract, the
// handout names the order to write them in. `Our lines`: code, without comments and blank lines.

Raft::Raft(Runtime& runtime, StateMachine& machine, adr::HealthView& health)
    : runtime_(runtime), machine_(machine), health_(health) {
  (void)health_;
}

// TODO 2A: spawn ElectionLoop. TODO 2C: recover first, and let the handlers wait for that.
void Raft::Start() {
  runtime_.rpc().Handle<RequestVote>(
      [this](PeerId, const RequestVote& request) { return OnRequestVote(request); });
  runtime_.rpc().Handle<AppendEntries>(
      [this](PeerId, const AppendEntries& request) { return OnAppendEntries(request); });
  runtime_.rpc().Handle<InstallSnapshot>(
      [this](PeerId, const InstallSnapshot& request) { return OnInstallSnapshot(request); });
}

// ---- 2A: elections. Our lines: 150 ----

// TODO 2A: Sleep, look at the clock, Broadcast<RequestVote>, wait for a QuorumEvent.
void Raft::ElectionLoop() {}

// TODO 2A: terms, one vote per term, pre-votes. TODO 2B: the election restriction.
RequestVoteReply Raft::OnRequestVote(const RequestVote& request) {
  (void)request;
  return {};
}

// TODO 2A: this replica while it leads; else the sender of the last valid AppendEntries of this
// term; else no replica. Lab 3's driver relies on the first.
std::vector<PeerId> Raft::proposers() const { return {}; }

// ---- 2B: replication. Our lines: 180 ----

// TODO 2B: if this replica leads, append, replicate, and answer once the command is applied. A
// round works for a client: set_dependency(client).
void Raft::Submit(std::string command, const Dependency& client, SubmitDone done) {
  (void)command, (void)client;
  done({SubmitStatus::kNotProposer, kNobody, 0, ""});
}

// TODO 2A: terms and heartbeats. TODO 2B: the receiver's rules of figure 2, and conflict_index.
AppendEntriesReply Raft::OnAppendEntries(const AppendEntries& request) {
  (void)request;
  return {};
}

// TODO 2B: ObserveCommit once, then for each entry ObserveApply and (no-ops excepted) Apply.
void Raft::CommitUpTo(std::uint64_t index) { (void)index, (void)machine_; }

// ---- 2C: persistence. Our lines: 60 ----

// TODO 2C: Storage::Read, WalState::Recover, Storage::Truncate. No file yet is no error (ENOENT).
// TODO 2D: remove new files that a crash left unfinished. Then restore the snapshot, and the log
// that continues it.
void Raft::Recover() {}

// ---- 2D: followers that lag, and snapshots. Our lines: 160 ----

// TODO 2B: a request, its answer, the next request, until the follower has all. TODO 2D: in bounded
// requests, off the path of commands; and a snapshot when the log no longer reaches back.
void Raft::CatchUp(PeerId peer) { (void)peer; }

// TODO 2D: collect the chunks in order; then restore, and replace both files.
InstallSnapshotReply Raft::OnInstallSnapshot(const InstallSnapshot& request) {
  (void)request;
  return {};
}

// TODO 2D: the snapshot first, then the log that needs it.
void Raft::CompactIfLarge() {}

// ---- for lab 3. Our lines: 30 ----

// TODO lab 3: three conditions. An entry of this term is committed. A majority has answered
// messages that were sent after this call. The machine has applied every entry that was committed
// then. The messages belong to the client's request.
void Raft::ReadIndex(const Dependency& client, ReadDone done) {
  (void)client;
  done(false);
}

}  // namespace depfast::raft
