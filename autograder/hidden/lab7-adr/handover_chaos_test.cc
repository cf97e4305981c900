// Hidden tests: hand-overs under random faults, and in every schedule of a small world with one
// deviation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>

#include "depfast/host/random.h"
#include "handover_checker.h"
#include "handover_scope.h"
#include "kv_swarm.h"
#include "kv_world.h"
#include "planted_health.h"
#include "testkit/client.h"
#include "testkit/environment.h"
#include "testkit/situations.h"

namespace depfast::adr {
namespace {

// Tells random replicas to find themselves slow, with random peers that are well.
class RandomHealth {
 public:
  // Counts in `situations` at its end. Both outlive this.
  RandomHealth(kv::KvWorld& world, std::uint64_t seed, testkit::SituationCounts& situations)
      : simulator_(world.cluster.simulator()),
        checker_(dynamic_cast<const HandoverChecker&>(world.log())),
        situations_(situations),
        client_(simulator_),
        random_(testkit::SeedOf(seed), seed, 807) {
    for (PeerId replica = 0; replica < simulator_.replicas(); ++replica) Plant(replica, {});
    PlantNext();
  }
  ~RandomHealth() {
    const auto& sent = checker_.sent();
    const auto took_over = std::ranges::count_if(sent, [this](const SentHandover& each) {
      return checker_.elections().LeaderOf(each.term + 1) == each.to;
    });
    situations_.Add(
        {{"a hand-over", took_over > 0}, {"a hand-over in vain", took_over < std::ssize(sent)}});
  }
  RandomHealth(const RandomHealth&) = delete;
  RandomHealth& operator=(const RandomHealth&) = delete;

 private:
  void PlantNext() {
    simulator_.At(simulator_.now() + random_.Below(Duration(200ms)), [this] {
      PlantAny();
      PlantNext();
    });
  }

  void PlantAny() {
    PlantHealth health;
    if (random_.Below(3) > 0) health.suspicion.who = Suspicion::Who::kSelf;
    for (PeerId peer = 0; peer < simulator_.replicas(); ++peer) {
      if (random_.Below(3) > 0) health.reports.push_back({.peer = peer, .age_ns = 0, .levels = {}});
    }
    const auto replicas = static_cast<std::uint64_t>(simulator_.replicas());
    Plant(static_cast<PeerId>(random_.Below(replicas)), health);
  }

  void Plant(PeerId replica, const PlantHealth& health) {
    client_.Call(replica, health, 1s, [](const auto&) {});
  }

  sim::Simulator& simulator_;
  const HandoverChecker& checker_;
  testkit::SituationCounts& situations_;
  testkit::Client client_;
  RandomStream random_;
};

GRADED_TEST(HandOverChaos, LosesNothing, "7d", 2,
            "Under random faults and hand-overs to random peers, the clients' history of 3 and 5 "
            "replicas is linearizable, and all of Raft's invariants hold.") {
  testkit::SituationCounts situations;
  for (std::uint64_t seed = 1; seed <= 17 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("world " + std::to_string(seed));
    kv::Swarm(seed % 3 == 0 ? 5 : 3, 810 + seed, [&](kv::KvWorld& world) {
      return std::make_shared<RandomHealth>(world, 810 + seed, situations);
    });
  }
}

// About twice the reference's runs.
constexpr std::int64_t kRunsMax = 1200;

GRADED_TEST(HandOverExploration, NoSingleDeviationBreaksIt, "7d", 1,
            "No crash and no late message, at any moment of a hand-over, breaks a rule.") {
  testkit::ExploreScope(
      {.bound = {.deviations = 1, .losses = 0}, .runs_max = kRunsMax}, [](testkit::ScopedRun& run) {
        RunHandoverScope(
            run, {.delays = {kTooLate}, .stalls = {}, .downtimes = {kUnnoticed}, .cuts = {}});
      });
}

}  // namespace
}  // namespace depfast::adr
