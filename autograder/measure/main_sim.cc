// <lab>_measured_sim: the same run with the submission in this process, which `kit replay` draws.
//
// Options of sealed replicas have no effect.
#include <memory>

#include "measurement.h"
#include "program.h"
#include "subject.h"
#include "testkit/crash_report.h"
#include "testkit/environment.h"
#include "testkit/recorder.h"

namespace {

using namespace depfast;

measure::RunResult Run(const measure::RunOptions& options) {
  testkit::InstallCrashReport();
  testkit::TheEnvironment().seed = options.seed;
  const auto recorder = testkit::Recorder::IfWanted(options.record);
  return measure::Measurement(options, testkit::ReplicasUnderTest(recorder.get()),
                              MeasuredSubjects().at(options.mix), recorder.get())
      .Run();
}

}  // namespace

int main(int argc, char** argv) { return measure::RunProgram(argc, argv, Run); }
