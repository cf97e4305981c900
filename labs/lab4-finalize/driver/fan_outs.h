// Performs fan-outs with the Finalize it is compiled with.
#pragma once

#include "depfast/runtime.h"
#include "fan_out.h"

namespace depfast::lab4 {

// Returns at request.end_ns. Coroutines that have not ended then go on.
FanOutReports Perform(Runtime& runtime, const RunFanOuts& request);

// Answers a fan-out as planned. May wait; throws where the plan says so.
Answer Serve(Runtime& runtime, const Ask& ask);

}  // namespace depfast::lab4
