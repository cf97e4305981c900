// The verdicts on a window's facts, at their thresholds.
#include "depfast/verify/warnings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "depfast/verify/verification_json.h"

namespace depfast {
namespace {

LatencyHistogram Latencies(Duration each, int count = 100) {
  LatencyHistogram histogram;
  for (int i = 0; i < count; ++i) histogram.Add(each);
  return histogram;
}

WindowFacts Facts(int replicas = 3) {
  WindowFacts facts;
  facts.replica = 0;
  facts.replicas = replicas;
  facts.begin_ns = 5'000'000'000;
  facts.end_ns = 10'000'000'000;
  return facts;
}

std::string Kinds(const WindowFacts& facts) {
  std::string out;
  for (const Warning& warning : WarningsOf(facts)) {
    out += std::string(out.empty() ? "" : " ") + NameOf(warning.kind);
  }
  return out;
}

TEST(Warnings, TooManyBackgroundCallsToAPeer) {
  WindowFacts facts = Facts();
  facts.calls = {{.method = "Append", .peer = 1, .background = thresholds::kBackgroundCalls},
                 {.method = "Append", .peer = 2, .for_clients = 1'000'000}};
  EXPECT_EQ(Kinds(facts), "");
  ++facts.calls[0].background;
  ASSERT_EQ(Kinds(facts), "background-tasks");
  const Warning warning = WarningsOf(facts)[0];
  EXPECT_EQ(warning.wait, "Append");
  EXPECT_EQ(warning.peers, (std::vector<PeerId>{1}));
  EXPECT_EQ(warning.count, thresholds::kBackgroundCalls + 1);
}

TEST(Warnings, TheSameEntriesMoreThanTwice) {
  WindowFacts facts = Facts();
  facts.calls = {{.method = "Append", .peer = 2, .sends_of_an_entry = 2}};
  EXPECT_EQ(Kinds(facts), "");
  facts.calls[0].sends_of_an_entry = 3;
  ASSERT_EQ(Kinds(facts), "repeated-entries");
  const Warning warning = WarningsOf(facts)[0];
  EXPECT_EQ(warning.peers, (std::vector<PeerId>{2}));
  EXPECT_EQ(warning.count, 3U);
}

TEST(Warnings, CoroutinesThatLeftCallsBehind) {
  WindowFacts facts = Facts();
  facts.fan_outs = {{"reads", 0, {}}, {"replicate", 41, {2}}};
  ASSERT_EQ(Kinds(facts), "not-finalized");
  const Warning warning = WarningsOf(facts)[0];
  EXPECT_EQ(warning.coroutine, "replicate");
  EXPECT_EQ(warning.count, 41U);
  EXPECT_EQ(warning.peers, (std::vector<PeerId>{2}));
}

// Replica 2 answers, twice as late as replica 1, and never counts.
WindowFacts OneSlow() {
  WindowFacts facts = Facts();
  facts.quorums = {{"replicate", "quorum", 2, 3, thresholds::kQuorums, {{1, 100}}}};
  facts.presence = {{1, kPresenceSlots, Latencies(2ms)},
                    {2, thresholds::kPresence, Latencies(5ms)}};
  return facts;
}

TEST(Warnings, APeerThatAnswersAndNeverCounts) {
  const Warning warning = WarningsOf(OneSlow()).at(0);
  EXPECT_NE(warning.Text().find("replica 1: median 2."), std::string::npos) << warning.Text();
  EXPECT_EQ(warning.count, thresholds::kQuorums);
  // Active are the peers whose latency counts.
  EXPECT_EQ(JsonOf(WarningsOf(OneSlow())),
            R"([{"kind":"transient-performance","replica":0,"begin_ns":5000000000,)"
            R"("end_ns":10000000000,"coroutine":"replicate","wait":"quorum 2/3","peers":[2],)"
            R"("count":100,"worst_ns":0,"active":[{"peer":1,"answers":100,"median_ns":2031615,)"
            R"("p99_ns":2031615,"p999_ns":2031615}],"text":")" +
                warning.Text() + "\"}]");
}

TEST(Warnings, ThereIsNoTransientWarning) {
  const auto after = [](const auto& change) {
    WindowFacts facts = OneSlow();
    change(facts);
    return Kinds(facts);
  };
  EXPECT_EQ(after([](auto& facts) { --facts.quorums[0].ready; }), "") << "of too few quorums";
  EXPECT_EQ(after([](auto& facts) { facts.quorums[0].voters.push_back({2, 1}); }), "")
      << "of a peer that counts now and then";
  EXPECT_EQ(after([](auto& facts) { --facts.presence[1].slots_answered; }), "")
      << "of a peer that was away for a while";
  EXPECT_EQ(after([](auto& facts) { facts.presence[1].latency = Latencies(3ms); }), "")
      << "of a peer that is close behind";
}

TEST(Warnings, TransientPerformanceNeedsAsManyInactivePeersAsAQuorumSpares) {
  WindowFacts facts = OneSlow();
  facts.replicas = 5;
  facts.quorums = {{"replicate", "quorum", 3, 5, 200, {{1, 200}, {3, 110}, {4, 90}}}};
  EXPECT_EQ(Kinds(facts), "") << "replicas 1, 3 and 4 take turns";
  facts.quorums[0].voters.pop_back();
  EXPECT_EQ(Kinds(facts), "transient-performance") << "replica 4 is dead, so all others count";
  EXPECT_EQ(WarningsOf(facts)[0].peers, (std::vector<PeerId>{2}));
}

TEST(Warnings, AWaitBeyondTheDefaultTimeout) {
  const std::int64_t limit = thresholds::kStalledAfter.count();
  WindowFacts facts = Facts();
  WaitFacts wait{.coroutine = "applier", .event = "work"};
  wait.open = {1, limit, limit};
  facts.waits = {wait};
  EXPECT_EQ(Kinds(facts), "") << "it waits for work: nobody waits for it";
  facts.waits[0].open_on_path = true;
  EXPECT_EQ(Kinds(facts), "stalled-wait") << "a client waits for it";
  facts.waits[0].open_on_path = false;
  facts.waits[0].peers = {1};
  EXPECT_EQ(Kinds(facts), "stalled-wait") << "for a peer";
  facts.waits[0].open.worst_ns = limit - 1;
  EXPECT_EQ(Kinds(facts), "");
  facts.waits[0].ended = {1, limit, limit};
  EXPECT_EQ(Kinds(facts), "stalled-wait") << "it has ended meanwhile";
  facts.waits[0].peers = {};
  EXPECT_EQ(Kinds(facts), "");
  facts.waits[0].on_path = {1, limit, limit};
  ASSERT_EQ(Kinds(facts), "stalled-wait");
  EXPECT_EQ(WarningsOf(facts)[0].worst_ns, limit);
  EXPECT_EQ(WarningsOf(facts)[0].coroutine, "applier");
}

TEST(Warnings, NamesFromAReplicasProcessMayBeAnyBytes) {
  WindowFacts facts = Facts();
  facts.fan_outs = {{"\xff\"\n", 1, {1}}};
  const std::string json = JsonOf(WarningsOf(facts));
  EXPECT_NE(json.find("\\ufffd\\\"\\n"), std::string::npos) << json;
}

}  // namespace
}  // namespace depfast
