// The calls that a replica has given to Finalize, for tests.
#pragma once

#include <cstdint>

#include "depfast/host/frame.h"

namespace depfast::lab4 {

struct FinalizeCount {
  std::uint64_t calls = 0;  // of all fan-outs, since the replica's start
  DEPFAST_FIELDS(calls)
};

// The driver answers it.
struct CountFinalize {
  using Reply = FinalizeCount;
  static constexpr MethodId kMethod = 104;
  static constexpr const char* kName = "CountFinalize";
  bool all = true;  // a request has a field
  DEPFAST_FIELDS(all)
};

}  // namespace depfast::lab4
