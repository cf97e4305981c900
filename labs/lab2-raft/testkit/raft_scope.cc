#include "raft_scope.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "raft_messages.h"
#include "raft_situations.h"
#include "raft_world.h"

namespace depfast::raft {
namespace {

// What the handout promises after faults.
constexpr Duration kPatience = 6s;

testkit::Deviations RaftDeviations() {
  constexpr Duration kUnnoticed = 5ms;
  constexpr Duration kElected = kElectionTimeoutMax + 400ms;  // the others have a leader by then
  return {.delays = {kUnnoticed, kElected},
          .stalls = {kElected},
          .downtimes = {kUnnoticed, kElected},
          .cuts = {kElected}};
}

void CountSituations(const RaftSituations& seen, testkit::ScopedRun& run) {
  run.Saw("a vote denied", seen.a_vote_denied());
  run.Saw("a pre-vote asked for while a leader is alive", seen.a_pre_vote_under_a_leader());
  run.Saw("a leader deposed", seen.a_leader_deposed());
  run.Saw("a campaign lost", seen.a_campaign_lost());
  run.Saw("a log overwritten", seen.a_log_overwritten());
  run.Saw("a crash with an unfinished write", seen.a_write_unfinished());
}

}  // namespace

void RunRaftScope(testkit::ScopedRun& run) {
  RaftWorld world({.replicas = 3, .seed = 1401});
  run.Begin(world.cluster.simulator(), RaftDeviations());
  const RaftSituations situations(world.cluster.simulator(), world.checker);
  const Time calm = run.last_end();
  const auto left = [&] { return std::max(calm - world.cluster.now(), Duration(0)) + kPatience; };
  ASSERT_NE(world.WaitForLeader(left()), kNobody) << "no leader";
  world.SubmitOne();
  world.cluster.RunFor(200us);  // the second comes while the first is being replicated
  world.SubmitOne();
  world.cluster.RunFor(20ms);
  if (calm > world.cluster.now()) world.cluster.RunFor(calm - world.cluster.now());
  ASSERT_TRUE(world.Commit(1, kPatience)) << "nothing commits within 6 s after the last fault";
  ASSERT_TRUE(world.WaitForAllApplied()) << "a replica does not catch up";
  CountSituations(situations, run);
  run.End();
  ASSERT_TRUE(world.AllInvariantsHold());
}

}  // namespace depfast::raft
