// RaftSituations: whether a run has had the situations that Raft's rules are about. Explorations
// and chaos tests count them: a rule whose situation never comes up was not tested.
#pragma once

#include <cstdint>
#include <vector>

#include "raft_checker.h"
#include "raft_observations.h"
#include "raft_wal.h"
#include "sim/observer.h"
#include "sim/simulator.h"
#include "testkit/situations.h"

namespace depfast::raft {

class RaftSituations : private sim::Observer {
 public:
  // Watches `simulator` from now on. Requires: called before its first event; outlives its last, as
  // `checker` does.
  RaftSituations(sim::Simulator& simulator, const RaftChecker& checker);
  RaftSituations(const RaftSituations&) = delete;
  RaftSituations& operator=(const RaftSituations&) = delete;

  // Those of elections, logs and disks.
  testkit::Situations Seen() const;
  // Those of snapshots, which short logs do not have.
  testkit::Situations SeenOfSnapshots() const;

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
  bool leader_deposed_ = false;    // a leader claimed another role, and had not crashed
  bool campaign_lost_ = false;     // a candidate claimed another role than leader, or a later term
  bool log_overwritten_ = false;   // a replica wrote entries at indexes of other entries
  bool write_unfinished_ = false;  // a replica crashed before its writes had reached the disk
  bool transfer_unfinished_ = false;  // a replica crashed that had a part of a snapshot
};

}  // namespace depfast::raft
