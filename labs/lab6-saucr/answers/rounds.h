// Rounds: a leader puts its clients' commands into rounds, takes note of the answers, and confirms
// reads.
#pragma once

#include <string>
#include <vector>

#include "catch_up.h"
#include "commits.h"
#include "depfast/broadcast.h"
#include "elections.h"
#include "leadership.h"
#include "replica_state.h"
#include "replicated_log.h"
#include "saucr_base.h"

namespace depfast::saucr {

class Rounds {
 public:
  // All must outlive this.
  Rounds(ReplicaState& state, Elections& elections, Leadership& leadership, CatchUp& catch_up,
         Commits& commits, SaucrHooks& hooks);

  // See ReplicatedLog.
  void Submit(std::string command, const Dependency& client, ReplicatedLog::SubmitDone done);
  void ReadIndex(const Dependency& client, ReplicatedLog::ReadDone done);

  // This leader proposes from now on.
  void Open(const std::vector<PeerId>& voters);
  // This replica leads no longer.
  void GiveUp();

  // See SaucrBase.
  bool NoteReply(PeerId peer, const AppendEntriesReply& reply);
  void MergeLives(const Lives& told);
  void AdvanceCommit(EntryIndex index);
  // Commits what the answers allow.
  void Commit();
  // Notes each answer that comes within `patience`, commits by it, and releases the other calls.
  // `fall_behind`: the followers that do not answer do.
  void NoteAnswers(const Broadcast<AppendEntries>& calls, Duration patience, bool fall_behind);
  // Confirms the reads that wait, in a coroutine of its own.
  void ConfirmSoon();

 private:
  struct Pending {
    std::string command;
    Dependency client;
    ReplicatedLog::SubmitDone done;  // none for a no-op
  };
  struct PendingRead {
    Dependency client;
    ReplicatedLog::ReadDone done;
  };

  void Enqueue(Pending pending);
  void StartRound();
  void NextRound();
  void AppendPending();
  Round NameRound(EntryIndex first);
  void ConfirmReads();

  ReplicaState& state_;
  Elections& elections_;
  Leadership& leadership_;
  CatchUp& catch_up_;
  Commits& commits_;
  SaucrHooks& hooks_;
  std::vector<Pending> pending_;    // accepted, not in the log yet
  std::vector<PendingRead> reads_;  // that wait for the next confirmation
  bool round_starting_ = false;     // the coroutine of the next round has not run yet
};

}  // namespace depfast::saucr
