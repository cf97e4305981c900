// Raft (Ongaro and Ousterhout, ATC 2014), written so that a slow follower costs the others nothing.
//
// Every wait on the path of a client's command is a wait for a quorum. A round takes all commands
// that have arrived, starts its own disk write, broadcasts to the followers that keep up, and waits
// for a majority of {own disk, followers}. A follower that does not keep up is served by a
// coroutine of its own, off that path, one bounded request at a time (document 002, section 5.1).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "depfast/broadcast.h"
#include "depfast/runtime.h"
#include "depfast/value_event.h"
#include "raft_messages.h"
#include "raft_observations.h"
#include "raft_wal.h"

namespace depfast::raft {

class Raft {
 public:
  explicit Raft(Runtime& runtime);

  // Registers the RPC handlers and recovers from disk; takes part once that is done.
  void Start();

  // Accepts a command if this replica leads, and answers when its fate is known.
  void Submit(const std::string& command, const Responder<SubmitReply>& responder);

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
    Responder<SubmitReply> responder;
  };

  struct Pending {
    std::string command;
    std::optional<Responder<SubmitReply>> responder;  // none for a no-op
  };

  // --- start and durability ---
  void Recover();
  void PersistHardState();
  std::shared_ptr<DiskEvent> PersistEntries(std::uint64_t first_index);
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
  void HeartbeatLoop();
  void Heartbeat(std::uint64_t term);  // takes kHeartbeatInterval
  void AdvanceCommit();

  // --- replication, the follower's side ---
  AppendEntriesReply OnAppendEntries(const AppendEntries& request);
  void TakeEntries(const AppendEntries& request);

  void CommitUpTo(std::uint64_t index);
  void FailWaiting(SubmitStatus status);

  Follower& FollowerOf(PeerId peer) { return followers_[static_cast<std::size_t>(peer)]; }
  std::uint64_t last_index() const { return log_.size() - 1; }
  std::uint64_t TermAt(std::uint64_t index) const { return log_[index].term; }

  Runtime& runtime_;
  std::shared_ptr<IntEvent> recovered_;

  // On disk, too.
  std::uint64_t term_ = 0;
  PeerId voted_for_ = kNobody;
  std::vector<LogEntry> log_;              // log_[i] has index i; log_[0] is the empty log's end
  std::shared_ptr<DiskEvent> last_write_;  // the latest; done means that all before it are, too

  Role role_ = Role::kFollower;
  PeerId leader_ = kNobody;  // of term_, if known
  Time last_heard_{0};       // of a leader, or when we granted a vote
  std::uint64_t commit_index_ = 0;

  // While leading.
  std::vector<Follower> followers_;  // by id; our own is unused
  std::vector<Pending> pending_;     // accepted, not in the log yet
  std::deque<Waiting> waiting_;      // in the log, not committed; by index
  std::uint64_t durable_index_ = 0;  // our own disk has the log up to here
  int rounds_ = 0;                   // whose quorum is not decided
  bool round_starting_ = false;
  Time last_quorum_{0};  // when a majority last answered a heartbeat
};

}  // namespace depfast::raft
