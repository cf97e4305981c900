// RpcError: why a call has no reply.
#pragma once

#include <cstdint>

namespace depfast {

enum class RpcError : std::uint32_t {
  kNone = 0,
  kTimedOut = 1,       // no answer within the call's timeout (made locally, never on the wire)
  kReleased = 2,       // the caller gave the call up (made locally, never on the wire)
  kUnknownMethod = 3,  // the peer has no handler for the method
  kMalformed = 4,      // the peer could not decode the request, or we its reply
  kRejected = 5,       // the handler threw
};

const char* ToString(RpcError error);

}  // namespace depfast
