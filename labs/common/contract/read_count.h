// ReadCount: a client's question for the number of commands that a replica's state machine has
// applied, and its reply. Given, not submitted: tests send these frames.
#pragma once

#include <cstdint>

#include "depfast/host/frame.h"

namespace depfast {

struct ReadCountReply {
  bool may_read = false;    // see ReplicatedLog::ReadIndex
  std::uint64_t count = 0;  // of the moment of the answer
  DEPFAST_FIELDS(may_read, count)
};

struct ReadCount {
  using Reply = ReadCountReply;
  static constexpr MethodId kMethod = 5;
  static constexpr const char* kName = "ReadCount";

  std::uint64_t number = 0;  // any
  DEPFAST_FIELDS(number)
};

}  // namespace depfast
