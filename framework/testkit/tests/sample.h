// The lab that the test kit is tested with: a replica that echoes, keeps quiet or differs.
#pragma once

#include "depfast/host/frame.h"
#include "support/echo.h"

namespace depfast::testkit {

// Never answered.
struct Ignore : EmptyRequest<2> {
  static constexpr const char* kName = "Ignore";
};

// Answered with an error.
struct Refuse : EmptyRequest<3> {
  static constexpr const char* kName = "Refuse";
};

// Makes the replica observe where it is in memory.
struct Confess : EmptyRequest<4> {
  static constexpr const char* kName = "Confess";
};

// Answered with a body that does not fit the reply.
struct Garble : EmptyRequest<5> {
  static constexpr const char* kName = "Garble";
};

// Makes the replica answer the caller's call before this one, as if that had been an Ignore.
struct Forge : EmptyRequest<6> {
  static constexpr const char* kName = "Forge";
};

// Makes the replica note something.
struct Remark : EmptyRequest<7> {
  static constexpr const char* kName = "Remark";
};

}  // namespace depfast::testkit
