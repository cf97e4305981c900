// For `_sealed` binaries: each replica is a process running the program given by --replica.
#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "sealed/sealed_backend.h"
#include "testkit/environment.h"

namespace depfast::testkit {
namespace {

// Shared by all replicas of a test.
std::shared_ptr<sealed::TwinVerdict>& Twins() {
  static auto twins = std::make_shared<sealed::TwinVerdict>();
  return twins;
}

}  // namespace

sim::BackendFactory ReplicasUnderTest(RuntimeProbe*) {
  sealed::SealedOptions options;
  options.program = TheEnvironment().replica;
  options.perturb = TheEnvironment().perturb;
  options.twin_perturb = TheEnvironment().twin;
  if (options.twin_perturb != 0 && !TheEnvironment().rehearsal) options.twins = Twins();
  return sealed::SealedReplicas(options);
}

std::string TwinsOfThisTest() {
  if (TheEnvironment().twin == 0) return "";
  return sealed::InWords(*std::exchange(Twins(), std::make_shared<sealed::TwinVerdict>()));
}

void CheckEnvironment(const Environment& environment) {
  if (environment.replica.empty()) {
    throw std::invalid_argument("--replica=PATH is missing: the program of a sealed replica");
  }
  if (access(environment.replica.c_str(), X_OK) != 0) {
    throw std::invalid_argument("--replica=" + environment.replica + " is not a program");
  }
}

}  // namespace depfast::testkit
