// Raft (Ongaro and Ousterhout, ATC 2014), written so that a slow follower costs the others nothing.
//
// Every wait on the path of a client's command is a wait for a quorum. A round takes all commands
// that have arrived, starts its own disk write, broadcasts to the followers that keep up, and waits
// for a majority of {own disk, followers}. A follower that does not keep up is served by a
// coroutine of its own, off that path, one bounded request at a time (document 002, section 5.1).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "depfast/broadcast.h"
#include "depfast/runtime.h"
#include "depfast/value_event.h"
#include "raft_log.h"
#include "raft_messages.h"
#include "raft_observations.h"
#include "raft_wal.h"
#include "replicated_log.h"

namespace depfast {
class QuorumEvent;
}

namespace depfast::raft {

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
  // What a leader knows about a follower. Meaningful only while leading.
  struct Follower {
    std::uint64_t next_index = 1;   // the first entry not sent to it
    std::uint64_t match_index = 0;  // its log is ours, durably, up to here
    // Takes part in broadcasts: everything before next_index is on its way or there. If not, a
    // catch-up coroutine serves it.
    bool keeps_up = true;
    bool catching_up = false;  // such a coroutine runs
  };

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

  // A snapshot that a leader sends us, as far as it has come.
  struct Incoming {
    std::uint64_t term = 0;  // the leader's
    Snapshot snapshot;
  };

  // --- start and durability ---
  void Recover();
  void RecoverSnapshot();
  void RecoverLog();
  void PersistHardState();
  std::shared_ptr<DiskEvent> PersistEntries(std::uint64_t first_index);
  void PersistLog();  // anew
  // Waits until everything written so far is durable: nothing that depends on state may leave
  // before. Returns false if the disk failed: then nothing may leave at all.
  bool AwaitDurable();

  // --- elections (Raft, section 5.2; thesis, section 9.6 for the pre-vote) ---
  void ElectionLoop();
  void Campaign();
  bool AskForVotes(std::uint64_t term, bool pre_vote);
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
  bool OnAppendReply(Follower& follower, const AppendEntriesReply& reply);
  // The follower does not keep up: entries from `from` on may not have reached it.
  void Lag(PeerId peer, std::uint64_t from);
  void CatchUp(PeerId peer);
  bool SendSnapshot(PeerId peer);
  void HeartbeatLoop();
  void Heartbeat();  // takes kHeartbeatInterval
  // Sends every follower an empty AppendEntries. The quorum is ready when a majority follows us.
  std::shared_ptr<QuorumEvent> AskWhoFollows(BroadcastCalls& calls);
  void AdvanceCommit();

  // --- reads ---
  void StartConfirming();
  void ConfirmLeadership();

  // --- replication, the follower's side ---
  AppendEntriesReply OnAppendEntries(const AppendEntries& request);
  void TakeEntries(const AppendEntries& request);
  InstallSnapshotReply OnInstallSnapshot(const InstallSnapshot& request);
  bool TakeChunk(const InstallSnapshot& request);  // whether the snapshot is whole
  void InstallIncoming();

  void CommitUpTo(std::uint64_t index);
  std::string Apply(std::uint64_t index);
  void FailWaiting(SubmitStatus status);

  // --- snapshots (section 7) ---
  void CompactIfLarge();
  void ChooseWhenToCompact();
  void PersistSnapshot();
  void RestoreSnapshot();

  Follower& FollowerOf(PeerId peer) { return followers_[static_cast<std::size_t>(peer)]; }
  std::uint64_t last_index() const { return log_.last_index(); }
  std::uint64_t TermAt(std::uint64_t index) const { return log_.TermAt(index); }

  Runtime& runtime_;
  StateMachine& machine_;  // after entry commit_index_
  std::shared_ptr<IntEvent> recovered_;

  // On disk, too.
  std::uint64_t term_ = 0;
  PeerId voted_for_ = kNobody;
  RaftLog log_;
  std::size_t compact_above_ = kCompactAboveBytes;  // bytes of log_
  Snapshot snapshot_;                               // the latest; the log goes on from within it
  std::shared_ptr<DiskEvent> last_write_;  // the latest; done means that all before it are, too

  Role role_ = Role::kFollower;
  PeerId leader_ = kNobody;  // of term_, if known
  Time last_heard_{0};       // of a leader, or when we granted a vote
  std::uint64_t commit_index_ = 0;
  Incoming incoming_;

  // While leading.
  std::vector<Follower> followers_;  // by id; our own is unused
  std::vector<Pending> pending_;     // accepted, not in the log yet
  std::deque<Waiting> waiting_;      // in the log, not committed; by index
  std::uint64_t durable_index_ = 0;  // our own disk has the log up to here
  int rounds_ = 0;                   // whose quorum is not decided
  bool round_starting_ = false;
  Time last_quorum_{0};             // when a majority last answered a heartbeat
  std::vector<PendingRead> reads_;  // that wait for the next confirmation
  bool confirming_ = false;
};

}  // namespace depfast::raft
