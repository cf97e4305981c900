// The handbook's example behaves as the handbook describes.
#include "notes.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "testkit/client.h"
#include "testkit/cluster.h"

namespace depfast::testkit {
namespace {

TEST(Notes, ANoteIsOnEveryDiskSoonAfter) {
  Cluster cluster({.replicas = 3, .seed = 1});
  cluster.Start();
  Client client(cluster.simulator());
  client.Call(0, Remember{"milk"}, 1s, [](const std::optional<Done>&) {});
  cluster.RunFor(100ms);
  for (PeerId replica = 0; replica < 3; ++replica) {
    EXPECT_EQ(cluster.simulator().disk(replica).files().at("notes").data, "milk\n");
  }
}

// --8<-- [start:slow]
TEST(Notes, ASlowFollowerDelaysNobody) {
  Cluster cluster({.replicas = 3, .seed = 1});
  cluster.Start();
  cluster.Begin(faults::NetSlow({2}, 400ms));
  Client client(cluster.simulator());
  std::optional<Done> answer;
  const auto keep = [&](std::optional<Done> reply) { answer = reply; };
  client.Call(0, Remember{"milk"}, 1s, keep);
  EXPECT_TRUE(cluster.RunUntil([&] { return answer.has_value(); }, 10ms));
  EXPECT_TRUE(answer && answer->done);
}
// --8<-- [end:slow]

TEST(Notes, FramesHeldForASlowFollowerAreReleased) {
  ClusterOptions options{.replicas = 3, .seed = 1};
  options.profile.net.window_bytes = 4096;
  Cluster cluster(options);
  cluster.Start();
  cluster.Begin(faults::CpuSlow({2}, 1));
  Client client(cluster.simulator());
  int answers = 0;
  for (int i = 0; i < 100; ++i) {
    client.Call(0, Remember{std::string(1024, 'x')}, 5s,
                [&](const std::optional<Done>& reply) { answers += reply && reply->done; });
  }
  EXPECT_TRUE(cluster.RunUntil([&] { return answers == 100; }, 1s));
  EXPECT_EQ(cluster.simulator().HeldBytes(0, 2), 0U);
  EXPECT_GT(cluster.simulator().PeakHeldBytes(0), 0U) << "nothing was ever held";
}

TEST(Notes, WithoutAMajorityTheAnswerIsNo) {
  Cluster cluster({.replicas = 3, .seed = 1});
  cluster.Start();
  cluster.Crash(1);
  cluster.Crash(2);
  Client client(cluster.simulator());
  std::optional<Done> answer;
  client.Call(0, Remember{"milk"}, 5s, [&](std::optional<Done> reply) { answer = reply; });
  ASSERT_TRUE(cluster.RunUntil([&] { return answer.has_value(); }, 2s));
  EXPECT_FALSE(answer->done);
  EXPECT_GE(cluster.now(), 1s) << "replica 0 waits for a second";
}

}  // namespace
}  // namespace depfast::testkit
