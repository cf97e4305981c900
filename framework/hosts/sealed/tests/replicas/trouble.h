// The request that a bad replica obeys. Until then it echoes.
#pragma once

#include <string>

#include "depfast/host/codec.h"
#include "support/echo.h"

namespace depfast::sealed_tests {

struct MakeTrouble {
  using Reply = TextReply;
  static constexpr MethodId kMethod = 2;
  static constexpr const char* kName = "MakeTrouble";
  std::string kind;  // a name in trouble.cc
  DEPFAST_FIELDS(kind)
};

}  // namespace depfast::sealed_tests
