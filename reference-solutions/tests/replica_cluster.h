// ReplicaCluster: replicas of one program as processes with sockets and disks on the loopback, to
// be killed and started again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "process.h"
#include "real/descriptor.h"
#include "real/endpoint.h"
#include "support.h"

namespace depfast::real {

// The environment variable of that name, or `otherwise` without one.
std::string FromEnvironment(const char* name, const std::string& otherwise);
std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise);

class ReplicaCluster {
 public:
  struct Options {
    int replicas = 3;
    bool redis = false;   // each replica has a port for Redis clients, too
    bool faults = false;  // each replica reads its faults from FaultsPath
  };

  // In the replicas' data directories.
  static constexpr const char* kName = "test";

  // Starts all replicas, without data. They end with the object.
  ReplicaCluster(std::string program, const Options& options);

  int size() const { return static_cast<int>(replicas_.size()); }

  // Requires: the replica was killed. Its data are those at its death.
  void Start(int id);
  // SIGKILL to all of them, then waits for their ends.
  void Kill(const std::vector<int>& ids);
  // A power cut: as Kill, and the disks lose what was not synced.
  void CutPower(const std::vector<int>& ids);
  // SIGSTOP or SIGCONT. Requires: the replica runs.
  void Signal(int id, int number) const { At(id).process->Signal(number); }
  // Waits until the replica ends by itself, and returns its exit status.
  int AwaitEnd(int id);

  // The most memory that the replica has used since its start. Requires: the replica runs.
  std::size_t PeakBytes(int id) const;

  // Any thread may call this.
  bool Runs(int id) const { return At(id).runs; }
  const Endpoint& endpoint(int id) const { return At(id).port.endpoint; }
  // Requires: `redis` is set in the options.
  const Endpoint& redis_endpoint(int id) const { return At(id).redis->endpoint; }

  std::string DataPath(int id) const { return temp_ / ("data" + std::to_string(id)); }
  std::string FaultsPath(int id) const { return temp_ / ("faults" + std::to_string(id)); }
  // The replica's output on stderr since its latest start.
  std::string LogOf(int id) const { return Contents(LogPath(id)); }

 private:
  // Listens while the replica is down, too, so that nobody else gets the port. A client that
  // connects meanwhile is not greeted.
  struct Port {
    Port();
    Descriptor listener;
    Endpoint endpoint;
  };
  struct Replica {
    Port port;
    std::optional<Port> redis;
    std::optional<Process> process;
    std::atomic<bool> runs{false};
  };

  // The flags of each start.
  std::vector<std::string> Flags(int id) const;
  // Makes the data directory of the replica's first life.
  void Format(int id);
  Replica& At(int id) { return replicas_[static_cast<std::size_t>(id)]; }
  const Replica& At(int id) const { return replicas_[static_cast<std::size_t>(id)]; }
  std::string LogPath(int id) const { return temp_ / ("log" + std::to_string(id)); }

  const std::string program_;
  const bool with_faults_;
  TempDir temp_;
  std::string peers_;  // all endpoints, as --peers wants them
  std::deque<Replica> replicas_;
};

}  // namespace depfast::real
