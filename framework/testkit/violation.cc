#include "testkit/violation.h"

#include <gtest/gtest.h>

#include <cstddef>

#include "testkit/history.h"

namespace depfast::testkit {
namespace {

constexpr const char* kViolatedAt = " violated at ";

}  // namespace

std::string ViolationSentence(const std::string& name, Time when, const std::string& what,
                              const std::string& rule) {
  return name + kViolatedAt + FormatTime(when) + ": " + what + " (" + rule + ")";
}

std::string InvariantIn(const std::string& message) {
  const std::size_t end = message.find(kViolatedAt);
  if (end == std::string::npos) return "";
  const std::size_t line = message.rfind('\n', end);
  const std::size_t begin = line == std::string::npos ? 0 : line + 1;
  return message.substr(begin, end - begin);
}

void RecordSafetyViolation(const std::string& violation) {
  testing::Test::RecordProperty("violated", violation);
}

void RecordOtherViolation(const std::string& violation) {
  testing::Test::RecordProperty("broken", violation);
}

}  // namespace depfast::testkit
