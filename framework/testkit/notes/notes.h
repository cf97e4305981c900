// The example of the handbook's page on the runtime: replicas that keep notes on their disks.
#pragma once

#include <string>

#include "depfast/host/codec.h"

namespace depfast::testkit {

// --8<-- [start:messages]
struct Done {
  bool done = false;
  DEPFAST_FIELDS(done)
};

// From a client to replica 0: keep this note.
struct Remember {
  using Reply = Done;
  static constexpr MethodId kMethod = 1;
  static constexpr const char* kName = "Remember";
  std::string note;
  DEPFAST_FIELDS(note)
};

// From replica 0 to the others: write this note to your disk.
struct Store {
  using Reply = Done;
  static constexpr MethodId kMethod = 2;
  static constexpr const char* kName = "Store";
  std::string note;
  DEPFAST_FIELDS(note)
};
// --8<-- [end:messages]

}  // namespace depfast::testkit
