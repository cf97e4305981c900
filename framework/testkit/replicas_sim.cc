// For `_sim` binaries: replicas in this process, made by the MakeService that is linked in.
#include <stdexcept>
#include <string>
#include <utility>

#include "depfast/host/service.h"
#include "sim/step_host.h"
#include "testkit/crash_report.h"
#include "testkit/endless_step.h"
#include "testkit/environment.h"

namespace depfast::testkit {

sim::BackendFactory ReplicasUnderTest(RuntimeProbe* probe, const NoteSink& notes) {
  return EndingEndlessSteps(sim::InProcessReplicas(MakeService, probe, notes));
}

std::string TwinsOfThisTest() { return ""; }

void CheckEnvironment(const Environment& environment) {
  if (!environment.replica.empty()) {
    throw std::invalid_argument("--replica is for sealed test binaries; this one links its own");
  }
  if (environment.twin != 0) {
    throw std::invalid_argument("--twin is for sealed test binaries");
  }
  InstallCrashReport();
}

}  // namespace depfast::testkit
