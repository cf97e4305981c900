// KvClient: sends commands to replicas until one executes them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "kv_errors.h"
#include "kv_messages.h"
#include "retrying_client.h"

namespace depfast::kv {

// "SET x 1", split at spaces.
Command Words(const std::string& line);

// The outcome of a command, as far as its client knows.
struct KvOutcome {
  // Nothing: it may have been executed, or may yet be.
  std::optional<Reply> reply;
  bool is_known() const { return reply.has_value(); }
};

class KvClient {
 public:
  using Options = ClientOptions;
  using Done = std::function<void(const KvOutcome&)>;

  KvClient(sim::Simulator& simulator, const Options& options);
  explicit KvClient(sim::Simulator& simulator)
      : KvClient(simulator, Options{.answer_timeout = 1500ms}) {}

  // Sends the command until a replica accepts it. Calls `done` once with the reply, or with nothing
  // if the outcome of the command is unknown. Gives up with a TRYAGAIN. A command whose outcome is
  // unknown is sent again if it only reads.
  void Execute(const Command& command, Done done);

  // Executes a command in a session, which may be sent again even if it may have been executed:
  // until `give_up` it is, at any replica. Requires: command is SESSION id seq ...
  void ExecuteInSession(const Command& command, Done done);

  // Sends it once, to one replica, which may pass it on.
  void Ask(PeerId replica, const Command& command, Done done);

  // The replica to be asked first. Requires: Options::targets is 1.
  void set_first(PeerId replica) { client_.set_target(replica); }

 private:
  struct JudgeReply {
    Judgement operator()(const std::optional<Reply>& reply) const;
    static KvRequest Addressed(const KvRequest& request, std::uint64_t name);
  };

  void Execute(const Command& command, bool repeatable, Done done);

  RetryingClient<KvRequest, JudgeReply> client_;
};

}  // namespace depfast::kv
