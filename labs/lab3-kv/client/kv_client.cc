// Clients of the store, on a log with one proposer ("kv") or two ("kv-pair"). A put is a SET.
#include <cstdint>

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

std::unique_ptr<PutTarget> Connect(const TargetOptions& options) {
  return ConnectWith({EncodePut, EncodeProbe, OutcomeIn}, options);
}

std::unique_ptr<PutTarget> ConnectBoth(const TargetOptions& options) {
  return ConnectToPair({EncodeForwardedPut, EncodeProbe, OutcomeIn}, options);
}

// Any replica passes the command on to the leader.
std::optional<Json> Ask(real::Client& client, const Words& words) {
  constexpr const char* kKinds[] = {"nil", "status", "integer", "string", "array", "error"};
  const Reply reply = Call(client, KvRequest{words, 0});
  auto items = Json::array();
  for (const auto& item : reply.items) items.push_back(item ? Json(*item) : Json());
  return Json{{"replica", client.replica()},
              {"status", kKinds[static_cast<std::size_t>(reply.kind)]},
              {"integer", reply.integer},
              {"text", reply.text},
              {"items", std::move(items)}};
}

[[maybe_unused]] const bool kRegistered =
    RegisterProtocol("kv", {Connect, Ask}) && RegisterProtocol("kv-pair", {ConnectBoth, Ask});

}  // namespace
}  // namespace depfast::load
