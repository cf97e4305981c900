// KvClient: sends commands to replicas, keeps asking until one executes them, and writes down what
// a checker of linearizability wants to know.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "kv_errors.h"
#include "kv_messages.h"
#include "testkit/client.h"

namespace depfast::kv {

// "SET x 1", split at spaces.
Command Words(const std::string& line);

// What a client learned of a command's fate.
struct KvOutcome {
  // Nothing: it may have been executed, or may yet be.
  std::optional<Reply> reply;
  bool is_known() const { return reply.has_value(); }
};

class KvClient {
 public:
  struct Options {
    Duration answer_timeout = 1500ms;  // of one attempt
    Duration give_up = 5s;             // of a command
    Duration pause = 20ms;             // before the next attempt
  };
  using Done = std::function<void(const KvOutcome&)>;

  KvClient(sim::Simulator& simulator, const Options& options);
  explicit KvClient(sim::Simulator& simulator) : KvClient(simulator, Options()) {}

  // Sends the command until a replica accepts it, and calls `done` once: with the reply, or with
  // nothing if its outcome is unknown. Gives up with a TRYAGAIN. A command whose outcome is unknown
  // is sent again if it only reads.
  void Execute(const Command& command, Done done);

  // The same for a command in a session, which may be sent again whatever became of it: until
  // `give_up` it is, at whichever replica. Requires: command is SESSION id seq ...
  void ExecuteInSession(const Command& command, Done done);

  // Sends it once, to one replica, which passes it on if it likes to.
  void Ask(PeerId replica, const Command& command, Done done);

  // The replica to be asked first.
  void set_first(PeerId replica) { next_ = replica; }

 private:
  void Try(const Command& command, Time give_up, bool retry_unknown, Done done);

  sim::Simulator& simulator_;
  Options options_;
  testkit::Client client_;
  PeerId next_ = 0;  // where the next attempt goes
};

}  // namespace depfast::kv
