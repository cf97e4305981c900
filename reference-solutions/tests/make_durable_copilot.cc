// The replicated log of lab 5 is the student's Copilot, on disks.
#include <memory>

#include "copilot.h"
#include "replicated_log.h"

namespace depfast {

std::unique_ptr<ReplicatedLog> MakeReplicatedLog(Runtime& runtime, StateMachine& machine) {
  return std::make_unique<copilot::Copilot>(runtime, machine, copilot::Durability::kOnDisk);
}

}  // namespace depfast
