// For `_sealed` binaries: each replica is a process running the program given by --replica.
#include <unistd.h>

#include <stdexcept>

#include "sealed/sealed_backend.h"
#include "testkit/environment.h"

namespace depfast::testkit {

sim::BackendFactory ReplicasUnderTest(RuntimeProbe*) {
  sealed::SealedOptions options;
  options.program = TheEnvironment().replica;
  options.perturb = TheEnvironment().perturb;
  return sealed::SealedReplicas(options);
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
