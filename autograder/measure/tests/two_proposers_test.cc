// The measurement of a log with two proposers: it knows no Raft.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "depfast/host/service.h"
#include "measurement.h"
#include "sim/step_host.h"
#include "testkit/some.h"
#include "two_proposer_checker.h"

namespace depfast::measure {
namespace {

RunOptions Options(const std::string& fault) {
  RunOptions options;
  options.replicas = 5;
  options.roles = {"pilot", "copilot", "follower"};
  options.rate = 325.5;  // a load that tests can afford; the log takes more
  options.fault = fault;
  return options;
}

RunResult Measure(const RunOptions& options) {
  return Measurement(options, sim::InProcessReplicas(MakeService), MakeTwoProposerSubject).Run();
}

TEST(TwoProposers, ASlowProposerCostsNothing) {
  const RunResult normal = Measure(Options("none"));
  ASSERT_EQ(normal.error, "");
  ASSERT_EQ(normal.violation, "");
  for (const std::string victim : {"pilot", "copilot"}) {
    RunOptions options = Options("net-slow");
    options.victim = victim;
    const RunResult slow = Measure(options);
    ASSERT_EQ(slow.error, "") << "with a slow " << victim;
    EXPECT_EQ(slow.violation, "") << "with a slow " << victim;
    EXPECT_NE(slow.trace_hash, normal.trace_hash) << "the fault must strike the " << victim;
    EXPECT_EQ(slow.load.offered, normal.load.offered);
    EXPECT_EQ(slow.load.unanswered, 0u);
    EXPECT_GT(slow.load.completed * 100, normal.load.completed * 95);
    EXPECT_LT(slow.load.latencies.Mean(), normal.load.latencies.Mean() * 11 / 10);
    EXPECT_TRUE(slow.catch_up) << "the " << victim << " never caught up";
  }
}

TEST(TwoProposers, ARunWithStagesHasSlicesAndNoNewProposer) {
  RunOptions options = Options("net-slow:400000000");
  options.victim = "pilot";
  options.clients = 4;
  options.shape = "stages:500,500,500";
  const RunResult result = Measure(options);
  ASSERT_EQ(result.error, "");
  ASSERT_TRUE(result.onset);
  EXPECT_EQ(result.onset->fault_from, 5);
  EXPECT_EQ(result.onset->fault_to, 10);
  EXPECT_TRUE(result.onset->new_proposers.empty());
  ASSERT_EQ(result.load.slots.size(), 15u);
  std::size_t count = 0;
  for (const auto& slot : result.load.slots) count += slot.size();
  EXPECT_GT(count, 0u);
  EXPECT_LE(count, result.load.completed) << "what began before the window has no latency";
  EXPECT_EQ(ToJson(result).at("onset").at("slices_us").size(), 15u);
  options.costs_percent = 50;
  EXPECT_GT(Measure(options).load.completed, result.load.completed) << "cheaper steps, more done";
}

TEST(TwoProposers, AWindowMayEndWithinASlice) {
  RunOptions options = Options("net-slow");
  options.victim = "pilot";
  options.shape = "stages:100,250,300";
  const RunResult result = Measure(options);
  ASSERT_EQ(result.error, "");
  ASSERT_TRUE(result.onset);
  for (const auto& slices : testkit::Some(result.onset->answers)) EXPECT_EQ(slices.size(), 7u);
}

// Document 002, figure 10: a leader and a follower of five.
TEST(TwoProposers, OneMayBeSlowWithAFollower) {
  RunOptions options = Options("net-slow");
  options.victim = "copilot";
  options.slow = {2};
  const RunResult slow = Measure(options);
  ASSERT_EQ(slow.error, "");
  EXPECT_EQ(slow.slow, (std::vector<PeerId>{1, 3}));
  EXPECT_EQ(slow.load.unanswered, 0u);
}

TEST(TwoProposers, AreBothInTheResult) {
  RunOptions options = Options("dead");
  options.slow = {1, 2};
  options.explain = true;
  const auto line = ToJson(Measure(options));
  EXPECT_TRUE(line.at("error").is_null()) << line.at("error");
  EXPECT_TRUE(line.at("violation").is_null()) << line.at("violation");
  EXPECT_GT(line.at("completed"), 0);
  bool first = false;
  bool second = false;
  for (const auto& wait : line.at("waits")) {
    first = first || wait.at("replica") == 0;
    second = second || wait.at("replica") == 1;
  }
  EXPECT_TRUE(first && second) << "waits of both proposers explain a result";
  const auto& flow = line.at("flows").front();
  EXPECT_EQ(flow.at("sender"), 0);
  EXPECT_EQ(flow.at("receiver"), 4) << "the sequencer";
  EXPECT_GT(flow.at("wire").at("frames"), 0);
  EXPECT_GT(flow.at("wire").at("bytes"), flow.at("wire").at("frames"));
}

TEST(TwoProposers, RunsWithEqualSeedsAreEqual) {
  RunOptions options = Options("cpu-slow");
  options.victim = "pilot";
  EXPECT_EQ(Measure(options).trace_hash, Measure(options).trace_hash);
}

TEST(TwoProposers, ATraceHasTheCrossingsOfTheHost) {
  RunOptions options = Options("cpu-slow");
  options.victim = "pilot";
  const std::uint64_t hash = Measure(options).trace_hash;
  options.trace = testing::TempDir() + "two_proposers.trace";
  EXPECT_EQ(Measure(options).trace_hash, hash);
  std::ifstream file(options.trace);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(options.trace);
  EXPECT_NE(text.find("cpu-slow"), std::string::npos) << "the fault is a line";
  EXPECT_GT(std::count(text.begin(), text.end(), '\n'), 1000);
  options.trace = testing::TempDir() + "missing/two_proposers.trace";
  EXPECT_THROW(Measure(options), std::runtime_error);
}

// ---- figures, by the log that they are of ----

// The last place is the sequencer's: while it is dead nothing is committed.
RunOptions WithDeadSequencer(const std::string& shape) {
  RunOptions options = Options("dead");
  options.slow = {3};
  options.shape = shape;
  return options;
}

TEST(Figures, ADeadSequencerUnderLoadStopsTheWindow) {
  const RunResult result = Measure(WithDeadSequencer("under"));
  EXPECT_GT(result.load.offered, 450u);
  EXPECT_LT(result.load.offered, 525u) << "1.5 s at 325.5 per second";
  EXPECT_GT(result.load.unanswered * 100, result.load.offered * 95);
  ASSERT_EQ(result.load.completions.size(), 15u);
  EXPECT_EQ(result.load.completions.back(), 0u);
  EXPECT_GT(result.load.latencies.Mean(), 1s) << "the wait for no answer counts";
}

TEST(Figures, ADeadSequencerBeforeTheLoadStopsAll) {
  const RunResult result = Measure(WithDeadSequencer("before"));
  EXPECT_EQ(result.load.completed, 0u);
  EXPECT_EQ(result.load.unanswered, result.load.offered);
  EXPECT_EQ(result.error, "no operation completed");
}

TEST(Figures, TheLagIsThatOfTheSlowReplicas) {
  EXPECT_EQ(Measure(Options("none")).lag, 0u);
  RunOptions dead = Options("dead");
  dead.slow = {2};
  const RunResult result = Measure(dead);
  EXPECT_GE(result.lag, result.load.completed);
  dead.fault = "net-slow";
  EXPECT_LT(Measure(dead).lag, 5u) << "a follower that only sends late learns in time";
}

TEST(Figures, TheWindowIsTheShapes) {
  RunOptions options = Options("none");
  options.shape = "flapping";
  const auto line = ToJson(Measure(options));
  EXPECT_EQ(line.at("completions").size(), 30u);
  EXPECT_NEAR(line.at("throughput").get<double>(), options.rate, 3.0);
}

TEST(Figures, AWrongPlaceIsNoRun) {
  RunOptions options = Options("none");
  options.slow = {4};
  EXPECT_THROW(Measure(options), std::invalid_argument);
}

}  // namespace
}  // namespace depfast::measure
