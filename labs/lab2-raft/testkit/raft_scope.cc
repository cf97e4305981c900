#include "raft_scope.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "raft_messages.h"
#include "raft_situations.h"
#include "raft_world.h"

namespace depfast::raft {
namespace {

// The handout's promises after faults.
constexpr Duration kPatience = 6s;

// The second command comes while the first is being replicated. Then there is time to commit both.
void SubmitTwo(RaftWorld& world) {
  world.SubmitOne();
  world.cluster.RunFor(200us);
  world.SubmitOne();
  world.cluster.RunFor(20ms);
}

// Cuts the leader off with two commands that no other replica has, until the others have a leader.
void LeaveAlone(RaftWorld& world, PeerId leader) {
  const auto cut = faults::PartitionFault({leader});
  world.cluster.Begin(cut);
  SubmitTwo(world);
  const auto others_are_led = [&] {
    const PeerId now = world.checker.Leader();
    return now != leader && now != kNobody && world.checker.Serves(now);
  };
  world.cluster.RunUntil(others_are_led, kElected);
  world.cluster.End(cut);
}

}  // namespace

void RunRaftScope(testkit::ScopedRun& run, const testkit::Deviations& deviations) {
  RaftWorld world({.replicas = 3, .seed = 1401});
  run.Begin(world.cluster.simulator(), deviations);
  const RaftSituations situations(world.cluster.simulator(), world.checker);
  const Time calm = run.last_end();
  const PeerId first = world.WaitForLeader(std::max(calm, Time(0)) + kPatience);
  ASSERT_NE(first, kNobody) << "no leader within 6 s after the last fault";
  SubmitTwo(world);
  LeaveAlone(world, first);
  if (calm > world.cluster.now()) world.cluster.RunFor(calm - world.cluster.now());
  ASSERT_TRUE(world.Commit(1, kPatience)) << "nothing commits within 6 s after the last fault";
  ASSERT_TRUE(world.WaitForAllApplied()) << "a replica does not catch up";
  for (const auto& [name, has_happened] : situations.Seen()) run.Saw(name, has_happened);
  run.End();
  ASSERT_TRUE(world.AllInvariantsHold());
}

}  // namespace depfast::raft
