// Puts to the kit's replicas: how a lab encodes its messages, and a target that sends them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "depfast/host/frame.h"
#include "put_target.h"

namespace depfast::load {

enum class PutOutcome { kCommitted, kNotLeader, kUnknown };

// How a lab encodes its messages. No member is null.
struct Dialect {
  // A request to put a value, as a frame.
  std::string (*encode_put)(CallId call, std::string_view key, std::string_view value);
  // A request that is kCommitted by the leader only.
  std::string (*encode_probe)();
  // The result in the body of a reply; nothing if the body is malformed.
  std::optional<PutOutcome> (*outcome_in)(std::string_view body);
};

// A client's request, as a frame.
template <typename Request>
std::string Encode(CallId call, const Request& request) {
  return EncodeFrame({FrameKind::kRequest, Request::kMethod, call, Dependency::Client(call)},
                     request);
}

// Looks for the leader, and connects to it. Throws std::exception if none is found in 10 s.
std::unique_ptr<PutTarget> ConnectWith(const Dialect& dialect, const TargetOptions& options);

}  // namespace depfast::load
