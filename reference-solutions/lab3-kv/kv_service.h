// The service between clients, the replicated log and the store (lab 3). It sends each command to
// the log or to the store.
#pragma once

#include <functional>

#include "depfast/dependency.h"
#include "kv_messages.h"
#include "kv_store.h"
#include "replicated_log.h"

namespace depfast::kv {

class KvService {
 public:
  using Done = std::function<void(const Reply&)>;

  // Both must outlive the service.
  KvService(ReplicatedLog& log, KvStore& store) : log_(log), store_(store) {}

  // Executes the command if this replica is a proposer of the log. Calls `done` once with the
  // reply: at once, or when the outcome of the command is known. `client`: the request that the
  // command belongs to. Never waits; `done` must not wait, either. The command is gone when this
  // returns: a callback that needs it needs a copy.
  void Execute(const Command& command, const Dependency& client, Done done);

 private:
  void Read(const Command& command, const Dependency& client, Done done);
  void Write(const Command& command, const Dependency& client, Done done);

  ReplicatedLog& log_;
  KvStore& store_;
};

}  // namespace depfast::kv
