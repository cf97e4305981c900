#include "kv_swarm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "busy_client.h"
#include "faults/random_plan.h"
#include "kv_world.h"
#include "testkit/chaos.h"
#include "testkit/environment.h"

namespace depfast::kv {
namespace {

constexpr Duration kChaos = 4s;

// Client number `who` executes the commands, and each has a known outcome.
void ExpectAnswers(KvWorld& world, int who, const std::vector<std::string>& lines) {
  KvClient client(world.cluster.simulator());
  std::size_t answered = 0;
  for (const std::string& line : lines) {
    world.Start(client, who, Words(line), [&](const KvOutcome& outcome) {
      if (outcome.is_known() && !HasCode(*outcome.reply, "TRYAGAIN")) ++answered;
    });
  }
  ASSERT_TRUE(world.cluster.RunUntil([&] { return answered == lines.size(); }, 6s))
      << answered << " of " << lines.size() << " commands have an answer 6 s after the last fault";
}

void ServeMany(testkit::Chaos& chaos, std::uint64_t seed, const Disturb& disturb) {
  constexpr int kClients = 6;
  KvWorld world({.replicas = chaos.replicas(), .seed = seed});
  world.cluster.Schedule(chaos.plan());
  const auto disturbing = disturb ? disturb(world) : nullptr;
  ASSERT_NE(world.WaitForProposer(), kNobody);
  const auto goes_on = [&] {
    return world.cluster.now() < 700ms + kChaos && chaos.MayStartCommand();
  };
  std::vector<std::unique_ptr<BusyClient>> clients;
  for (int who = 0; who < kClients; ++who) {
    clients.push_back(std::make_unique<BusyClient>(world, who, testkit::SeedOf(seed) + seed,
                                                   /*targets=*/1, goes_on));
    clients.back()->client().set_first(static_cast<PeerId>(who % chaos.replicas()));
    clients.back()->Next();
  }
  const auto all_idle = [&] { return std::ranges::all_of(clients, &BusyClient::is_idle); };
  ASSERT_TRUE(world.cluster.RunUntil(all_idle, kChaos + 6s))
      << "6 s after the last fault, some client still waits for an answer";
  world.cluster.Heal();
  ASSERT_NE(world.WaitForProposer(6s), kNobody);
  // A cluster at rest executes what is asked: else a store that answers nothing would pass.
  ExpectAnswers(world, kClients, {"SET k0 z", "SET k1 z", "SET k2 z", "GETSET k3 z", "INCR n"});
  ExpectAnswers(world, kClients + 1, {"GET k0", "GET k1", "GET k2", "GET k3", "GET n"});
  if (testing::Test::HasFatalFailure()) return;
  ASSERT_TRUE(world.IsLinearizable());
}

}  // namespace

void Swarm(int replicas, std::uint64_t seed, const Disturb& disturb) {
  RandomStream random(testkit::SeedOf(seed), seed, 801);
  const faults::FaultPlan plan =
      faults::RandomPlan(random, {.replicas = replicas, .length = kChaos});
  testkit::RunChaos({.replicas = replicas, .plan = plan},
                    [&](testkit::Chaos& chaos) { ServeMany(chaos, seed, disturb); });
}

}  // namespace depfast::kv
