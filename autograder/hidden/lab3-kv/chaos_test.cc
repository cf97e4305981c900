// Hidden tests: many clients under random faults. Their history must be linearizable: it must look
// like one store that serves one command at a time.
#include "testkit/chaos.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "faults/random_plan.h"
#include "kv_swarm.h"
#include "kv_world.h"
#include "testkit/environment.h"

namespace depfast::kv {
namespace {

constexpr Duration kChaos = 4s;

GRADED_TEST(KvChaos, FiveReplicasStayLinearizable, "linearizability", 3,
            "Under random faults the clients' history of five replicas is linearizable.") {
  for (std::uint64_t seed = 1; seed <= 10 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    Swarm(5, 790 + seed);
  }
}

// Each client counts up in its own session, and retries every command until it has a reply. It
// pauses between commands: only commands that meet a fault matter, not the number of commands.
void CountUp(testkit::Chaos& chaos, std::uint64_t seed, RandomStream random) {
  constexpr int kClients = 4;
  constexpr Duration kPauseBelow = 10ms;
  KvWorld world({.replicas = chaos.replicas(), .seed = seed});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  world.cluster.Schedule(chaos.plan());
  std::vector<std::unique_ptr<KvClient>> clients;
  std::vector<std::int64_t> sessions;
  for (int who = 0; who < kClients; ++who) {
    clients.push_back(std::make_unique<KvClient>(
        world.cluster.simulator(),
        KvClient::Options{.answer_timeout = 150ms, .give_up = kChaos + 30s}));
    sessions.push_back(world.OpenSession());
    ASSERT_GT(sessions.back(), 0);
  }
  std::int64_t counted = 0;
  int running = kClients;
  std::function<void(std::size_t, int)> next = [&](std::size_t who, int sequence) {
    if (world.cluster.now() >= 700ms + kChaos || !chaos.MayStartCommand()) {
      --running;
      return;
    }
    clients[who]->ExecuteInSession(
        {"SESSION", std::to_string(sessions[who]), std::to_string(sequence), "INCR", "n"},
        [&, who, sequence](const KvOutcome& outcome) {
          EXPECT_TRUE(outcome.is_known() && outcome.reply->kind == Reply::Kind::kInteger)
              << "number " << sequence << " of session " << sessions[who] << " has no answer";
          ++counted;
          world.cluster.simulator().At(world.cluster.now() + random.Below(kPauseBelow),
                                       [&, who, sequence] { next(who, sequence + 1); });
        });
  };
  for (std::size_t who = 0; who < clients.size(); ++who) next(who, 1);
  ASSERT_TRUE(world.cluster.RunUntil([&] { return running == 0; }, kChaos + 20s))
      << "a command has no answer";
  world.cluster.Heal();
  ASSERT_EQ(world.Do("GET n"), Reply::String(std::to_string(counted)))
      << counted << " commands were acknowledged, each must be executed once";
  ASSERT_TRUE(world.AllInvariantsHold());
}

void CountUpUnderFaults(std::uint64_t seed) {
  RandomStream random(testkit::SeedOf(seed), seed, 802);
  const faults::FaultPlan plan = faults::RandomPlan(random, {.replicas = 3, .length = kChaos});
  testkit::RunChaos({.replicas = 3, .plan = plan},
                    [&](testkit::Chaos& chaos) { CountUp(chaos, seed, random); });
}

GRADED_TEST(
    KvChaos, SessionsCountExactlyOnce, "linearizability", 5,
    "Commands that clients retry in sessions until they have a reply are executed exactly once.") {
  for (std::uint64_t seed = 1; seed <= 5 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    CountUpUnderFaults(810 + seed);
  }
}

}  // namespace
}  // namespace depfast::kv
