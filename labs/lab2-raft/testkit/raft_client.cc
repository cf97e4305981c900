#include "raft_client.h"

#include <utility>

namespace depfast::raft {

RaftClient::RaftClient(sim::Simulator& simulator, const Options& options)
    : simulator_(simulator), options_(options), client_(simulator) {}

void RaftClient::Submit(std::string command, std::function<void(bool)> done) {
  Try(command, simulator_.now() + options_.give_up, std::move(done));
}

void RaftClient::Try(const std::string& command, Time give_up, std::function<void(bool)> done) {
  for (int i = 0; i < simulator_.replicas() && !simulator_.IsUp(leader_); ++i) {
    leader_ = (leader_ + 1) % simulator_.replicas();  // connection refused
  }
  const PeerId asked = leader_;
  client_.Call(asked, raft::Submit{command}, options_.answer_timeout,
               [this, command, give_up, asked,
                done = std::move(done)](const std::optional<SubmitReply>& reply) mutable {
                 if (reply && reply->status == SubmitStatus::kCommitted) {
                   done(true);
                   return;
                 }
                 const bool hint = reply && reply->leader >= 0 && reply->leader != asked &&
                                   reply->leader < simulator_.replicas();
                 if (leader_ == asked) {  // else an other command has found out more by now
                   leader_ = hint ? reply->leader : (asked + 1) % simulator_.replicas();
                 }
                 const bool not_accepted = reply && reply->status == SubmitStatus::kNotLeader;
                 if (!not_accepted || simulator_.now() + options_.pause >= give_up) {
                   done(false);
                   return;
                 }
                 simulator_.At(simulator_.now() + options_.pause,
                               [this, command, give_up, done = std::move(done)]() mutable {
                                 Try(command, give_up, std::move(done));
                               });
               });
}

testkit::Operation RaftClient::Commands(std::size_t bytes) {
  return [this, bytes](std::function<void(bool)> done) {
    Submit(CommandText(++commands_, bytes), std::move(done));
  };
}

std::string CommandText(std::uint64_t number, std::size_t bytes) {
  std::string text = "command " + std::to_string(number) + " ";
  if (text.size() < bytes) text.resize(bytes, 'x');
  return text;
}

}  // namespace depfast::raft
