// The replicated log of lab 5 is the student's Copilot, with its log on disk.
#include <memory>

#include "copilot.h"
#include "replicated_log.h"
#include "rules_driver.h"

namespace depfast {

std::unique_ptr<ReplicatedLog> MakeReplicatedLog(Runtime& runtime, StateMachine& machine) {
  copilot::AnswerRuleQuestions(runtime.rpc());
  return std::make_unique<copilot::Copilot>(runtime, machine, copilot::Durability::kOnDisk);
}

}  // namespace depfast
