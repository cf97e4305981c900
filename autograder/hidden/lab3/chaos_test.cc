// Hidden tests: many clients under random faults. Their history must be linearizable: it must look
// like one store that serves one command at a time.
#include "testkit/chaos.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "faults/random_plan.h"
#include "kv_world.h"
#include "testkit/environment.h"

namespace depfast::kv {
namespace {

constexpr Duration kChaos = 4s;

// A client with at most one command under way.
class BusyClient {
 public:
  BusyClient(testkit::Chaos& chaos, KvWorld& world, int who, std::uint64_t seed)
      : chaos_(chaos),
        world_(world),
        who_(who),
        random_(seed, 800, static_cast<std::uint64_t>(who)),
        client_(world.cluster.simulator(), {.answer_timeout = 500ms, .give_up = 2s}) {
    client_.set_first(static_cast<PeerId>(who % world.cluster.replicas()));
  }

  void Next() {
    if (world_.cluster.now() >= 700ms + kChaos || !chaos_.MayStartCommand()) {
      idle_ = true;
      return;
    }
    world_.Start(client_, who_, RandomCommand(), [this](const KvOutcome&) {
      world_.cluster.simulator().At(world_.cluster.now() + random_.Below(Duration(60ms)),
                                    [this] { Next(); });
    });
  }

  bool idle() const { return idle_; }

 private:
  Command RandomCommand() {
    const std::string key = "k" + std::to_string(random_.Below(4));
    const std::string unique = std::to_string(who_) + "." + std::to_string(++commands_);
    switch (random_.Below(8)) {
      case 0:
      case 1:
      case 2:
        return {"GET", key};
      case 3:
      case 4:
        return {"SET", key, unique};
      case 5:
        return {"GETSET", key, unique};
      case 6:
        return {"INCR", "n"};
      default:
        return {"GET", "n"};
    }
  }

  testkit::Chaos& chaos_;
  KvWorld& world_;
  int who_;
  RandomStream random_;
  KvClient client_;
  int commands_ = 0;
  bool idle_ = false;
};

void ServeMany(testkit::Chaos& chaos, std::uint64_t seed) {
  constexpr int kClients = 6;
  KvWorld world({.replicas = chaos.replicas(), .seed = seed});
  world.cluster.Schedule(chaos.plan());
  ASSERT_NE(world.WaitForProposer(), kNobody);
  std::vector<std::unique_ptr<BusyClient>> clients;
  for (int who = 0; who < kClients; ++who) {
    clients.push_back(
        std::make_unique<BusyClient>(chaos, world, who, testkit::SeedOf(seed) + seed));
    clients.back()->Next();
  }
  const auto all_idle = [&] {
    for (const auto& each : clients) {
      if (!each->idle()) return false;
    }
    return true;
  };
  ASSERT_TRUE(world.cluster.RunUntil(all_idle, kChaos + 6s));
  world.cluster.Heal();
  ASSERT_NE(world.WaitForProposer(6s), kNobody);
  KvClient last(world.cluster.simulator());
  int left = 5;
  for (const std::string key : {"k0", "k1", "k2", "k3", "n"}) {
    world.Start(last, kClients, {"GET", key}, [&](const KvOutcome& outcome) {
      left -= outcome.is_known() && !HasCode(*outcome.reply, "TRYAGAIN") ? 1 : 0;
    });
  }
  ASSERT_TRUE(world.cluster.RunUntil([&] { return left == 0; }, 6s))
      << "reads have no answer after the last fault";
  ASSERT_TRUE(world.IsLinearizable());
}

void Swarm(int replicas, std::uint64_t seed) {
  RandomStream random(testkit::SeedOf(seed), seed, 801);
  const faults::FaultPlan plan =
      faults::RandomPlan(random, {.replicas = replicas, .length = kChaos});
  testkit::RunChaos({.replicas = replicas, .plan = plan},
                    [&](testkit::Chaos& chaos) { ServeMany(chaos, seed); });
}

GRADED_TEST(KvChaos, ThreeReplicasStayLinearizable, "linearizability", 3,
            "Under random faults the clients' history of three replicas is linearizable.") {
  for (std::uint64_t seed = 1; seed <= 20 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    Swarm(3, 780 + seed);
  }
}

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
  ASSERT_TRUE(world.cluster.RunUntil([&] { return running == 0; }, kChaos + 20s));
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
