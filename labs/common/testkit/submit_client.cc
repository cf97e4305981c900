#include "submit_client.h"

#include <utility>

namespace depfast {

void SubmitClient::Submit(std::string command, std::function<void(bool)> done) {
  client_.Execute({std::move(command)}, /*repeatable=*/false,
                  [done = std::move(done)](CommandOutcome outcome, const auto&) {
                    done(outcome == CommandOutcome::kKnown);
                  });
}

Judgement SubmitClient::JudgeReply::operator()(const std::optional<SubmitReply>& reply) const {
  if (!reply) return {};
  switch (reply->status) {
    case SubmitStatus::kCommitted:
      return {CommandOutcome::kKnown, kNobody};
    case SubmitStatus::kNotProposer:
      return {CommandOutcome::kRefused, reply->proposer};
    case SubmitStatus::kUnknown:
      break;
  }
  return {CommandOutcome::kUnknown, reply->proposer};
}

testkit::Operation SubmitClient::Commands(std::size_t bytes) {
  return [this, bytes](std::function<void(bool)> done) {
    Submit(CommandText(++commands_, bytes), std::move(done));
  };
}

std::string CommandText(std::uint64_t number, std::size_t bytes) {
  std::string text = "command " + std::to_string(number) + " ";
  if (text.size() < bytes) text.resize(bytes, 'x');
  return text;
}

}  // namespace depfast
