// The message of the health exchange (health.h). Given, not submitted: tests read these frames.
#pragma once

#include "depfast/host/frame.h"
#include "levels.h"

namespace depfast::adr {

struct HealthAnswer {
  Levels levels;
  // A saturated replica has a queue of its own, which makes round trips to it long.
  bool is_saturated = false;
  DEPFAST_FIELDS(levels, is_saturated)
};

// Every replica asks every other, so each has the levels of all, and the round trips to all.
struct AskHealth {
  using Reply = HealthAnswer;
  static constexpr MethodId kMethod = 144;
  static constexpr const char* kName = "AskHealth";
  DEPFAST_FIELDS()
};

}  // namespace depfast::adr
