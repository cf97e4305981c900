// Puts to a replicated log: lab 2's Raft, or lab 5's Copilot.
#include "frame_target.h"
#include "submit.h"

namespace depfast::load {
namespace {

std::string EncodePut(CallId call, const Dependency& client, std::string_view key,
                      std::string_view value) {
  Submit request;
  request.command.reserve(key.size() + value.size());
  request.command.append(key).append(value);
  return Encode(call, client, request);
}

std::string EncodeProbe() { return Encode(1, Submit{"who leads?"}); }

std::optional<PutOutcome> OutcomeIn(std::string_view body) {
  std::string error;
  const auto reply = DecodeBody<SubmitReply>(body, error);
  if (!reply) return std::nullopt;
  switch (reply->status) {
    case SubmitStatus::kCommitted:
      return PutOutcome::kCommitted;
    case SubmitStatus::kNotProposer:
      return PutOutcome::kNotLeader;
    case SubmitStatus::kUnknown:
      break;
  }
  return PutOutcome::kUnknown;
}

}  // namespace

std::unique_ptr<PutTarget> ConnectToRaft(const TargetOptions& options) {
  return ConnectWith({EncodePut, EncodeProbe, OutcomeIn}, options);
}

std::unique_ptr<PutTarget> ConnectToCopilot(const TargetOptions& options) {
  return ConnectToPair({EncodePut, EncodeProbe, OutcomeIn}, options);
}

}  // namespace depfast::load
