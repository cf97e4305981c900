// RaftClient: submits commands to whichever replica leads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "raft_messages.h"
#include "testkit/client.h"
#include "testkit/load.h"

namespace depfast::raft {

class RaftClient {
 public:
  struct Options {
    Duration answer_timeout = 1s;  // of one attempt
    Duration give_up = 5s;         // of a command
    Duration pause = 20ms;         // before asking again who leads
  };

  RaftClient(sim::Simulator& simulator, const Options& options);
  explicit RaftClient(sim::Simulator& simulator) : RaftClient(simulator, Options()) {}

  // Submits `command` until a leader accepts it, then calls `done` once: true if it has been
  // committed, false if its fate is unknown (the leader lost its term, or did not answer) or nobody
  // accepted it. An accepted command is never submitted twice.
  void Submit(std::string command, std::function<void(bool committed)> done);

  // An Operation for loads: each submits a distinct command of `bytes` bytes.
  testkit::Operation Commands(std::size_t bytes);

 private:
  void Try(const std::string& command, Time give_up, std::function<void(bool)> done);

  sim::Simulator& simulator_;
  Options options_;
  testkit::Client client_;
  PeerId leader_ = 0;  // where the next attempt goes
  std::uint64_t commands_ = 0;
};

// The `number`-th of a series of distinct commands, exactly `bytes` long (but at least as long as
// its number).
std::string CommandText(std::uint64_t number, std::size_t bytes);

}  // namespace depfast::raft
