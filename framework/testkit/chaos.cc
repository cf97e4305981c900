#include "testkit/chaos.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "testkit/environment.h"

namespace depfast::testkit {
namespace {

// While one lives, clusters leave no trace of themselves.
class Rehearsal {
 public:
  Rehearsal() : kept_(std::exchange(TheEnvironment(), Quiet(TheEnvironment()))) {}
  ~Rehearsal() { TheEnvironment() = kept_; }
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

 private:
  static Environment Quiet(Environment environment) {
    environment.rehearsal = true;
    environment.history.clear();
    environment.trace.clear();
    environment.record.clear();
    return environment;
  }

  const Environment kept_;
};

// "log matching" of "... log matching violated at 1.2 s: ..."; empty if no invariant is named.
std::string InvariantIn(const std::string& message) {
  const std::size_t end = message.find(" violated at ");
  if (end == std::string::npos) return "";
  const std::size_t line = message.rfind('\n', end);
  const std::size_t begin = line == std::string::npos ? 0 : line + 1;
  return message.substr(begin, end - begin);
}

// The first invariant that a failure names; else the place of the first failure.
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

RunEnd Rehearse(const Schedule& schedule, const Scenario& scenario) {
  const Rehearsal rehearsal;
  testing::TestPartResultArray results;
  const testing::ScopedFakeTestPartResultReporter reporter(
      testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
  Chaos chaos(schedule);
  scenario(chaos);
  return {FailureOf(results), chaos.commands_started()};
}

void Perform(const Schedule& schedule, const Scenario& scenario) {
  Chaos chaos(schedule);
  scenario(chaos);
}

}  // namespace

bool Chaos::MayStartCommand() {
  if (started_ >= schedule_.commands) return false;
  ++started_;
  return true;
}

void RunChaos(const Schedule& schedule, const Scenario& scenario) {
  testing::Test::RecordProperty("shrinks", "yes");
  const int runs_max = TheEnvironment().shrink;
  const RunEnd first = runs_max > 0 ? Rehearse(schedule, scenario) : RunEnd{};
  if (first.failure.empty()) {
    Perform(schedule, scenario);
    return;
  }
  const Shrunk shrunk = Shrink(schedule, first, runs_max, [&](const Schedule& candidate) {
    return Rehearse(candidate, scenario);
  });
  SCOPED_TRACE("The shortest schedule that fails so, found in " + std::to_string(shrunk.runs) +
               " runs: " + shrunk.schedule.Describe());
  Perform(shrunk.schedule, scenario);
  EXPECT_TRUE(testing::Test::HasFailure())
      << first.failure << ": the failure does not repeat: the replicas are not deterministic";
}

}  // namespace depfast::testkit
