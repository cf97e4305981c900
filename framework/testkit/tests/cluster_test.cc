// Cluster: waiting for something, explaining a stall, and seeds.
#include "testkit/cluster.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

#include "sample.h"
#include "testkit/client.h"
#include "testkit/environment.h"

namespace depfast::testkit {
namespace {

TEST(Cluster, RunUntilStopsAtTheEventThatMakesItTrue) {
  Cluster cluster({.replicas = 2, .seed = 1});
  cluster.Start();
  bool done = false;
  cluster.simulator().At(5ms, [&] { done = true; });
  cluster.simulator().At(6ms, [&] { done = false; });
  EXPECT_TRUE(cluster.RunUntil([&] { return done; }, 1s));
  EXPECT_EQ(cluster.now(), 5ms);
  EXPECT_EQ(cluster.history().size(), 0U);
}

TEST(Cluster, RunUntilAsksFirstAndLast) {
  Cluster cluster({.replicas = 2, .seed = 1});
  cluster.Start();
  EXPECT_TRUE(cluster.RunUntil([] { return true; }, 1s));
  EXPECT_EQ(cluster.now(), 0s);
  EXPECT_TRUE(cluster.RunUntil([&] { return cluster.now() >= 1s; }, 1s))
      << "what is true at the limit is in time";
}

TEST(Cluster, AStallExplainsItself) {
  Cluster cluster({.replicas = 4, .seed = 1});
  cluster.Start();
  Client client(cluster.simulator());
  client.Call(1, Ignore{}, kForever, [](const std::optional<TextReply>&) {});
  cluster.RunFor(1ms);
  cluster.Crash(2);
  EXPECT_FALSE(cluster.RunUntil([] { return false; }, 100ms));
  EXPECT_EQ(cluster.now(), 101ms);
  const std::string history = cluster.history().All();
  EXPECT_NE(history.find("replica 2 dies: crash"), std::string::npos) << history;
  EXPECT_NE(history.find("replica 0 stalls: "), std::string::npos) << history;
  EXPECT_EQ(history.find("replica 2 stalls"), std::string::npos) << history;
  EXPECT_NE(history.find("replica 3 stalls as replica 0 does"), std::string::npos) << history;
  const std::size_t stall = history.find("replica 1 stalls: ");
  ASSERT_NE(stall, std::string::npos) << history;
  EXPECT_NE(history.find("Ignore", stall), std::string::npos) << history;
  EXPECT_NE(history.find("a day that never comes", stall), std::string::npos) << history;
}

TEST(Cluster, FaultsAreInTheHistory) {
  Cluster cluster({.replicas = 3, .seed = 1});
  cluster.Start();
  cluster.Partition({0});
  cluster.RunFor(1s);
  cluster.Heal();
  cluster.Note("done");
  EXPECT_EQ(cluster.history().All(),
            "#1  0.000000 s  begins: partition on replica 0 from 0.000 s\n"
            "#2  1.000000 s  everything heals\n"
            "#3  1.000000 s  done\n");
}

// The caller hears of a rejection only, and the author would look for the reason in vain.
TEST(Cluster, NotesOfReplicasAndExceptionsOfHandlersAreInTheHistory) {
  Cluster cluster({.replicas = 2, .seed = 1});
  cluster.Start();
  cluster.RunFor(1s);
  Client client(cluster.simulator());
  client.Call(1, Remark{}, 50ms, [](const std::optional<TextReply>&) {});
  cluster.RunFor(1s);
  const std::string first = cluster.history().All();
  EXPECT_TRUE(first.starts_with("#1  1.00")) << first;
  EXPECT_TRUE(first.ends_with("replica 1 notes: client 1000 asked for this\n")) << first;
  client.Call(0, Refuse{}, 50ms, [](const std::optional<TextReply>&) {});
  cluster.RunFor(1s);
  const std::string both = cluster.history().All();
  EXPECT_TRUE(both.ends_with("replica 0 notes: the handler of Refuse threw: no\n")) << both;
}

TEST(Cluster, ItsSeedComesFromTheRunsAndItsOwn) {
  const std::uint64_t base = TheEnvironment().seed;
  std::set<std::uint64_t> seeds;
  const auto add = [&](std::uint64_t run, std::uint64_t own) {
    TheEnvironment().seed = run;
    Cluster cluster({.replicas = 1, .seed = own});
    return seeds.insert(cluster.simulator().options().seed).second;
  };
  EXPECT_TRUE(add(1, 1));
  EXPECT_TRUE(add(1, 2));
  EXPECT_TRUE(add(2, 1));
  EXPECT_FALSE(add(1, 1));
  TheEnvironment().seed = base;
}

}  // namespace
}  // namespace depfast::testkit
