// The lab that the test kit is tested with: a replica that answers, keeps quiet or differs.
#pragma once

#include <cstdint>
#include <string>

#include "depfast/host/frame.h"

namespace depfast::testkit {

struct SampleReply {
  std::string text;
  MSGPACK_DEFINE(text)
};

// Answered with the same text.
struct Say {
  using Reply = SampleReply;
  static constexpr MethodId kMethod = 1;
  static constexpr const char* kName = "Say";
  std::string text;
  MSGPACK_DEFINE(text)
};

// Never answered.
struct Ignore {
  using Reply = SampleReply;
  static constexpr MethodId kMethod = 2;
  static constexpr const char* kName = "Ignore";
  MSGPACK_DEFINE()
};

// Answered with an error.
struct Refuse {
  using Reply = SampleReply;
  static constexpr MethodId kMethod = 3;
  static constexpr const char* kName = "Refuse";
  MSGPACK_DEFINE()
};

// Makes the replica observe where it is in memory.
struct Confess {
  using Reply = SampleReply;
  static constexpr MethodId kMethod = 4;
  static constexpr const char* kName = "Confess";
  MSGPACK_DEFINE()
};

// Answered with a body that does not fit the reply.
struct Garble {
  using Reply = SampleReply;
  static constexpr MethodId kMethod = 5;
  static constexpr const char* kName = "Garble";
  MSGPACK_DEFINE()
};

}  // namespace depfast::testkit
