// Loads of a replicated log, with one proposer ("log") or two ("log-pair").
#include "frame_target.h"
#include "protocol.h"
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

constexpr Dialect kDialect = {EncodePut, EncodeProbe, OutcomeIn};

std::unique_ptr<PutTarget> ConnectToOne(const TargetOptions& options) {
  return ConnectWith(kDialect, options);
}

std::unique_ptr<PutTarget> ConnectToBoth(const TargetOptions& options) {
  return ConnectToPair(kDialect, options);
}

[[maybe_unused]] const bool kRegistered = Connects().emplace("log", ConnectToOne).second &&
                                          Connects().emplace("log-pair", ConnectToBoth).second;

}  // namespace
}  // namespace depfast::load
