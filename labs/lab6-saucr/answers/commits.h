// Commits: a replica applies what is committed, and tells those who wait for it.
#pragma once

#include <map>
#include <memory>

#include "depfast/value_event.h"
#include "replica_state.h"
#include "replicated_log.h"
#include "snapshots.h"
#include "state_machine.h"

namespace depfast::saucr {

class Commits {
 public:
  // All must outlive this.
  Commits(ReplicaState& state, StateMachine& machine, Snapshots& snapshots)
      : state_(state), machine_(machine), snapshots_(snapshots) {}

  // Applies all entries up to there. Requires: the log has them.
  void UpTo(EntryIndex index);

  // A client waits for the entry.
  void Await(EntryIndex index, ReplicatedLog::SubmitDone done) {
    waiting_[index] = std::move(done);
  }
  // A round is under way. Returns Round::is_over.
  std::shared_ptr<Event> BeginRound(EntryIndex last);
  void EndRound(EntryIndex last) { rounds_.erase(last); }
  std::size_t rounds() const { return rounds_.size(); }
  // This replica leads no longer: nobody knows what becomes of the entries. `leader`: as known.
  void GiveUp(PeerId leader);

 private:
  ReplicaState& state_;
  StateMachine& machine_;  // its state is that after entry commit_index
  Snapshots& snapshots_;
  std::map<EntryIndex, ReplicatedLog::SubmitDone> waiting_;  // in the log, not committed
  std::map<EntryIndex, std::shared_ptr<IntEvent>> rounds_;   // under way, by last entry
};

}  // namespace depfast::saucr
