#include "violation.h"

#include <gtest/gtest.h>

#include "testkit/history.h"

namespace depfast {

std::string ViolationSentence(const std::string& name, Time when, const std::string& what,
                              const std::string& rule) {
  return name + " violated at " + testkit::FormatTime(when) + ": " + what + " (" + rule + ")";
}

void RecordSafetyViolation(const std::string& violation) {
  testing::Test::RecordProperty("violated", violation);
}

void RecordOtherViolation(const std::string& violation) {
  testing::Test::RecordProperty("broken", violation);
}

}  // namespace depfast
