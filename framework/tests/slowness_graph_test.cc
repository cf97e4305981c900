// The slowness propagation graph: an edge of each kind, and its colour.
#include "depfast/verify/slowness_graph.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "depfast/verify/verification_json.h"

namespace depfast {
namespace {

WindowFacts Facts(const WaitFacts& waits) {
  WindowFacts facts;
  facts.replica = 0;
  facts.replicas = 3;
  facts.waits = {waits};
  return facts;
}

GraphEdge OnlyEdge(const WaitFacts& waits) {
  SlownessGraph graph(3);
  graph.Add(Facts(waits));
  EXPECT_EQ(graph.Edges().size(), 1U);
  return graph.Edges().front();
}

const WaitTimes kTimes{4, 8'000'000, 5'000'000};

WaitFacts OnPath(int needed, int total, std::vector<PeerId> peers) {
  return {.coroutine = "round",
          .event = "event",
          .needed = needed,
          .total = total,
          .peers = std::move(peers),
          .has_dependency = true,
          .ended = kTimes,
          .on_path = kTimes};
}

TEST(SlownessGraph, AWaitForOnePeerOrForAllOnAPathIsRed) {
  const GraphEdge edge = OnlyEdge(OnPath(1, 1, {2}));
  EXPECT_EQ(edge.color, EdgeColor::kRed);
  EXPECT_EQ(edge.waits.mean_ns(), 2'000'000);
  EXPECT_EQ(OnlyEdge(OnPath(2, 2, {1, 2})).color, EdgeColor::kRed);
}

TEST(SlownessGraph, AWaitThatDelaysNoClientIsBackground) {
  WaitFacts waits = OnPath(1, 1, {2});
  waits.on_path = {};
  EXPECT_EQ(OnlyEdge(waits).color, EdgeColor::kBackground);
}

TEST(SlownessGraph, AWaitThatGoesOnAfterTheAnswerIsRedForItsFirstPart) {
  WaitFacts waits = OnPath(1, 1, {2});
  waits.on_path = {1, 1'000'000, 1'000'000};
  SlownessGraph graph(3);
  graph.Add(Facts(waits));
  const auto edges = graph.Edges();
  ASSERT_EQ(edges.size(), 2U);
  EXPECT_EQ(edges[0].color, EdgeColor::kRed);
  EXPECT_EQ(edges[0].waits.count, 1U);
  EXPECT_EQ(edges[1].color, EdgeColor::kBackground);
  EXPECT_EQ(edges[1].waits.count, 3U);
  EXPECT_EQ(edges[1].waits.total_ns, 7'000'000);
}

TEST(SlownessGraph, AWaitForNoPeerHasNoEdge) {
  SlownessGraph graph(3);
  graph.Add(Facts(OnPath(1, 1, {})));
  EXPECT_TRUE(graph.Edges().empty());
}

TEST(SlownessGraph, ClientsWaitForOneReplica) {
  SlownessGraph graph(3);
  graph.AddClientWait(kFirstClient, 1, 2ms);
  WindowFacts facts = Facts(OnPath(1, 1, {}));
  facts.clients = {{kFirstClient, {2, 5'000'000, 4'000'000}}};
  graph.Add(facts);
  const auto edges = graph.Edges();
  ASSERT_EQ(edges.size(), 2U);
  EXPECT_EQ(edges[0].from, kFirstClient);
  EXPECT_EQ(edges[0].to, (std::vector<PeerId>{0}));
  EXPECT_EQ(edges[0].color, EdgeColor::kRed);
  EXPECT_EQ(edges[0].waits.count, 2U);
  EXPECT_EQ(edges[1].to, (std::vector<PeerId>{1}));
  EXPECT_EQ(edges[1].waits.worst_ns, 2'000'000);
}

TEST(SlownessGraph, WindowsAndReplicasAddUp) {
  SlownessGraph graph(3);
  WindowFacts facts = Facts(OnPath(2, 3, {1, 2}));
  graph.Add(facts);
  facts.waits[0].on_path.worst_ns = 9'000'000;
  graph.Add(facts);
  facts.replica = 1;
  graph.Add(facts);
  const auto edges = graph.Edges();
  ASSERT_EQ(edges.size(), 2U);
  EXPECT_EQ(edges[0].waits.count, 8U);
  EXPECT_EQ(edges[0].waits.total_ns, 16'000'000);
  EXPECT_EQ(edges[0].waits.worst_ns, 9'000'000);
  EXPECT_EQ(edges[1].from, 1);
}

TEST(SlownessGraph, AQuorumIsGreenAndTheJsonHasEveryField) {
  SlownessGraph graph(3);
  graph.Add(Facts(OnPath(2, 3, {1, 2})));
  EXPECT_EQ(JsonOf(graph),
            R"({"replicas":3,"edges":[{"from":0,"to":[1,2],"color":"green","needed":2,"total":3,)"
            R"("coroutine":"round","event":"event","count":4,"total_ns":8000000,)"
            R"("mean_ns":2000000,"worst_ns":5000000}]})");
}

}  // namespace
}  // namespace depfast
