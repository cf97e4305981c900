// RaftSituations: whether a run has had the situations that Raft's rules are about. An exploration
// counts them: a rule whose situation never comes up was not tested.
#pragma once

#include <cstdint>
#include <vector>

#include "raft_checker.h"
#include "raft_observations.h"
#include "raft_wal.h"
#include "sim/observer.h"
#include "sim/simulator.h"

namespace depfast::raft {

class RaftSituations : private sim::Observer {
 public:
  // Watches `simulator` from now on. Requires: called before its first event; outlives it, as
  // `checker` does.
  RaftSituations(sim::Simulator& simulator, const RaftChecker& checker);
  RaftSituations(const RaftSituations&) = delete;
  RaftSituations& operator=(const RaftSituations&) = delete;

  bool a_vote_denied() const { return checker_.elections().situations().votes_denied > 0; }
  bool a_pre_vote_under_a_leader() const {
    return checker_.elections().situations().pre_votes_under_a_leader > 0;
  }
  // A leader claimed another role, and had not crashed.
  bool a_leader_deposed() const { return leader_deposed_; }
  // A candidate claimed another role than leader, or a later term.
  bool a_campaign_lost() const { return campaign_lost_; }
  // A replica wrote entries at indexes of other entries.
  bool a_log_overwritten() const { return log_overwritten_; }
  // A replica crashed before its writes had reached the disk.
  bool a_write_unfinished() const { return write_unfinished_; }

 private:
  struct Replica {
    std::uint64_t term = 0;
    Role role = Role::kFollower;
    std::uint64_t generation = 0;  // of the log's file, as far as read
    std::size_t bytes_read = 0;
    WalState wal;
  };

  void OnStep(PeerId replica, const sim::StepInput& input, const sim::StepOutput& output) override;
  void OnDisk(PeerId replica, Time now, const sim::SimDisk& disk) override;
  void OnFaultBegins(Time now, const faults::Fault& fault) override;
  void OnRestart(PeerId replica, Time now) override;

  void OnRole(Replica& replica, std::uint64_t term, Role role);

  const sim::Simulator& simulator_;
  const RaftChecker& checker_;
  std::vector<Replica> replicas_;
  bool leader_deposed_ = false;
  bool campaign_lost_ = false;
  bool log_overwritten_ = false;
  bool write_unfinished_ = false;
};

}  // namespace depfast::raft
