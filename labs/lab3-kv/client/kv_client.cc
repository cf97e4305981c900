// Clients of the store, on a log with one proposer ("kv") or two ("kv-pair").
#include "kv_messages.h"
#include "protocol.h"

namespace depfast::load {
namespace {

using kv::KvRequest;
using kv::Reply;

// Any replica passes the command on to the leader.
std::optional<Json> AskStore(real::Client& client, const Words& words) {
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
    Asks().emplace("kv", AskStore).second && Asks().emplace("kv-pair", AskStore).second;

}  // namespace
}  // namespace depfast::load
