// The words of a test's process when a replica's code crashes it: the replica, the time, the place.
//
// Replicas in simulation run in the test's own process. A fault of theirs ends it, and so does a
// failed assertion. The report has a line "stack:" with offsets into the program, which `kit` turns
// into lines of the student's files. Sanitizers report better: with them there is only the name of
// a coroutine whose stack has overflowed.
#pragma once

#include "depfast/peer.h"
#include "depfast/time.h"

namespace depfast::testkit {

// Handlers for the signals of a crash. They report, and let the signal kill the process as usual.
// Call once per process, from the thread that runs the simulator.
void InstallCrashReport();

// Marks a replica's step until the object's end. Requires: one at a time.
class StepUnderWay {
 public:
  StepUnderWay(PeerId replica, Time now);
  ~StepUnderWay();
  StepUnderWay(const StepUnderWay&) = delete;
  StepUnderWay& operator=(const StepUnderWay&) = delete;

  // The replica whose step is under way, or -1. Async-signal-safe.
  static PeerId replica();

  // Reports where the latest exception of this step was thrown, if there was one.
  static void ReportThrow();
};

// To stderr. Async-signal-safe.
void WriteNumber(std::int64_t number);

}  // namespace depfast::testkit
