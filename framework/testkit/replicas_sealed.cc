// For `_sealed` binaries: each replica is a process running the program given by --replica.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
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

// Checkers remember what replicas send. So a submission decides how much memory this process takes.
// The reference's tests take 100 MB at most.
constexpr rlim_t kMemoryMax = rlim_t{2} << 30;
// The grader knows this exit code (failslow/build/gtest.py): it is a verdict.
constexpr int kExhausted = 4;

void Exhausted() {
  constexpr std::string_view kWords = "the test's process has no more memory\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kWords.data(), kWords.size());
  _exit(kExhausted);
}

// A replica's process gets limits of its own when it starts. A sanitizer needs all addresses.
bool LimitMemory() {
#ifndef DEPFAST_SANITIZED
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0) return false;
  limit.rlim_cur = std::min(kMemoryMax, limit.rlim_max);
  std::set_new_handler(Exhausted);
  return setrlimit(RLIMIT_AS, &limit) == 0;
#else
  return false;
#endif
}

}  // namespace

sim::BackendFactory ReplicasUnderTest(RuntimeProbe*, const NoteSink&) {
  [[maybe_unused]] static const bool is_limited = LimitMemory();
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
