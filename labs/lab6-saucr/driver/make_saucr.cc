// The replicated log of lab 6 is the student's Saucr. Answers the questions to its rules, too.
#include <memory>

#include "replicated_log.h"
#include "rules_driver.h"
#include "saucr.h"

namespace depfast {

std::unique_ptr<ReplicatedLog> MakeReplicatedLog(Runtime& runtime, StateMachine& machine) {
  saucr::AnswerRuleQuestions(runtime.rpc());
  return std::make_unique<saucr::Saucr>(runtime, machine);
}

}  // namespace depfast
