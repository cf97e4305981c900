// Clients of a replicated log, with one proposer ("log") or two ("log-pair").
#include "protocol.h"
#include "submit.h"

namespace depfast::load {
namespace {

std::optional<Json> AskLog(real::Client& client, const Words& words) {
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
    Asks().emplace("log", AskLog).second && Asks().emplace("log-pair", AskLog).second;

}  // namespace
}  // namespace depfast::load
