// KvAudit: a test's question whether a replica's snapshots hold its state. Given, not submitted:
// the driver answers it, and your code does not see it.
//
// The driver keeps a second KvStore in the process, the twin. At an audit it restores the snapshot
// of the audit before into the twin, then that of now. From then on the twin gets the same entries
// as the store. So the twin and the store must agree, in every reply and at the next audit.
#pragma once

#include <cstdint>
#include <msgpack.hpp>
#include <string>

#include "depfast/host/frame.h"

namespace depfast::kv {

struct KvAuditReply {
  std::uint64_t state = 0;  // a hash of the store's snapshot: the same on replicas of equal state
  std::string problem;      // the first disagreement, as a sentence; empty if there was none
  std::uint64_t bytes = 0;  // the length of the store's snapshot
  MSGPACK_DEFINE(state, problem, bytes)
};

struct KvAudit {
  using Reply = KvAuditReply;
  static constexpr MethodId kMethod = 17;
  static constexpr const char* kName = "KvAudit";

  std::uint64_t number = 0;  // any
  MSGPACK_DEFINE(number)
};

}  // namespace depfast::kv
