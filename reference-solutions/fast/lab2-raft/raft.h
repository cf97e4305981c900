// Raft (Ongaro and Ousterhout, ATC 2014). A slow follower costs the others nothing.
//
// Every wait on the path of a client's command is a wait for a quorum. A round takes all commands
// that have arrived, starts its own disk write, broadcasts to the followers that keep up, and waits
// for a majority of {own disk, followers}. A follower that has fallen behind is served by a
// coroutine of its own, off that path, one bounded request at a time (document 002, section 5.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "depfast/broadcast.h"
#include "depfast/disk_event.h"
#include "depfast/runtime.h"
#include "depfast/time.h"
#include "depfast/value_event.h"
#include "raft_log.h"
#include "raft_messages.h"
#include "raft_observations.h"
#include "raft_wal.h"
#include "replicated_log.h"
#include "state_machine.h"

namespace depfast {
class QuorumEvent;
}

namespace depfast::raft {

// A leader's view of one follower, and its way of serving it. Only the functions under
// "transitions" change the state.
//
//   state        the leader sends                       the next state
//   kReplicate   every round                            kProbe: FellBehind
//   kProbe       one bounded request at a time          kCatchUp: a prompt answer
//   kCatchUp     one bounded request at a time          kProbe: a late answer, or none
//                                                       kJoin: the request reaches the log's end
//   kJoin        its last request, then every round     kReplicate: the request's answer
//                                                       kProbe: no answer, or FellBehind
//   kSnapshot    a snapshot, chunk by chunk             kProbe: Acknowledged
//
// SnapshotNeeded leads from kProbe and kCatchUp to kSnapshot.
//
// Invariants: match_index < next_index. In kReplicate and kJoin, next_index is the end of the
// leader's log. In all states but kReplicate, one catch-up coroutine serves the follower.
class Progress {
 public:
  enum class State : std::uint8_t { kReplicate, kProbe, kCatchUp, kJoin, kSnapshot };

  // A new leader expects that every follower has its log, which ends before `next_index`.
  explicit Progress(std::uint64_t next_index = 1) : next_index_(next_index) {}

  State state() const { return state_; }
  bool InRounds() const { return state_ == State::kReplicate || state_ == State::kJoin; }
  // The first entry that is neither acknowledged nor on its way.
  std::uint64_t next_index() const { return next_index_; }
  // The follower's log is the leader's, durably, up to this index.
  std::uint64_t match_index() const { return match_index_; }
  // The size of the next catch-up request, and how long the leader waits for its answer. Requests
  // grow as long as their answers take no longer: so a distant follower catches up, too.
  std::size_t request_bytes() const { return request_bytes_; }
  Duration request_timeout() const { return request_timeout_; }

  // --- transitions ---

  // A round with the entries up to `end` was sent. Requires: InRounds().
  void RoundSent(std::uint64_t end);
  // The follower has the log up to `index`: an answer said so, or it has installed a snapshot.
  void Acknowledged(std::uint64_t index);
  // Entries from `from` on may not have reached the follower. True if it leaves kReplicate: the
  // caller starts its catch-up coroutine.
  bool FellBehind(std::uint64_t from);
  // The next request reaches the end of the log, and the follower answers promptly: rounds may
  // follow this request on the same connection. Requires: kCatchUp.
  void Join(std::uint64_t end);
  // The answer to a catch-up request came after `took`. Requires: kProbe, kCatchUp or kJoin.
  void RequestAnswered(Duration took);
  // The request with the entries from `first` on had no answer in time. Requires: as above.
  void RequestLost(std::uint64_t first);
  // The leader's log no longer holds next_index. Requires: not InRounds().
  void SnapshotNeeded();

 private:
  State state_ = State::kReplicate;
  std::uint64_t next_index_;
  std::uint64_t match_index_ = 0;
  // Valid outside kReplicate.
  std::size_t request_bytes_ = 0;
  Duration request_timeout_{0};
  Duration fastest_answer_{0};
};

// The clients that were just answered. Most of them send again at once.
class ReturningClients {
 public:
  void Expect(std::size_t answered);
  void Add() { most_->Add(); }  // one has sent
  // Returns when most of the expected ones have sent, or after a short time.
  void Wait() const;

 private:
  std::shared_ptr<IntEvent> most_ = std::make_shared<IntEvent>("returning clients", 0);
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
  struct Waiting {
    std::uint64_t index;
    SubmitDone done;
  };

  struct Pending {
    std::string command;
    Dependency client;
    SubmitDone done;  // none for a no-op
  };

  struct PendingRead {
    Dependency client;
    ReadDone done;
  };

  // A heartbeat that was sent. The quorum is ready once a majority has answered that it follows
  // this leader.
  struct Heartbeat {
    BroadcastCalls calls;
    std::shared_ptr<QuorumEvent> quorum;
  };

  // The part of a leader's snapshot that has arrived.
  struct Incoming {
    std::uint64_t term = 0;  // the leader's
    Snapshot snapshot;
  };

  // A snapshot that is being written, and the log that will continue it. Both files are complete,
  // and replace the old ones, when the state machine has no more pieces.
  struct Compaction {
    std::uint64_t new_base = 0;  // of the log
    Snapshot snapshot;           // the state as far as it was written
    std::unique_ptr<SnapshotPieces> pieces;
    std::string records;  // of the log, that are not in its new file yet
  };

  // --- start and durability ---
  void Recover();
  void RecoverSnapshot();
  void RecoverLog();
  void PersistHardState();
  std::shared_ptr<DiskEvent> PersistEntries(std::uint64_t first_index);
  std::shared_ptr<DiskEvent> AppendToLog(std::string record);
  void PersistLog();  // replaces the file
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

  // --- replication, the leader's side (section 5.3) ---
  void StartRound();
  void Round();
  void AppendPending();
  AppendEntries MakeAppend(std::uint64_t first_index, std::uint64_t end_index) const;
  // Sends the entries [first, end) to the followers that keep up.
  Broadcast<AppendEntries> SendRound(std::uint64_t first, std::uint64_t end);
  // The quorum of a round: our own disk, and the followers that the round was sent to.
  std::shared_ptr<QuorumEvent> VotesOn(const Broadcast<AppendEntries>& round,
                                       const std::shared_ptr<DiskEvent>& own_write,
                                       std::uint64_t end);
  // Waits a while for the followers that have not answered, then gives up the round's calls.
  void ReleaseStragglers(Broadcast<AppendEntries>& round, std::uint64_t term, std::uint64_t first);
  // True if the follower has taken the entries.
  bool OnAppendReply(PeerId peer, const AppendEntriesReply& reply);
  // Entries from `from` on may not have reached the follower: catch-up begins, or goes back.
  void FellBehind(PeerId peer, std::uint64_t from);
  // Serves a follower until it keeps up again.
  void CatchUp(PeerId peer);
  // One catch-up request, or one snapshot. False if the next one must wait: no answer was of use.
  bool SendEntries(PeerId peer);
  bool SendSnapshot(PeerId peer);
  // The end of a request that begins with the entry `first` and takes about `bytes`.
  std::uint64_t EndOfRequest(std::uint64_t first, std::size_t bytes) const;
  void HeartbeatLoop();
  Heartbeat SendHeartbeat();
  // Sends every follower an empty AppendEntries. The quorum is ready once a majority has answered
  // that it follows this leader.
  std::shared_ptr<QuorumEvent> AskWhoFollows(BroadcastCalls& calls);
  void AdvanceCommit();

  // --- reads ---
  void StartConfirming();
  void ConfirmLeadership();

  // --- replication, the follower's side ---
  AppendEntriesReply OnAppendEntries(AppendEntries request);
  // Moves the new entries into the log. Their number in the request stays.
  void TakeEntries(AppendEntries& request);
  InstallSnapshotReply OnInstallSnapshot(const InstallSnapshot& request);
  bool TakeChunk(const InstallSnapshot& request);  // true once the snapshot is complete
  void InstallIncoming();

  void CommitUpTo(std::uint64_t index);
  // Tells the state machine the next committed commands.
  void ExpectFrom(std::uint64_t first);
  std::string Apply(std::uint64_t index);
  void FailWaiting(SubmitStatus status);

  // --- snapshots (extended paper, section 7) ---
  void CompactIfLarge();
  void StartCompaction(std::uint64_t new_base);
  // Writes the snapshot, in the background.
  void Compact(const std::shared_ptr<Compaction>& compaction);
  // False if it was given up, or a write has failed: then no other can succeed.
  bool WritePieces(const std::shared_ptr<Compaction>& compaction);
  void ReplaceFiles(Compaction& compaction);
  void CutLog(std::uint64_t new_base);
  void GiveUpCompaction();
  void ChooseWhenToCompact();
  void PersistSnapshot();
  void RestoreSnapshot();

  Progress& ProgressOf(PeerId peer) { return progress_[static_cast<std::size_t>(peer)]; }
  std::uint64_t last_index() const { return log_.last_index(); }
  std::uint64_t TermAt(std::uint64_t index) const { return log_.TermAt(index); }

  Runtime& runtime_;
  StateMachine& machine_;                // its state is that after entry commit_index_
  std::shared_ptr<IntEvent> recovered_;  // ready once the state below is that of the disk

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
  // campaign, or the end of our leadership.
  Time last_heard_{0};
  std::uint64_t commit_index_ = 0;
  std::size_t compact_above_ = kCompactAboveBytes;  // bytes of log_
  bool compacts_ = false;                           // a coroutine compacts the log
  std::shared_ptr<Compaction> compaction_;          // until its files are complete, or given up
  Incoming incoming_;

  // Valid while this replica leads.
  std::vector<Progress> progress_;  // by replica id; our own is unused
  ReturningClients returning_writers_;
  ReturningClients returning_readers_;
  std::vector<Pending> pending_;    // accepted, not in the log yet
  std::deque<Waiting> waiting_;     // in the log, not committed; by index
  int rounds_ = 0;                  // rounds that wait for their quorum
  int young_rounds_ = 0;            // those of them that began less than kYoung ago
  bool round_starting_ = false;     // the coroutine of the next round has not run yet
  std::vector<PendingRead> reads_;  // reads that wait for the next confirmation
  bool confirming_ = false;         // a coroutine confirms that this replica leads
};

}  // namespace depfast::raft
