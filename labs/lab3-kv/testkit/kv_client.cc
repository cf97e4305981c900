#include "kv_client.h"

#include <sstream>
#include <utility>

#include "kv_commands.h"

namespace depfast::kv {

Command Words(const std::string& line) {
  std::istringstream stream(line);
  Command words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Judgement KvClient::JudgeReply::operator()(const std::optional<Reply>& reply) const {
  return {reply ? OutcomeIn(*reply) : CommandOutcome::kUnknown, kNobody};
}

KvRequest KvClient::JudgeReply::Addressed(const KvRequest& request, std::uint64_t name) {
  return {request.command, name};
}

KvClient::KvClient(sim::Simulator& simulator, const Options& options)
    : client_(simulator, options) {}

void KvClient::Execute(const Command& command, Done done) {
  const CommandForm* const form = command.empty() ? nullptr : FindCommand(command[0]);
  Execute(command, /*repeatable=*/form != nullptr && form->reads, std::move(done));
}

void KvClient::ExecuteInSession(const Command& command, Done done) {
  Execute(command, /*repeatable=*/true, std::move(done));
}

void KvClient::Execute(const Command& command, bool repeatable, Done done) {
  client_.Execute(
      {command, 0}, repeatable,
      [done = std::move(done)](CommandOutcome outcome, const std::optional<Reply>& reply) {
        done({outcome == CommandOutcome::kUnknown ? std::nullopt : reply});
      });
}

void KvClient::Ask(PeerId replica, const Command& command, Done done) {
  client_.Ask(replica, {command, 0}, [done = std::move(done)](const std::optional<Reply>& reply) {
    done({reply && OutcomeIn(*reply) != CommandOutcome::kUnknown ? reply : std::nullopt});
  });
}

}  // namespace depfast::kv
