#include "kv_swarm.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "faults/random_plan.h"
#include "kv_world.h"
#include "testkit/chaos.h"
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
