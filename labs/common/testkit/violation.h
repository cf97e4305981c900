// The sentence that reports a violated rule. Checkers write it, reports print it, the grader reads
// it.
#pragma once

#include <string>

#include "depfast/time.h"

namespace depfast {

// "NAME violated at 0.5 s: WHAT (RULE)". `rule`: where the handout or the contract states the rule,
// such as "rule 4 of lab 2's handout"; the students of a hidden test are shown NAME and RULE alone.
std::string ViolationSentence(const std::string& name, Time when, const std::string& what,
                              const std::string& rule);

// Tell the grader, by its sentence, which rule the running test saw violated: one whose violation
// may lose or change data, which costs more points than the test's own, or another one. A later
// call of the same function replaces an earlier one.
void RecordSafetyViolation(const std::string& violation);
void RecordOtherViolation(const std::string& violation);

}  // namespace depfast
