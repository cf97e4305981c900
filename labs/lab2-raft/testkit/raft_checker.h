// RaftChecker: Raft's invariants, checked after every step.
//
// The checker compares three sources: the frames that replicas send, the contents of their disks,
// and their observations. Frames and disks are facts; observations are claims, which the facts must
// support: a replica has applied an entry only if it has the entry, or a snapshot that covers it.
// raft_invariants.h lists the properties.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "durability.h"
#include "election_checker.h"
#include "held_log.h"
#include "leader_log_checker.h"
#include "raft_invariants.h"
#include "raft_messages.h"
#include "raft_observations.h"
#include "raft_wal.h"
#include "sim/group_view.h"
#include "testkit/history.h"
#include "violations.h"

namespace depfast::raft {

class RaftChecker : public sim::Observer, public LeaderLogChecker, public Violations<Invariant> {
 public:
  // Whether replicas must write to their disks: OnDisks, or InMemory. Parts 2A and 2B do not
  // require it. Then the checker ignores disks, and a replica holds an entry once it has received
  // it, or sent it as the leader.
  enum class Persistence { kRequired, kNotYet };

  // Watches `group` from now on, and writes role changes and violations into `history` unless that
  // is null. Requires: called before Simulator::Start; both outlive the checker.
  explicit RaftChecker(const sim::GroupView& group, testkit::History* history = nullptr,
                       Machine machine = Machine::kTally,
                       Persistence persistence = Persistence::kRequired);
  // A checker with its own rule for what is committed. Requires: it is not null.
  RaftChecker(const sim::GroupView& group, testkit::History* history, Machine machine,
              std::unique_ptr<const Durability> durability);

  // See LogChecker.
  bool Serves(PeerId leader) const override { return claims(leader).applied_index > 0; }
  std::uint64_t AppliedUpTo(PeerId replica) const override { return claims(replica).applied_index; }
  // An entry that a replica has applied is committed, even if none says so.
  std::uint64_t CommittedUpTo() const override {
    return std::max<std::uint64_t>(MaxCommitIndex(), committed().size() - 1);
  }
  std::uint64_t StoredUpTo(PeerId replica) const override;
  std::string WhyNotCommitted(PeerId replica, std::uint64_t index,
                              const CommandDigest& command) const override;
  std::uint64_t Restored(PeerId replica) const override { return claims(replica).restored; }
  std::optional<StoredSnapshot> SnapshotOf(PeerId replica) const override;
  std::string FirstViolation() const override { return First(/*of_safety=*/false); }
  std::string FirstSafetyViolation() const override { return First(/*of_safety=*/true); }

  // The latest observations of one replica.
  struct Claims {
    std::uint64_t term = 0;
    Role role = Role::kFollower;
    std::uint64_t commit_index = 0;
    std::uint64_t applied_index = 0;
    std::uint64_t restored = 0;  // snapshots restored since the last restart
  };
  const Claims& claims(PeerId replica) const { return replicas_[Index(replica)].claims; }
  // It has told a leader that it has a part of a snapshot.
  bool IsTakingSnapshot(PeerId replica) const { return replicas_[Index(replica)].takes_snapshot; }

  const ElectionChecker& elections() const { return elections_; }

  std::uint64_t MaxCommitIndex() const;

  // The number of distinct indexes that a replica has applied a command at.
  std::uint64_t commands_applied() const { return commands_applied_; }

  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnOutputsLeave(PeerId replica, Time now, const std::vector<sim::Output>& outputs) override;
  void OnDisk(PeerId replica, Time now, const sim::SimDisk& disk) override;
  void OnRewrite(PeerId replica, Time now, const sim::SimDisk& disk) override;
  void OnRestart(PeerId replica, Time now) override;

 protected:
  // For logs whose leaders hand over. Before the step's own OnStep.
  void AllowCampaign(PeerId replica, std::uint64_t term) {
    elections_.OnAskedToCampaign(replica, term);
  }

 private:
  // An entry as the first frame or disk showed it. An (index, term) identifies one entry for ever.
  struct Entry {
    CommandDigest command;
    std::uint64_t prev_term = 0;
    Holders holders = {};
  };
  // An entry of a leader's log, as the leader's messages show it.
  struct Shown {
    std::uint64_t term = 0;
    std::optional<CommandDigest> command;  // none until a message contains the entry itself
  };
  // The durable log and snapshot of a replica, read incrementally.
  struct Disk {
    std::uint64_t generation = 0;
    std::size_t bytes_read = 0;
    WalState wal;
    std::uint64_t snapshot_generation = 0;
    std::uint64_t snapshot_index = 0;
    // The election restriction, from the voter's side (section 5.4.1).
    bool IsAheadOf(const RequestVote& candidate) const;
    // The last entry that this replica cannot lose.
    std::uint64_t last_index() const { return std::max(wal.log.last_index(), snapshot_index); }
  };
  struct Request {
    std::uint64_t term = 0;
    RequestVote vote_request = {};
    ElectionChecker::Asked vote = {};
    bool voter_is_ahead = false;  // a vote's candidate has not all that was on the voter's disk
    std::uint64_t snapshot_index = 0;
    std::uint64_t snapshot_bytes = 0;
  };
  // The answers that a leader has received from the other replicas in its term.
  struct Acknowledged {
    std::uint64_t term = 0;
    std::map<PeerId, std::uint64_t> up_to;  // the last entry
    // The last entry, and the size, of the snapshot that was sent last.
    std::map<PeerId, std::pair<std::uint64_t, std::uint64_t>> snapshots;

    // In an answer of that term.
    void Note(std::uint64_t in_term, PeerId peer, std::uint64_t index);
  };
  struct Replica {
    Claims claims;
    Acknowledged acknowledged;
    bool takes_snapshot = false;
    Disk disk;
    std::map<std::pair<PeerId, CallId>, Request> requests;  // received and not yet answered
    HeldLog held;
  };

  static std::uint64_t Bit(PeerId replica) { return std::uint64_t{1} << replica; }
  static std::size_t Index(PeerId replica) { return static_cast<std::size_t>(replica); }
  // The violations of elections go to Violate.
  static Invariant InvariantOf(ElectionRule rule);
  // See Durability::WhyNot.
  std::string WhyNotDurable(std::uint64_t index, std::uint64_t term) const;
  std::optional<std::uint64_t> LeadsTerm(PeerId replica) const override;

  void OnObservation(PeerId replica, const Observation& seen);
  // After a step, before which the replica claimed `before`.
  void CheckLeadersCommit(PeerId replica, const Claims& before);
  // A majority must have told the leader that it has the entry: its disk does not suffice.
  void CheckAcknowledged(PeerId leader, std::uint64_t index);
  void OnRole(PeerId replica, std::uint64_t term, Role role);
  void OnApply(PeerId replica, std::uint64_t index, std::uint64_t term, std::uint64_t hash);
  // The command of an entry that the replica applies with this CommandHash: a violation unless it
  // has that entry.
  CommandDigest TakeHeld(PeerId replica, std::uint64_t index, std::uint64_t term,
                         std::uint64_t hash);
  void OnRestore(PeerId replica, std::uint64_t index, std::uint64_t term);
  void OnReceived(PeerId replica, const sim::FrameArrival& arrival);
  void OnRequest(PeerId replica, PeerId from, const DecodedFrame& frame);
  void OnAnswered(PeerId leader, PeerId from, const DecodedFrame& frame);
  // Those of this term; earlier ones are forgotten.
  Acknowledged& AcknowledgedIn(PeerId leader, std::uint64_t term);
  void OnSent(PeerId replica, const sim::SendFrame& frame);
  void OnSentRequest(PeerId replica, PeerId to, const DecodedFrame& frame);
  void OnSentRequestVote(PeerId replica, const RequestVote& request);
  void OnSentAppendEntries(PeerId replica, const AppendEntries& request);
  void OnVoteReply(PeerId replica, const Request& asked, const RequestVoteReply& reply);
  void OnAppendReply(PeerId replica, const Request& asked, const AppendEntriesReply& reply);
  void OnSentInstallSnapshot(PeerId replica, const InstallSnapshot& request);
  void OnInstallReply(PeerId replica, const Request& asked, const InstallSnapshotReply& reply);
  // `promises`: whether the message says more than that the replica has heard of the term.
  void RequireTermOnDisk(PeerId replica, std::uint64_t term, const char* message,
                         bool promises = true);
  void RecordLeader(PeerId replica, std::uint64_t term);
  void RecordReceivedEntries(PeerId replica, const AppendEntries& request);
  Entry& RecordEntry(std::uint64_t index, const LogEntry& entry, std::uint64_t prev_term,
                     PeerId shown_by);
  // `command`: none if the message shows only the entry's term.
  void RecordLeaderEntry(PeerId leader, std::uint64_t term, std::uint64_t index,
                         std::uint64_t entry_term, const std::optional<CommandDigest>& command);
  void ReadDisk(PeerId replica, const sim::SimDisk& disk);
  void ReadWal(PeerId replica, const sim::SimDisk& disk);
  // The last committed entry of the log on the disk; 0 if there is none.
  std::uint64_t LastCommittedOn(const Disk& disk) const;
  // Whether log and snapshot on the disk cover the committed entry `index`.
  bool Covers(const Disk& disk, std::uint64_t index) const;
  void CheckChunk(PeerId replica, const InstallSnapshot& chunk);
  void ReadSnapshot(PeerId replica, const sim::SimDisk& disk);
  // `holder`: the sentence's subject and verb, such as "replica 1 restores".
  void CheckSnapshot(const std::string& holder, std::uint64_t index, std::uint64_t term);

  const std::unique_ptr<const Durability> durability_;
  const bool disk_required_;
  std::vector<Replica> replicas_;
  ElectionChecker elections_;
  bool tests_ask_ = false;  // a client has sent a message of Raft
  std::map<std::pair<std::uint64_t, std::uint64_t>, Entry> entries_;  // by (index, term)
  // By term, then index: the entries of the log of that term's leader, as far as shown.
  std::map<std::uint64_t, std::map<std::uint64_t, Shown>> leader_logs_;
  std::uint64_t commands_applied_ = 0;
};

}  // namespace depfast::raft
