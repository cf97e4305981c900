// The echo service: the service of replicas in tests and benchmarks of the framework.
#pragma once

#include <string>

#include "depfast/host/codec.h"
#include "depfast/rpc.h"

namespace depfast {

struct TextReply {
  std::string text;
  DEPFAST_FIELDS(text)
};

// Answered with the same text.
struct Echo {
  using Reply = TextReply;
  static constexpr MethodId kMethod = 1;
  static constexpr const char* kName = "Echo";
  std::string text;
  DEPFAST_FIELDS(text)
};

// A request without a body: tests derive one for each thing that a replica should do.
template <MethodId id>
struct EmptyRequest {
  using Reply = TextReply;
  static constexpr MethodId kMethod = id;
  DEPFAST_FIELDS()
};

// Each call runs in a coroutine of its own.
inline void ServeEcho(Rpc& rpc) {
  rpc.Handle<Echo>([](PeerId, const Echo& echo) { return TextReply{echo.text}; });
}

}  // namespace depfast
