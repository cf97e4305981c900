// The replicated log is Copilot, in memory as published.
#include <memory>

#include "copilot.h"
#include "replicated_log.h"

namespace depfast {

std::unique_ptr<ReplicatedLog> MakeReplicatedLog(Runtime& runtime, StateMachine& machine) {
  return std::make_unique<copilot::Copilot>(runtime, machine, copilot::Durability::kInMemory);
}

}  // namespace depfast
