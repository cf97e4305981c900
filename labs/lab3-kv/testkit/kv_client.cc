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

KvClient::KvClient(sim::Simulator& simulator, const Options& options)
    : simulator_(simulator), options_(options), client_(simulator) {}

void KvClient::Execute(const Command& command, Done done) {
  const CommandForm* const form = command.empty() ? nullptr : FindCommand(command[0]);
  const bool reads = form != nullptr && form->reads;
  Try(command, simulator_.now() + options_.give_up, /*retry_unknown=*/reads, std::move(done));
}

void KvClient::ExecuteInSession(const Command& command, Done done) {
  Try(command, simulator_.now() + options_.give_up, /*retry_unknown=*/true, std::move(done));
}

void KvClient::Ask(PeerId replica, const Command& command, Done done) {
  client_.Call(replica, KvRequest{command, 0}, options_.answer_timeout,
               [done = std::move(done)](std::optional<Reply> reply) {
                 if (reply && HasCode(*reply, "UNKNOWN")) reply.reset();
                 done({std::move(reply)});
               });
}

void KvClient::Try(const Command& command, Time give_up, bool retry_unknown, Done done) {
  for (int i = 0; i < simulator_.replicas() && !simulator_.IsUp(next_); ++i) {
    next_ = (next_ + 1) % simulator_.replicas();  // connection refused
  }
  const PeerId asked = next_;
  Ask(asked, command,
      [this, asked, command, give_up, retry_unknown,
       done = std::move(done)](const KvOutcome& outcome) mutable {
        const bool refused = outcome.is_known() && HasCode(*outcome.reply, "TRYAGAIN");
        const bool over = simulator_.now() + options_.pause >= give_up;
        const bool again = !over && (refused || (retry_unknown && !outcome.is_known()));
        if (next_ == asked && (refused || !outcome.is_known())) {
          next_ = (asked + 1) % simulator_.replicas();
        }
        if (!again) {
          done(outcome);
          return;
        }
        simulator_.At(simulator_.now() + options_.pause,
                      [this, command, give_up, retry_unknown, done = std::move(done)]() mutable {
                        Try(command, give_up, retry_unknown, std::move(done));
                      });
      });
}

}  // namespace depfast::kv
