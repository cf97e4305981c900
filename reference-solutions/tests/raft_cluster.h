// RaftCluster: the reference Raft as processes, or the program that the environment variable
// RAFT_PROGRAM names: a mutant built by hand.
#pragma once

#include <stdlib.h>

#include <string>

#include "raft_wal.h"
#include "replica_cluster.h"

namespace depfast::raft {

class RaftCluster : public real::ReplicaCluster {
 public:
  explicit RaftCluster(int replicas) : ReplicaCluster(Program(), {.replicas = replicas}) {}

  std::string WalPath(int id) const { return DataPath(id) + "/" + kWalFile; }

 private:
  static std::string Program() {
    const char* other = getenv("RAFT_PROGRAM");
    return other != nullptr ? other : LAB2_REAL;
  }
};

}  // namespace depfast::raft
