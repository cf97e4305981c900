// Lab 3's store on the reference of lab 5, unchanged: its history stays linearizable under faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "busy_client.h"
#include "command_memory.h"
#include "copilot_checker.h"
#include "faults/random_plan.h"
#include "kv_world.h"
#include "stage.h"
#include "testkit/environment.h"

namespace depfast {

std::unique_ptr<LogChecker> MakeLogChecker(const sim::GroupView& group, testkit::History& history) {
  return std::make_unique<copilot::CopilotChecker>(group, &history,
                                                   copilot::CopilotChecker::Machine::kOther);
}

namespace kv {
namespace {

constexpr Duration kChaos = 4s;

// Returns the number of commands whose outcome became known.
int ServeMany(int replicas, std::uint64_t seed) {
  constexpr int kClients = 6;
  RandomStream random(testkit::SeedOf(seed), seed, 801);
  auto mix = faults::UsualMix();
  mix.push_back(faults::PresetStrength("partition"));
  mix.push_back(faults::PresetStrength("crash"));
  KvWorld world({.replicas = replicas, .seed = seed});
  world.cluster.Schedule(
      faults::RandomPlan(random, {.replicas = replicas, .length = kChaos, .mix = mix}));
  std::vector<std::unique_ptr<BusyClient>> clients;
  for (int who = 0; who < kClients; ++who) {
    clients.push_back(
        std::make_unique<BusyClient>(world, who, testkit::SeedOf(seed) + seed, /*targets=*/2,
                                     [&] { return world.cluster.now() < 700ms + kChaos; }));
    clients.back()->Next();
  }
  const auto all_idle = [&] { return std::ranges::all_of(clients, &BusyClient::is_idle); };
  EXPECT_TRUE(world.cluster.RunUntil(all_idle, kChaos + 6s));
  world.cluster.Heal();
  world.cluster.RunFor(3s);
  EXPECT_TRUE(world.IsLinearizable());
  int known = 0;
  for (const auto& each : clients) known += each->known();
  return known;
}

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Worlds COPILOT_FIRST and those after it, COPILOT_SEEDS in all.
TEST(CopilotStore, StaysLinearizableUnderFaults) {
  const std::uint64_t first = FromEnvironment("COPILOT_FIRST", 1);
  const std::uint64_t seeds = FromEnvironment("COPILOT_SEEDS", 8);
  int known = 0;
  for (const int replicas : {3, 5, 7}) {
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
      SCOPED_TRACE(std::to_string(replicas) + " replicas, world " + std::to_string(seed));
      known += ServeMany(replicas, seed);
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(known, static_cast<int>(seeds) * 3 * 150) << "most commands meet no answer";
}

// The copy that comes second finds the command run by the first, whose pilot has died since.
TEST(CopilotStore, ACopyIsAnsweredAfterTheDeathOfTheOtherPilot) {
  KvWorld world({.replicas = 3, .seed = 7});
  testkit::Client client(world.cluster.simulator());
  world.cluster.RunFor(100ms);
  const std::uint64_t id = std::uint64_t{99} << copilot::kRequestBits | 1;
  const auto ask = [&](PeerId pilot) {
    return copilot::AskOne(world.cluster, client, pilot, KvRequest{Words("INCR n"), id},
                           Dependency::Client(id));
  };
  EXPECT_EQ(ask(1), Reply::Integer(1));
  world.cluster.RunFor(50ms);
  world.cluster.Crash(1);
  EXPECT_EQ(ask(0), Reply::Integer(1));
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The worst case of a system with one leader: here another pilot answers, reads as well.
TEST(CopilotStore, AnswersWhileAPilotIsPaused) {
  for (const PeerId paused : {0, 1}) {
    KvWorld world({.replicas = 3, .seed = 6});
    KvClient client(world.cluster.simulator(), ClientOptions{.targets = 2});
    world.cluster.RunFor(100ms);
    world.cluster.Begin(faults::NetSlow({paused}, 10s));
    const Time begun = world.cluster.now();
    int left = 40;
    for (int i = 0; i < left; ++i) {
      world.Start(client, i, i % 2 == 0 ? Words("INCR n") : Words("GET n"),
                  [&](const KvOutcome& outcome) { left -= outcome.is_known() ? 1 : 0; });
    }
    ASSERT_TRUE(world.cluster.RunUntil([&] { return left == 0; }, 1s));
    EXPECT_LT(world.cluster.now() - begun, 50ms);
    EXPECT_TRUE(world.IsLinearizable());
  }
}

}  // namespace
}  // namespace kv
}  // namespace depfast
