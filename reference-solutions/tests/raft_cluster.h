// RaftCluster: the reference Raft as processes, or the program that the environment variable
// RAFT_PROGRAM names: a mutant built by hand.
#pragma once

#include <string>

#include "raft_wal.h"
#include "replica_cluster.h"

namespace depfast::raft {

class RaftCluster : public real::ReplicaCluster {
 public:
  explicit RaftCluster(int replicas)
      : ReplicaCluster(real::FromEnvironment("RAFT_PROGRAM", LAB2_REAL), {.replicas = replicas}) {}

  std::string WalPath(int id) const { return DataPath(id) + "/" + kWalFile; }
};

}  // namespace depfast::raft
