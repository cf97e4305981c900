// Replace this file by your lab 2's: 7D begins with a copy of it. Then give its constructor the
// third parameter.
//
// Raft (lab 2): Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm", ATC
// 2014. A slow follower must cost the others nothing.
//
// The public part is the contract: the driver, lab 3 and the tests call it. Do not change it. The
// private part is a suggestion, and yours.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "depfast/runtime.h"
#include "health_view.h"
#include "raft_log.h"
#include "raft_messages.h"
#include "raft_observations.h"
#include "raft_wal.h"
#include "replicated_log.h"

namespace depfast::raft {

class Raft final : public ReplicatedLog {
 public:
  // All must outlive the Raft. `health`: whom this replica finds slow, now.
  Raft(Runtime& runtime, StateMachine& machine, adr::HealthView& health);

  // The contract of the next four is in replicated_log.h. In Raft the leader is the one proposer.
  void Start() override;
  void Submit(std::string command, const Dependency& client, SubmitDone done) override;
  // Writes nothing to the log (Ongaro's thesis, section 6.4). Lab 3 needs it; no test of lab 2
  // does.
  void ReadIndex(const Dependency& client, ReadDone done) override;
  std::vector<PeerId> proposers() const override;

 private:
  // --- 2A: elections (ATC 2014, section 5.2; Ongaro's thesis, 9.6, for the pre-vote) ---

  // Never ends. Campaigns after a random time in [kElectionTimeoutMin, kElectionTimeoutMax] in
  // which this replica has not led, not heard of a leader and not granted a vote.
  void ElectionLoop();

  // Runs in a coroutine per request, and may wait. Grants at most one vote per term; a pre-vote
  // changes nothing. The vote is durable before this returns (from 2C on).
  RequestVoteReply OnRequestVote(const RequestVote& request);

  // --- 2B: replication (sections 5.3 and 5.4) ---

  // Runs in a coroutine per request, and may wait. A heartbeat is a request without entries. The
  // entries that the reply acknowledges are durable before this returns (from 2C on).
  AppendEntriesReply OnAppendEntries(const AppendEntries& request);

  // Applies the entries up to `index`, in order, and answers the clients that wait for them.
  // Requires: a majority has them. Does nothing for an index that was committed before.
  void CommitUpTo(std::uint64_t index);

  // --- 2C: persistence ---

  // Reads kWalFile, cuts off a record that a crash has torn, and restores the earlier state. From
  // 2D on there is kSnapshotFile, too: the machine is restored from it first (ObserveRestore), and
  // the log continues it. Throws std::runtime_error, in one line, if a file exists and cannot be
  // read, or is damaged.
  void Recover();

  // --- 2D: followers that lag, and snapshots (extended paper, section 7) ---

  // Sends `peer` the entries that it lacks, one bounded request at a time, off the path of
  // commands. Runs in a coroutine of its own until the follower has caught up or this replica no
  // longer leads.
  void CatchUp(PeerId peer);

  // Takes one chunk. The snapshot is durable before the reply says that all of it was received.
  InstallSnapshotReply OnInstallSnapshot(const InstallSnapshot& request);

  // Takes a snapshot and compacts the log if it has grown above kCompactAboveBytes.
  void CompactIfLarge();

  // Your state. Say of each member when it is valid, and how it relates to the others.
  Runtime& runtime_;
  StateMachine& machine_;
  adr::HealthView& health_;
};

}  // namespace depfast::raft
