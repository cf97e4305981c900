// The service between clients, the Raft and the store (lab 3): it routes each command.
#pragma once

#include <functional>

#include "depfast/dependency.h"
#include "kv_messages.h"
#include "kv_store.h"
#include "raft.h"

namespace depfast::kv {

class KvService {
 public:
  using Done = std::function<void(const Reply&)>;

  // Both must outlive the service.
  KvService(raft::Raft& raft, KvStore& store) : raft_(raft), store_(store) {}

  // Executes the command if this replica leads. Calls `done` once with the reply: at once, or when
  // the command's outcome is known. `client` is the dependency of the client's request. Execute
  // never waits, and `done` must not wait either. `command` is valid only until Execute returns: a
  // later callback needs a copy.
  void Execute(const Command& command, const Dependency& client, Done done);

 private:
  raft::Raft& raft_;
  KvStore& store_;
};

}  // namespace depfast::kv
