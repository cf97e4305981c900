// The request that a bad replica obeys. Until then it echoes.
#pragma once

#include <string>

#include "support/echo.h"

namespace depfast::sealed_tests {

struct MakeTrouble {
  using Reply = TextReply;
  static constexpr MethodId kMethod = 2;
  static constexpr const char* kName = "MakeTrouble";
  std::string kind;  // a name in trouble.cc
  MSGPACK_DEFINE(kind)
};

}  // namespace depfast::sealed_tests
