// adr_detectors: a measured run with the replicas in this process, beside an operator. It does
// nothing without an accusation.
#include <map>
#include <memory>
#include <string>

#include "measurement.h"
#include "operator.h"
#include "program.h"
#include "subject.h"
#include "testkit/crash_report.h"
#include "testkit/environment.h"
#include "testkit/recorder.h"

namespace depfast::adr {
namespace {

MakeSubject WithOperator(const MakeSubject& make) {
  return [make](sim::Simulator& simulator, testkit::History& history, const ClientLoad& load) {
    Subject subject = make(simulator, history, load);  // its checker sees each step first
    simulator.AddObserver(std::make_unique<Operator>(simulator));
    return subject;
  };
}

measure::RunResult RunWithOperator(const measure::RunOptions& options) {
  testkit::InstallCrashReport();
  testkit::TheEnvironment().seed = options.seed;
  const auto recorder = testkit::Recorder::IfWanted(options.record);
  return measure::Measurement(options, testkit::ReplicasUnderTest(recorder.get()),
                              WithOperator(MeasuredSubjects().at(options.mix)), recorder.get())
      .Run();
}

}  // namespace
}  // namespace depfast::adr

int main(int argc, char** argv) {
  return depfast::measure::RunProgram(argc, argv, depfast::adr::RunWithOperator);
}
