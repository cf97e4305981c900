// RaftLoad: clients in threads of their own that submit many commands at once to the leader,
// without a pause.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "raft_cluster.h"

namespace depfast::raft {

// A command that a client knows to be committed, and its index. A client submits each command once,
// even if its outcome is unknown: no two submissions are equal.
struct Acknowledged {
  std::uint64_t index = 0;
  std::string command;  // see Abbreviated
};

// Stands for a command in little memory: tests keep hundreds of thousands, and some are long.
std::string Abbreviated(std::string_view command);

class RaftLoad {
 public:
  // Starts the clients. The cluster must outlive the load.
  RaftLoad(const RaftCluster& cluster, int clients);
  ~RaftLoad() { Stop(); }
  RaftLoad(const RaftLoad&) = delete;
  RaftLoad& operator=(const RaftLoad&) = delete;

  // Ends the clients. Calling it again does nothing.
  void Stop();

  // Waits until `count` more commands are acknowledged than were at the call. Returns whether that
  // happened before a deadline that only a failure reaches.
  bool AwaitMore(std::size_t count);

  // Moves the commands acknowledged since the last call to the end of `all`.
  void TakeInto(std::vector<Acknowledged>& all);

  // The replica that acknowledged the latest command.
  int leader() const { return leader_; }

 private:
  class Client;

  void Acknowledge(int replica, std::uint64_t index, std::string_view command);

  const RaftCluster& cluster_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> leader_{0};
  std::mutex mutex_;
  std::condition_variable grown_;
  std::size_t total_ = 0;            // under mutex_
  std::vector<Acknowledged> fresh_;  // under mutex_: since the last TakeInto
  std::vector<std::thread> threads_;
};

}  // namespace depfast::raft
