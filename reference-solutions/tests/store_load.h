// StoreLoad: clients of the key-value store in threads of their own, and the history of all that
// they asked and heard.
//
// Each client sends one command at a time, to any replica. It writes and reads a few keys that live
// for ever, and counts in a session on a key of the round. A command in the session is sent again
// until it is executed: each is executed once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "linearizability/linearizability.h"
#include "replica_cluster.h"

namespace depfast::kv {

class StoreLoad {
 public:
  // Starts the clients, whose choices follow `seed`. The cluster must outlive the load.
  StoreLoad(const real::ReplicaCluster& cluster, int clients, std::uint64_t seed);
  ~StoreLoad() { Stop(); }
  StoreLoad(const StoreLoad&) = delete;
  StoreLoad& operator=(const StoreLoad&) = delete;

  // Ends the clients. Calling it again does nothing.
  void Stop();

  // The key on which clients count from now on.
  void SetRound(std::uint64_t round) { round_ = round; }
  // Waits until `count` more commands are executed than were at the call. Returns whether that
  // happened before a deadline that only a failure reaches.
  [[nodiscard]] bool AwaitMore(std::size_t count);

  // All operations that may have been executed. Requires: stopped.
  const KvHistory& history() const { return history_; }
  std::size_t executed() const { return executed_; }

 private:
  class Client;

  void Take(KvOperation operation);

  const real::ReplicaCluster& cluster_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> round_{0};
  std::mutex mutex_;
  std::condition_variable grown_;
  KvHistory history_;         // under mutex_
  std::size_t executed_ = 0;  // under mutex_: the operations with an answer
  std::vector<std::thread> threads_;
};

// The time of histories.
Time StoreClock();

// Asks one replica. Nothing if no answer comes in time. Throws std::system_error if the connection
// fails. `forward_id`: see KvRequest.
std::optional<Reply> AskStore(const real::Endpoint& replica, const Command& command,
                              std::uint64_t forward_id = 0);

// Whether the replica answers a read. One that is down, or starts, or is out of service does not.
// `forward_id`: above 0, and another each time: only a proposer answers.
bool AnswersReads(const real::ReplicaCluster& cluster, int id, std::uint64_t forward_id = 0);

}  // namespace depfast::kv
