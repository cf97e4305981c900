// The contract: the messages, and the function that you write.
#pragma once

#include <cstdint>

#include "depfast/host/frame.h"
#include "depfast/runtime.h"

namespace depfast::lab0 {

// A peer that has not answered by then does not count.
constexpr Duration kPatience = 200ms;

struct Pong {
  bool up = true;
  DEPFAST_FIELDS(up)
};

// From a replica to its peers.
struct Ping {
  using Reply = Pong;
  static constexpr MethodId kMethod = 1;
  static constexpr const char* kName = "Ping";
  bool please = true;
  DEPFAST_FIELDS(please)
};

struct Counted {
  std::int64_t replicas = 0;
  DEPFAST_FIELDS(replicas)
};

// From a client: the number of replicas that are up?
struct Count {
  using Reply = Counted;
  static constexpr MethodId kMethod = 2;
  static constexpr const char* kName = "Count";
  bool please = true;
  DEPFAST_FIELDS(please)
};

// The number of replicas that answer a Ping within kPatience, and this one. Runs in a coroutine.
std::int64_t CountReplicas(Runtime& runtime);

}  // namespace depfast::lab0
