// The service between clients, the log and the store (lab 3): it routes each command.
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
  // reply: at once, or when the command's outcome is known. `client` is the dependency of the
  // client's request. Execute never waits, and `done` must not wait either. `command` is valid only
  // until Execute returns: a later callback needs a copy.
  void Execute(const Command& command, const Dependency& client, Done done);

 private:
  ReplicatedLog& log_;
  KvStore& store_;
};

}  // namespace depfast::kv
