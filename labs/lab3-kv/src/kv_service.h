// The service between clients, the Raft and the store (lab 3): which command goes where.
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

  // Executes the command if this replica leads, and calls `done` once with the reply: at once, or
  // when its fate is known. `client` is on whose behalf. Never waits; `done` must not, either. The
  // command is gone when this returns: what comes later needs a copy.
  void Execute(const Command& command, const Dependency& client, Done done);

 private:
  raft::Raft& raft_;
  KvStore& store_;
};

}  // namespace depfast::kv
