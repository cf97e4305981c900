// Clients of a replicated log, with one proposer ("log") or two ("log-pair").
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

std::unique_ptr<PutTarget> Connect(const TargetOptions& options) {
  return ConnectWith(kDialect, options);
}

std::unique_ptr<PutTarget> ConnectBoth(const TargetOptions& options) {
  return ConnectToPair(kDialect, options);
}

std::optional<Json> Ask(real::Client& client, const Words& words) {
  std::string command;
  for (const auto& word : words) command += (command.empty() ? "" : " ") + word;
  const SubmitReply reply = Call(client, Submit{command});
  if (reply.status == SubmitStatus::kNotProposer) return std::nullopt;
  const bool committed = reply.status == SubmitStatus::kCommitted;
  return Json{{"replica", client.replica()},
              {"status", committed ? "committed" : "unknown"},
              {"index", reply.index}};
}

[[maybe_unused]] const bool kRegistered =
    RegisterProtocol("log", {Connect, Ask}) && RegisterProtocol("log-pair", {ConnectBoth, Ask});

}  // namespace
}  // namespace depfast::load
