// RunChaos: a dry run leaves no trace, and a failure is shown with its shortest schedule.
#include "testkit/chaos.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "failures.h"
#include "sample.h"
#include "testkit/client.h"
#include "testkit/cluster.h"
#include "testkit/environment.h"

namespace depfast::testkit {
namespace {

// A client asks replica 1 every 100 ms. The planted bug: it expects an answer although the replica
// may be down.
void Ask(Chaos& chaos) {
  Cluster cluster({.replicas = chaos.replicas(), .seed = 3});
  Client client(cluster.simulator());
  cluster.Start();
  cluster.Schedule(chaos.plan());
  int unanswered = 0;
  while (cluster.now() < 5s) {
    if (chaos.MayStartCommand()) {
      client.Call(1, Echo{"x"}, 50ms, [&](const std::optional<TextReply>& reply) {
        if (!reply) ++unanswered;
      });
    }
    cluster.RunFor(100ms);
  }
  EXPECT_EQ(unanswered, 0) << "promptness violated at once: no answer";
}

Schedule ManyFaults() {
  return {.replicas = 5,
          .plan = {faults::CpuSlow({0}, 50).From(100ms).For(4s),
                   faults::CrashFault({2}).From(500ms).For(1s),
                   faults::CrashFault({1}).From(2s).For(250ms),
                   faults::NetSlow({0}, 1ms).From(3s).For(1s)}};
}

class ChaosTest : public testing::Test {
 protected:
  ~ChaosTest() override { TheEnvironment() = before_; }

  // The failures of RunChaos, as texts.
  static std::vector<std::string> Failures(const Schedule& schedule, const Scenario& scenario) {
    return FailuresOf([&] { RunChaos(schedule, scenario); });
  }

 private:
  const Environment before_ = TheEnvironment();
};

TEST_F(ChaosTest, AFailureIsShownWithItsShortestSchedule) {
  TheEnvironment().shrink = 100;
  const auto failures = Failures(ManyFaults(), Ask);
  ASSERT_FALSE(failures.empty());
  // The crash alone, and the first command that meets it: one each 100 ms.
  const std::string shortest =
      ": 3 replicas, 1 fault, 21 commands\n  crash on replica 1 from 2.000 s for 0.250 s";
  EXPECT_NE(failures.front().find(shortest), std::string::npos) << failures.front();
  EXPECT_EQ(Failures(ManyFaults(), Ask), failures) << "twice the same";
}

TEST_F(ChaosTest, WithoutShrinkingAFailureIsShownAsItIs) {
  int runs = 0;
  const auto failures = Failures(ManyFaults(), [&](Chaos& chaos) {
    ++runs;
    Ask(chaos);
  });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures.front().find("shortest"), std::string::npos);
}

TEST_F(ChaosTest, ADryRunLeavesNoHistory) {
  const auto file =
      std::filesystem::temp_directory_path() /
      ("chaos_test." + std::to_string(testing::UnitTest::GetInstance()->random_seed()) +
       std::to_string(reinterpret_cast<std::uintptr_t>(this)));
  TheEnvironment().history = file;
  TheEnvironment().shrink = 100;
  Failures(ManyFaults(), Ask);
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  std::filesystem::remove(file);
  EXPECT_TRUE(text.str().starts_with("#1  2.000000 s  begins: crash on replica 1")) << text.str();
  EXPECT_EQ(text.str().find("\n#1 "), std::string::npos) << "one world: the last";
}

TEST_F(ChaosTest, ASchedulePasses) {
  TheEnvironment().shrink = 100;
  int runs = 0;
  EXPECT_TRUE(Failures({.replicas = 3, .plan = {}}, [&](Chaos& chaos) {
                ++runs;
                Ask(chaos);
              }).empty());
  EXPECT_EQ(runs, 1) << "the dry run has a process of its own";
}

TEST_F(ChaosTest, AFailureThatDoesNotRepeatIsTold) {
  TheEnvironment().shrink = 100;
  const auto failures =
      Failures(ManyFaults(), [&](Chaos&) { EXPECT_FALSE(TheEnvironment().dry_run); });
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_NE(failures.front().find("does not repeat"), std::string::npos) << failures.front();
}

// Stands for a student's assertion in a replica that is restarted.
void AbortAtTheSecondCrash(Chaos& chaos) {
  int crashes = 0;
  for (const faults::Fault& fault : chaos.plan()) {
    for (int i = 0; i < 3; ++i) chaos.MayStartCommand();
    if (fault.kind == faults::Fault::Kind::kCrash && ++crashes == 2) std::abort();
  }
}

TEST_F(ChaosTest, AScheduleThatEndsTheProcessIsMadeShorterToo) {
  TheEnvironment().shrink = 100;
  EXPECT_DEATH(
      RunChaos(ManyFaults(), AbortAtTheSecondCrash),
      ": 3 replicas, 2 faults, 0 commands\n  crash on replica 2 .*\n  crash on replica 1 ");
}

TEST_F(ChaosTest, CommandsAreCounted) {
  const Schedule schedule{.replicas = 3, .plan = {}, .commands = 2};
  std::int64_t started = 0;
  Chaos chaos(schedule, started);
  EXPECT_TRUE(chaos.MayStartCommand());
  EXPECT_TRUE(chaos.MayStartCommand());
  EXPECT_FALSE(chaos.MayStartCommand());
  EXPECT_EQ(started, 2);
}

}  // namespace
}  // namespace depfast::testkit
