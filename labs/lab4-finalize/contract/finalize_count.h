// The calls that a replica has given to Finalize, for tests.
#pragma once

#include <cstdint>
#include <msgpack.hpp>

#include "depfast/host/frame.h"

namespace depfast::lab4 {

struct FinalizeCount {
  std::uint64_t calls = 0;  // of all fan-outs, since the replica's start
  MSGPACK_DEFINE(calls)
};

// The driver answers it.
struct CountFinalize {
  using Reply = FinalizeCount;
  static constexpr MethodId kMethod = 104;
  static constexpr const char* kName = "CountFinalize";
  bool all = true;  // a request has a field
  MSGPACK_DEFINE(all)
};

}  // namespace depfast::lab4
