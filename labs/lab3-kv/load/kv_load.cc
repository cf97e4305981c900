// Loads of the store, on a log with one proposer ("kv") or two ("kv-pair"). A put is a SET.
#include <cstdint>

#include "frame_target.h"
#include "kv_errors.h"
#include "kv_messages.h"
#include "protocol.h"

namespace depfast::load {
namespace {

using kv::KvRequest;
using kv::Reply;

std::string EncodePut(CallId call, const Dependency& client, std::string_view key,
                      std::string_view value) {
  return Encode(call, client, KvRequest{{"SET", std::string(key), std::string(value)}, 0});
}

// A put that a proposer forwards: its receiver executes it, and passes it on to nobody.
std::string EncodeForwardedPut(CallId call, const Dependency& client, std::string_view key,
                               std::string_view value) {
  return Encode(call, client, KvRequest{{"SET", std::string(key), std::string(value)}, client.id});
}

// A command that seems to be forwarded goes no further: only the leader serves it. Its number must
// be new to the replica.
std::string EncodeProbe() {
  const auto number = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  return Encode(1, KvRequest{{"GET", "who leads?"}, number});
}

std::optional<PutOutcome> OutcomeIn(std::string_view body) {
  std::string error;
  const auto reply = DecodeBody<Reply>(body, error);
  if (!reply) return std::nullopt;
  if (kv::HasCode(*reply, "TRYAGAIN")) return PutOutcome::kNotLeader;
  return reply->kind == Reply::Kind::kError ? PutOutcome::kUnknown : PutOutcome::kCommitted;
}

std::unique_ptr<PutTarget> ConnectToOne(const TargetOptions& options) {
  return ConnectWith({EncodePut, EncodeProbe, OutcomeIn}, options);
}

std::unique_ptr<PutTarget> ConnectToBoth(const TargetOptions& options) {
  return ConnectToPair({EncodeForwardedPut, EncodeProbe, OutcomeIn}, options);
}

[[maybe_unused]] const bool kRegistered = Connects().emplace("kv", ConnectToOne).second &&
                                          Connects().emplace("kv-pair", ConnectToBoth).second;

}  // namespace
}  // namespace depfast::load
