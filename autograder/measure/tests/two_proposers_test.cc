// The measurement of a log with two proposers: it knows no Raft.
#include <gtest/gtest.h>

#include <string>

#include "depfast/host/service.h"
#include "measurement.h"
#include "sim/step_host.h"
#include "two_proposer_checker.h"

namespace depfast::measure {
namespace {

constexpr double kCapacity = 500;  // a load that tests can afford; the log takes more

RunResult Measure(const std::string& load, const std::string& fault, const std::string& victim) {
  RunOptions options;
  options.replicas = 5;
  options.roles = {"pilot", "copilot", "follower"};
  options.load = load;
  options.capacity = kCapacity;
  options.fault = fault;
  options.victim = victim;
  options.explain = true;
  return Measurement(options, sim::InProcessReplicas(MakeService), MakeTwoProposerSubject).Run();
}

TEST(TwoProposers, ASlowProposerCostsNothing) {
  const RunResult normal = Measure("latency", "none", "");
  ASSERT_EQ(normal.error, "");
  for (const std::string victim : {"pilot", "copilot"}) {
    const RunResult slow = Measure("latency", "net-slow", victim);
    ASSERT_EQ(slow.error, "") << "with a slow " << victim;
    EXPECT_NE(slow.trace_hash, normal.trace_hash) << "the fault must strike the " << victim;
    EXPECT_GT(slow.load.completed * 100, normal.load.completed * 95);
    EXPECT_LT(slow.load.latencies.Mean(), normal.load.latencies.Mean() * 11 / 10);
    EXPECT_TRUE(slow.catch_up) << "the " << victim << " never caught up";
  }
}

TEST(TwoProposers, AreBothInTheResult) {
  const auto line = ToJson(Measure("saturated", "dead", "follower"));
  EXPECT_TRUE(line.at("error").is_null()) << line.at("error");
  EXPECT_GT(line.at("completed"), 0);
  bool first = false;
  bool second = false;
  for (const auto& wait : line.at("waits")) {
    first = first || wait.at("replica") == 0;
    second = second || wait.at("replica") == 1;
  }
  EXPECT_TRUE(first && second) << "waits of both proposers explain a result";
}

TEST(TwoProposers, HaveACapacity) {
  const auto line = ToJson(Measure("capacity", "none", ""));
  EXPECT_TRUE(line.at("error").is_null()) << line.at("error");
  EXPECT_GT(line.at("throughput"), kCapacity);
}

TEST(TwoProposers, RunsWithEqualSeedsAreEqual) {
  EXPECT_EQ(Measure("latency", "cpu-slow", "pilot").trace_hash,
            Measure("latency", "cpu-slow", "pilot").trace_hash);
}

}  // namespace
}  // namespace depfast::measure
