// Raft (Ongaro and Ousterhout, ATC 2014). A slow follower costs the others nothing.
//
// Every wait on the path of a client's command is a wait for a quorum. A round takes all commands
// that have arrived, starts its own disk write, broadcasts to the followers that keep up, and waits
// for a majority of {own disk, followers}. A follower that has fallen behind is served by a
// coroutine of its own, off that path, one bounded request at a time (document 002, section 5.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "depfast/broadcast.h"
#include "depfast/runtime.h"
#include "depfast/value_event.h"
#include "quorum_event.h"
#include "raft_observations.h"
#include "raft_wal.h"
#include "replicated_log.h"
#include "state_machine.h"

namespace depfast::raft {

// A leader's view of one follower. Invariant: match_index < next_index; while it keeps up,
// next_index is the end of the leader's log.
struct Progress {
  std::uint64_t next_index = 1;   // the first entry neither acknowledged nor on its way
  std::uint64_t match_index = 0;  // the follower has the leader's log up to here, durably
  bool keeps_up = true;           // every round is sent to it
  bool served = false;            // a catch-up coroutine sends to it: always if it lags
  // The catch-up coroutine's state.
  bool prompt = false;            // its latest answer was: it may join the rounds
  std::size_t request_bytes = 0;  // the size of the next request
  Duration request_timeout{0};    // how long to wait for its answer
};

class Raft final : public ReplicatedLog {
 public:
  // Both must outlive the Raft.
  Raft(Runtime& runtime, StateMachine& machine);

  // See ReplicatedLog. The leader proposes; no other replica does.
  void Start() override;
  void Submit(std::string command, const Dependency& client, SubmitDone done) override;
  // Writes nothing to the log (Ongaro's thesis, section 6.4).
  void ReadIndex(const Dependency& client, ReadDone done) override;
  std::vector<PeerId> proposers() const override {
    return leader_ == kNobody ? std::vector<PeerId>() : std::vector<PeerId>{leader_};
  }

 private:
  struct Pending {
    std::string command;
    Dependency client;
    SubmitDone done;  // none for a no-op
  };
  struct PendingRead {
    Dependency client;
    ReadDone done;
  };

  // --- start and durability ---
  void Recover();
  void RecoverSnapshot();
  void RecoverLog();
  std::optional<std::string> ReadFile(const char* name);  // nothing if there is no such file
  std::shared_ptr<DiskEvent> AppendToWal(std::string record);
  void PersistHardState();
  void PersistLog();  // replaces the file
  void PersistSnapshot();
  // Waits for last_write_ or term_write_: before that, no answer may leave that depends on it.
  // Throws std::system_error if the write failed: then no such answer may ever leave. The exception
  // ends a campaign and the replica; a handler's caller is answered with an error.
  void AwaitDurable(const std::shared_ptr<DiskEvent>& latest);

  // --- elections (Raft, section 5.2; thesis, section 9.6 for the pre-vote) ---
  void ElectionLoop();
  void Campaign();
  // True once a majority has granted its votes, at most after `patience`, if nothing has ended the
  // campaign by then.
  bool AskForVotes(std::uint64_t term, bool pre_vote, Duration patience);
  RequestVoteReply OnRequestVote(const RequestVote& request);
  bool WouldVoteFor(const RequestVote& request) const;
  void BecomeFollower(std::uint64_t term);
  void BecomeLeader();
  bool Leads(std::uint64_t term) const { return role_ == Role::kLeader && term_ == term; }

  // --- heartbeats and reads ---
  void HeartbeatLoop();
  // Confirms that this replica leads, for the reads that have come.
  void Heartbeat();
  // Sends every follower an empty AppendEntries. The quorum is ready once a majority has answered
  // that it follows this leader.
  std::shared_ptr<QuorumEvent> AskWhoFollows(BroadcastCalls& calls);

  // --- replication, the leader's side (section 5.3) ---
  void StartRound();
  void Round();
  void AppendPending();
  AppendEntries MakeAppend(std::uint64_t first, std::uint64_t end) const;
  // Sends the entries [first, end) to the followers that keep up.
  Broadcast<AppendEntries> SendRound(std::uint64_t first, std::uint64_t end);
  // The quorum of a round: our own disk, and the followers that the round was sent to.
  std::shared_ptr<QuorumEvent> VotesOn(const Broadcast<AppendEntries>& round,
                                       const std::shared_ptr<DiskEvent>& own_write,
                                       std::uint64_t end);
  // True if the follower has taken the entries.
  bool OnAppendReply(PeerId peer, const AppendEntriesReply& reply);
  void AdvanceCommit();

  // --- lagging followers ---
  // Entries from `from` on may not have reached the follower: catch-up begins, or goes back.
  void FellBehind(PeerId peer, std::uint64_t from);
  // Serves a follower until it keeps up again.
  void CatchUp(PeerId peer);
  // One catch-up request, or one snapshot. False if the next one must wait: no answer was of use.
  bool SendEntries(PeerId peer);
  bool SendSnapshot(PeerId peer);

  // --- replication, the follower's side ---
  AppendEntriesReply OnAppendEntries(const AppendEntries& request);
  void TakeEntries(const AppendEntries& request);
  InstallSnapshotReply OnInstallSnapshot(const InstallSnapshot& request);
  bool TakeChunk(const InstallSnapshot& request);  // true once the snapshot is complete
  void InstallIncoming();

  void CommitUpTo(std::uint64_t index);
  void FailWaiting(SubmitStatus status);

  // --- snapshots (extended paper, section 7) ---
  void CompactIfLarge();
  void ChooseWhenToCompact();
  void RestoreSnapshot();

  Progress& ProgressOf(PeerId peer) { return progress_[static_cast<std::size_t>(peer)]; }
  std::uint64_t last_index() const { return log_.last_index(); }
  std::uint64_t TermAt(std::uint64_t index) const { return log_.TermAt(index); }

  Runtime& runtime_;
  StateMachine& machine_;  // its state is that after entry commit_index_
  // Ready once the state below is that of the disk.
  std::shared_ptr<IntEvent> recovered_ = std::make_shared<IntEvent>("recovery", 1);

  // On disk, too.
  std::uint64_t term_ = 0;
  PeerId voted_for_ = kNobody;  // in term_
  RaftLog log_;
  Snapshot snapshot_;  // the latest: log_.base_index() <= snapshot_.last_index <= commit_index_
  std::shared_ptr<DiskEvent> last_write_;  // the latest; writes become durable in order
  std::shared_ptr<DiskEvent> term_write_;  // the latest of term_ and voted_for_
  std::uint64_t durable_index_ = 0;        // log_ is on disk at least up to here

  Role role_ = Role::kFollower;
  PeerId leader_ = kNobody;  // of term_, if known
  // When we granted the latest pre-vote to a lower number. Campaigns of ours that began before do
  // not go on: distant replicas would split their votes again and again.
  Time yielded_{0};
  // When the election timeout began: at the latest message of a leader, granted vote or own
  // campaign, or the end of our leadership. While we lead: when a majority last followed.
  Time last_heard_{0};
  std::uint64_t commit_index_ = 0;
  std::size_t compact_above_ = kCompactAboveBytes;  // bytes of log_
  // The part of a leader's snapshot that has arrived, and that leader's term.
  Snapshot incoming_;
  std::uint64_t incoming_term_ = 0;

  // Valid while this replica leads.
  std::vector<Progress> progress_;               // by replica id; our own is unused
  std::vector<Pending> pending_;                 // accepted, not in the log yet
  std::map<std::uint64_t, SubmitDone> waiting_;  // in the log, not committed; by index
  int rounds_ = 0;                               // rounds that wait for their quorum
  bool round_starting_ = false;                  // the coroutine of the next round has not run yet
  std::vector<PendingRead> reads_;               // reads that wait for the next confirmation
};

}  // namespace depfast::raft
