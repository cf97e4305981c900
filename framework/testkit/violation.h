// The sentence that reports a violated invariant. Checkers write it, and reports print it. The
// search for a shorter schedule and the grader read it.
#pragma once

#include <string>

#include "depfast/time.h"

namespace depfast::testkit {

// "NAME violated at 0.5 s: WHAT (RULE)". `rule`: where the handout or the contract states the rule,
// such as "rule 4 of lab 2's handout"; the students of a hidden test are shown NAME and RULE alone.
std::string ViolationSentence(const std::string& name, Time when, const std::string& what,
                              const std::string& rule);

// The NAME in a message that has such a sentence at the beginning of a line; empty if it has none.
std::string InvariantIn(const std::string& message);

// Tell the grader, by its sentence or its NAME, which rule the running test saw violated: one whose
// violation may lose or change data, which costs more points than the test's own, or another. A
// later call of the same function replaces an earlier one.
void RecordSafetyViolation(const std::string& violation);
void RecordOtherViolation(const std::string& violation);

}  // namespace depfast::testkit
