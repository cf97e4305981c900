// The words of a crash of a replica in this process. Sanitizers have their own.
#include "testkit/crash_report.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "sample.h"
#include "testkit/client.h"
#include "testkit/cluster.h"
#include "testkit/endless_step.h"

namespace depfast::testkit {
namespace {

#ifndef DEPFAST_SANITIZED
constexpr const char* kWhere = "in a step of replica 2 at 1.500007 s\nstack:( [0-9a-f]+)+\n";

void FollowNull() {
  volatile int* nothing = nullptr;
  *nothing = 1;
}

void DivideByZero() {
  volatile int zero = 0;
  volatile int result = 7 / zero;  // 1 / zero needs no division
  static_cast<void>(result);
}

class CrashReportDeathTest : public testing::Test {
 protected:
  CrashReportDeathTest() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }

  static void InStep(void (*crash)()) {
    InstallCrashReport();
    const StepUnderWay step(2, 1500ms + 7us);
    crash();
  }
};

TEST_F(CrashReportDeathTest, ANullPointer) {
  EXPECT_EXIT(InStep(FollowNull), testing::KilledBySignal(SIGSEGV),
              std::string("^crashed: a null pointer was followed\n") + kWhere);
}

TEST_F(CrashReportDeathTest, ADivisionByZero) {
  EXPECT_EXIT(InStep(DivideByZero), testing::KilledBySignal(SIGFPE),
              std::string("^crashed: a division by zero, or an integer overflow\n") + kWhere);
}

TEST_F(CrashReportDeathTest, AnAbort) {
  EXPECT_EXIT(InStep(std::abort), testing::KilledBySignal(SIGABRT),
              std::string("^aborted\n") + kWhere);
}

TEST_F(CrashReportDeathTest, OutsideOfAStepThereIsNoReplica) {
  EXPECT_EXIT(
      {
        InstallCrashReport();
        FollowNull();
      },
      testing::KilledBySignal(SIGSEGV), "^crashed: a null pointer was followed\nstack:");
}

TEST_F(CrashReportDeathTest, TheHistoryUpToTheCrash) {
  EXPECT_EXIT(
      {
        History history;
        for (int i = 0; i < 21; ++i) history.Add(2s, "line");
        InStep(FollowNull);
      },
      testing::KilledBySignal(SIGSEGV),
      "The last steps before:\n#2  2.000000 s  line\n(#.*\n)+#21  2.000000 s  line\n$");
}

TEST_F(CrashReportDeathTest, ASignalOfAnotherProcessIsNoCrash) {
  EXPECT_EXIT(
      {
        InstallCrashReport();
        std::raise(SIGSEGV);
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}

class Thrower final : public sim::ReplicaBackend {
 public:
  sim::StepOutput Step(const sim::StepInput&) override {
    try {
      throw std::runtime_error("no");
    } catch (const std::runtime_error& error) {
      sim::StepOutput output;
      output.death = error.what();
      return output;
    }
  }
  std::string DumpCoroutines() override { return ""; }
  std::string Report(const std::string&) override { return ""; }
};

TEST(CrashReport, TellsWhereTheReplicasExceptionWasThrown) {
  testing::internal::CaptureStderr();
  const auto replicas =
      EndingEndlessSteps([](const sim::ReplicaConfig&) { return std::make_unique<Thrower>(); });
  sim::StepInput input;
  input.now = 1500ms + 7us;
  sim::ReplicaConfig config;
  config.self = 2;
  replicas(config)->Step(input);
  const std::string said = testing::internal::GetCapturedStderr();
  const std::string start =
      "the latest exception was thrown\nin a step of replica 2 at 1.500007 s\nstack: ";
  EXPECT_TRUE(said.starts_with(start)) << said;
}

TEST(CrashReport, AnEarlierStepsExceptionIsNotTold) {
  testing::internal::CaptureStderr();
  {
    const StepUnderWay step(1, 1s);
    EXPECT_THROW(throw std::runtime_error("no"), std::runtime_error);
  }
  const StepUnderWay step(1, 2s);
  StepUnderWay::ReportThrow();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}
#endif

}  // namespace
}  // namespace depfast::testkit
