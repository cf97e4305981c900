// The replicated log of labs 2 and 3 is the student's Raft.
#include <memory>

#include "raft.h"
#include "replicated_log.h"

namespace depfast {

std::unique_ptr<ReplicatedLog> MakeReplicatedLog(Runtime& runtime, StateMachine& machine) {
  return std::make_unique<raft::Raft>(runtime, machine);
}

}  // namespace depfast
