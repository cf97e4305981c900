#include "safety.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "testkit/violation.h"

namespace depfast {

const char* ToString(Safety property) {
  static constexpr std::array kNames{
      "what is acknowledged is kept", "one vote per term",    "one value per entry", "equal states",
      "a promise is durable",         "reads see all writes", "a command runs once",
  };
  return kNames[static_cast<std::size_t>(property)];
}

const char* Unsafe(Safety property) {
  if (!testing::Test::HasFailure()) testkit::RecordSafetyViolation(ToString(property));
  return "";
}

}  // namespace depfast
