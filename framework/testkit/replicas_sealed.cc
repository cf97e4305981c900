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

// The findings of the test under way.
std::shared_ptr<sealed::Findings>& TheFindings() {
  static auto findings = std::make_shared<sealed::Findings>();
  return findings;
}

}  // namespace

sim::BackendFactory ReplicasUnderTest(RuntimeProbe*, const NoteSink&) {
  sealed::SealedOptions options;
  options.program = TheEnvironment().replica;
  options.perturb = TheEnvironment().perturb;
  options.twin_perturb = TheEnvironment().dry_run ? 0 : TheEnvironment().twin;
  options.findings = TheFindings();
  return sealed::SealedReplicas(options);
}

std::string TwinsOfThisTest() {
  const auto found = std::exchange(TheFindings(), std::make_shared<sealed::Findings>());
  return TheEnvironment().twin == 0 ? "" : sealed::TwinsInWords(*found);
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
