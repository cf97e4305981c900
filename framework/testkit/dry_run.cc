#include "testkit/dry_run.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <utility>

#include "testkit/environment.h"
#include "testkit/violation.h"

namespace depfast::testkit {
namespace {

// While one lives, clusters leave no trace of themselves.
class Silence {
 public:
  Silence() : kept_(std::exchange(TheEnvironment(), Quiet(TheEnvironment()))) {}
  ~Silence() { TheEnvironment() = kept_; }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  static Environment Quiet(Environment environment) {
    environment.dry_run = true;
    environment.history.clear();
    environment.trace.clear();
    environment.record.clear();
    return environment;
  }

  const Environment kept_;
};

std::string FailureOf(const testing::TestPartResultArray& results) {
  std::string first;
  for (int i = 0; i < results.size(); ++i) {
    const testing::TestPartResult& result = results.GetTestPartResult(i);
    if (!result.failed()) continue;
    const std::string invariant = InvariantIn(result.message());
    if (!invariant.empty()) return invariant;
    if (first.empty()) {
      first = std::string(result.file_name() == nullptr ? "" : result.file_name()) + ":" +
              std::to_string(result.line_number());
    }
  }
  return first;
}

}  // namespace

std::string DryRun(const std::function<void()>& scenario) {
  const Silence silence;
  testing::TestPartResultArray results;
  const testing::ScopedFakeTestPartResultReporter reporter(
      testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
  scenario();
  return FailureOf(results);
}

}  // namespace depfast::testkit
