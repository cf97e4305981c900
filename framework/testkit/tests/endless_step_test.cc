// Endless steps: the process ends with a sentence, and many long steps are no endless one.
#include "testkit/endless_step.h"

#include <gtest/gtest.h>

#include <ctime>
#include <limits>
#include <memory>
#include <string>

namespace depfast::testkit {
namespace {

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Each step uses `seconds` of processor time.
class BusyBackend final : public sim::ReplicaBackend {
 public:
  explicit BusyBackend(double seconds) : seconds_(seconds) {}
  sim::StepOutput Step(const sim::StepInput&) override {
    const double end = CpuSeconds() + seconds_;
    while (CpuSeconds() < end) {
    }
    return {};
  }
  std::string DumpCoroutines() override { return ""; }
  std::string Report(const std::string&) override { return ""; }

 private:
  const double seconds_;
};

sim::BackendFactory Busy(double seconds) {
  return EndingEndlessSteps(
      [seconds](const sim::ReplicaConfig&) { return std::make_unique<BusyBackend>(seconds); }, 1);
}

TEST(EndlessStepDeathTest, TheProcessEndsAndNamesTheReplica) {
  constexpr double kForever = std::numeric_limits<double>::infinity();
  EXPECT_DEATH(Busy(kForever)({.self = 2})->Step({}),
               "replica 2 never waits: one step used more than 1 s of processor time");
}

TEST(EndlessStepDeathTest, EachStepHasTheWholeLimit) {
  const auto replica = Busy(0.7)({.self = 0});
  for (int i = 0; i < 4; ++i) replica->Step({});
  EXPECT_GT(CpuSeconds(), 2.8) << "more than the limit in all, and still here";
}

}  // namespace
}  // namespace depfast::testkit
