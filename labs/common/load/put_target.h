// PutTarget: a replicated store as a load generator sees it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "real/endpoint.h"

namespace depfast::load {

using Clock = std::chrono::steady_clock;

class PutTarget {
 public:
  struct Ended {
    std::uint64_t id;
    bool committed;
  };

  virtual ~PutTarget() = default;

  // Begins to put a value. `id` is new; it also picks the connection, in turn. The request may wait
  // for the next Await before it is sent, so that many requests share a system call.
  virtual void Start(std::uint64_t id, std::string_view key, std::string_view value) = 0;

  // Waits until a put ends or `until` has come, and adds the puts that have ended. A new leader
  // gets the puts that the old one has not answered, so a change costs time and no put. May return
  // earlier, with nothing. Throws std::exception when the measurement is lost: a replica answers
  // with an error.
  virtual void Await(Clock::time_point until, std::vector<Ended>& ended) = 0;

  // The number of times that the puts went to another replica than before.
  virtual int leader_changes() const { return 0; }
};

struct TargetOptions {
  std::vector<real::Endpoint> replicas;
  int connections = 1;  // to the leader
};

}  // namespace depfast::load
