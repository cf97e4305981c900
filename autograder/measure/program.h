// The main function of the programs that make one run of a measurement.
#pragma once

#include <functional>

#include "run_options.h"
#include "run_result.h"

namespace depfast::measure {

// Prints the result as one line of JSON, which failslow.measurement judges. Returns the exit
// status: 2, with a line that says why, if there is no run.
int RunProgram(int argc, const char* const* argv,
               const std::function<RunResult(const RunOptions&)>& run);

}  // namespace depfast::measure
