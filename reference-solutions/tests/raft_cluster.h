// RaftCluster: a Raft as processes with sockets and disks on the loopback, to be killed and started
// again.
#pragma once

#include <atomic>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "process.h"
#include "real/descriptor.h"
#include "real/endpoint.h"
#include "support.h"

namespace depfast::raft {

class RaftCluster {
 public:
  // Starts all replicas, without data. They end with the object. They run the reference, or the
  // program that the environment variable RAFT_PROGRAM names: a mutant built by hand.
  explicit RaftCluster(int replicas);

  int size() const { return static_cast<int>(replicas_.size()); }

  // Requires: it was killed. Its data is as it left it.
  void Start(int id);
  // SIGKILL to all of them, then waits for their ends.
  void Kill(const std::vector<int>& ids);
  // Waits until it ends by itself, and returns its exit status.
  int AwaitEnd(int id);

  // Any thread may ask.
  bool Runs(int id) const { return At(id).runs; }
  const real::Endpoint& endpoint(int id) const { return At(id).endpoint; }

  std::string WalPath(int id) const;
  // What it said on stderr since its latest start.
  std::string LogOf(int id) const { return real::Contents(LogPath(id)); }

 private:
  struct Replica {
    // Listens while the replica is down, too, so that nobody else gets the port. Whoever connects
    // meanwhile is not greeted.
    real::Descriptor listener;
    real::Endpoint endpoint;
    std::optional<real::Process> process;
    std::atomic<bool> runs{false};
  };

  Replica& At(int id) { return replicas_[static_cast<std::size_t>(id)]; }
  const Replica& At(int id) const { return replicas_[static_cast<std::size_t>(id)]; }
  std::string DataPath(int id) const { return temp_ / ("data" + std::to_string(id)); }
  std::string LogPath(int id) const { return temp_ / ("log" + std::to_string(id)); }

  real::TempDir temp_;
  std::string peers_;  // all endpoints, as --peers wants them
  std::deque<Replica> replicas_;
};

}  // namespace depfast::raft
