// Answers questions to the rules that it is compiled with.
#pragma once

#include "depfast/rpc.h"

namespace depfast::saucr {

// Registers the handlers of rule_questions.h.
void AnswerRuleQuestions(Rpc& rpc);

}  // namespace depfast::saucr
