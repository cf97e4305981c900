#include "handover_scope.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "handover_world.h"

namespace depfast::adr {
namespace {

// The handout's promises after faults.
constexpr Duration kPatience = 6s;

// The second command comes while the first is being replicated.
void WriteTwo(HandoverWorld& world, kv::KvClient& client) {
  for (int i = 0; i < 2; ++i) {
    world.Start(client, 1, {"INCR", "n"});
    world.cluster.RunFor(200us);
  }
}

void Note(testkit::ScopedRun& run, const HandoverWorld& world) {
  const auto& sent = world.checker.sent();
  const auto leader_after = [&](const SentHandover& each) {
    return world.checker.elections().LeaderOf(each.term + 1);
  };
  run.Saw("a hand-over", std::ranges::any_of(sent, [&](const SentHandover& each) {
            return leader_after(each) == each.to;
          }));
  run.Saw("a hand-over in vain", std::ranges::any_of(sent, [&](const SentHandover& each) {
            return leader_after(each) != each.to;
          }));
  run.Saw("no hand-over", sent.empty());
}

}  // namespace

void RunHandoverScope(testkit::ScopedRun& run, const testkit::Deviations& deviations) {
  HandoverWorld world({.replicas = 3, .seed = 1407});
  run.Begin(world.cluster.simulator(), deviations);
  const Time calm = run.last_end();
  const PeerId leader = world.WaitForProposer(std::max(calm, Time(0)) + kPatience);
  ASSERT_NE(leader, kNobody) << "no leader within 6 s after the last fault";
  kv::KvClient client(world.cluster.simulator());
  client.set_first(leader);
  WriteTwo(world, client);
  world.FindsItselfSlow(leader, {HandoverWorld::Well(world.Others(leader)[0])});
  WriteTwo(world, client);
  std::ignore = world.WaitForSuccessor(leader, raft::kDrainMax + raft::kTakeOverMax);
  if (calm > world.cluster.now()) world.cluster.RunFor(calm - world.cluster.now());
  // A successor that was cut off may depose the leader now: then a command's outcome is unknown.
  world.cluster.RunFor(2 * raft::kElectionTimeoutMax);
  ASSERT_TRUE(world.Serves(kPatience)) << "nothing commits within 6 s after the last fault";
  ASSERT_TRUE(world.WaitForAllApplied(kPatience)) << "a replica does not catch up";
  Note(run, world);
  run.End();
  ASSERT_TRUE(world.IsLinearizable());
}

}  // namespace depfast::adr
