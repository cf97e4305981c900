// Hidden tests: scripted scenarios that random tests rarely reach. Each scenario scripts the
// partitions and the crashes.
#include <gtest/gtest.h>

#include <vector>

#include "conversation.h"
#include "raft_world.h"
#include "safety.h"
#include "testkit/client.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

// Runs until one of `replicas` has `role` in a term above `term`. Returns it, or kNobody.
PeerId WaitForRole(RaftWorld& world, const std::vector<PeerId>& replicas, Role role,
                   std::uint64_t term) {
  PeerId found = kNobody;
  world.cluster.RunUntil(
      [&] {
        for (PeerId id : replicas) {
          const auto& claims = world.checker.claims(id);
          if (world.cluster.simulator().IsUp(id) && claims.role == role && claims.term > term) {
            found = id;
          }
        }
        return found != kNobody;
      },
      4s);
  return found;
}

// Raft, figure 8, with the replicas' names: s1 replicates entries of term 2 to s2 alone. s5 leads
// term 3 and reaches no other replica. s1 or s2 leads again and replicates the old entries to s3.
// These entries are on a majority now, but s3 and s4 could still elect s5, which would replace
// them.
// In the next term s1 or s2 leads again at once, and s3 has none of their entries.
void EntriesOfTheTermBefore() {
  RaftWorld world({.replicas = 5, .seed = 602});
  const PeerId s1 = world.WaitForLeader();
  ASSERT_NE(s1, kNobody);
  ASSERT_TRUE(world.Commit(5));
  ASSERT_TRUE(world.WaitForAllApplied());
  const auto others = world.Others(s1);
  const auto left = faults::PartitionFault({s1, others[0]});
  world.cluster.Begin(left);
  for (int i = 0; i < 300; ++i) world.SubmitOne();
  world.cluster.RunFor(100ms);
  const std::uint64_t committed = world.checker.MaxCommitIndex();
  for (PeerId id = 0; id < 5; ++id) world.cluster.Crash(id);
  world.cluster.End(left);
  for (PeerId id : {s1, others[0], others[1]}) world.cluster.Restart(id);
  ASSERT_TRUE(
      world.cluster.RunUntil([&] { return world.checker.MaxCommitIndex() > committed; }, 6s))
      << "a majority is up, and nothing commits";
  world.cluster.Heal();
  ASSERT_TRUE(world.Commit(5, 6s));
  ASSERT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftScenarios, EntriesOfEarlierTermsCommitWithANewOneOnly, "2c", 2,
            "An entry of an earlier term commits only with an entry of the leader's own term.") {
  ASSERT_NO_FATAL_FAILURE(EntriesOfTheTermBefore());
  RaftWorld world({.replicas = 5, .seed = 601});
  const PeerId s1 = world.WaitForLeader();
  ASSERT_NE(s1, kNobody);
  ASSERT_TRUE(world.Commit(5));
  ASSERT_TRUE(world.WaitForAllApplied());
  const auto others = world.Others(s1);
  const PeerId s2 = others[0];

  const auto left = faults::PartitionFault({s1, s2});
  world.cluster.Begin(left);
  for (int i = 0; i < 300; ++i) world.SubmitOne();
  world.cluster.RunFor(100ms);
  const std::uint64_t committed = world.checker.MaxCommitIndex();
  std::uint64_t term = world.checker.claims(s1).term;
  world.cluster.Crash(s1);
  world.cluster.Crash(s2);

  const PeerId s5 = WaitForRole(world, {others[1], others[2], others[3]}, Role::kLeader, term);
  ASSERT_NE(s5, kNobody) << "three of five replicas elect no leader";
  const auto alone = faults::PartitionFault({s5});
  world.cluster.Begin(alone);  // before its first message leaves
  world.cluster.RunFor(20ms);  // its own entry reaches its disk
  term = world.checker.claims(s5).term;
  const PeerId s3 = others[1] == s5 ? others[2] : others[1];
  const PeerId s4 = others[3] == s5 ? others[2] : others[3];
  world.cluster.Crash(s5);
  world.cluster.Crash(s4);
  world.cluster.End(left);
  world.cluster.End(alone);

  world.cluster.Restart(s1);
  world.cluster.Restart(s2);
  const PeerId again = WaitForRole(world, {s1, s2, s3}, Role::kLeader, term);
  ASSERT_NE(again, kNobody) << "three of five replicas elect no leader";
  ASSERT_TRUE(world.cluster.RunUntil(
      [&] { return world.checker.claims(again).commit_index > committed; }, 4s))
      << "a majority is up, and nothing commits";
  world.cluster.Crash(s1);
  world.cluster.Crash(s2);
  world.cluster.Restart(s4);
  world.cluster.Restart(s5);
  ASSERT_TRUE(world.Commit(5, 6s)) << "three of five replicas commit nothing";
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

// x campaigns and reaches only b, which votes for x. x dies, and another candidate of the same term
// asks b for its vote. With `voter_crashes`, b has lost power in between.
void AskAVoterTwice(bool voter_crashes, std::uint64_t seed) {
  RaftWorld world({.replicas = 5, .seed = seed});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(world.Commit(5));
  ASSERT_TRUE(world.WaitForAllApplied());
  std::uint64_t term = world.checker.claims(leader).term;
  const auto others = world.Others(leader);
  world.cluster.Crash(leader);
  const PeerId x = WaitForRole(world, others, Role::kCandidate, term);
  ASSERT_NE(x, kNobody) << "the leader died, and no replica campaigns";
  const PeerId b = others[0] == x ? others[1] : others[0];
  const auto two = faults::PartitionFault({x, b});
  world.cluster.Begin(two);    // before its first message leaves
  world.cluster.RunFor(20ms);  // b votes
  world.cluster.Crash(x);
  if (voter_crashes) {
    world.cluster.Crash(b);
    world.cluster.Restart(b);
  }
  world.cluster.Restart(leader);  // a majority without x and b, which does not know b's vote
  std::vector<PeerId> rest;
  for (PeerId id : world.Others(x)) {
    if (id != b) rest.push_back(id);
  }
  ASSERT_NE(WaitForRole(world, rest, Role::kCandidate, term), kNobody);
  world.cluster.End(two);
  ASSERT_NE(world.WaitForLeader(4s), kNobody) << "three of five replicas elect no leader";
  ASSERT_TRUE(world.AllInvariantsHold());
}

// x campaigns, reaches nobody and loses power. Another candidate of its term asks for its vote. The
// test speaks for that candidate.
void AskACandidateForItsVote(std::uint64_t seed) {
  RaftWorld world({.replicas = 3, .seed = seed});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const std::uint64_t term = world.checker.claims(leader).term;
  world.cluster.Crash(leader);
  const PeerId x = WaitForRole(world, world.Others(leader), Role::kCandidate, term);
  ASSERT_NE(x, kNobody) << "the leader died, and no replica campaigns";
  world.cluster.Partition({x});  // before it has a vote
  const std::uint64_t its_term = world.checker.claims(x).term;
  world.cluster.RunFor(20ms);  // its vote for itself reaches its disk
  world.cluster.Crash(x);
  world.cluster.Restart(x);
  testkit::Client client(world.cluster.simulator());
  client.Call(x, RequestVote{its_term, leader, 1000, its_term, false}, 1s, [](const auto&) {});
  world.cluster.RunFor(100ms);
  ASSERT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftScenarios, AVoteIsGivenOnce, "2c", 1,
            "A replica votes for one candidate per term, even if it restarts in between.") {
  ASSERT_NO_FATAL_FAILURE(AskACandidateForItsVote(600));
  for (std::uint64_t seed = 1; seed <= 4 && !testing::Test::HasFatalFailure(); ++seed) {
    AskAVoterTwice(false, 610 + seed);
    if (!testing::Test::HasFatalFailure()) AskAVoterTwice(true, 620 + seed);
  }
}

// Another candidate of its term asks a candidate for its vote. Then the candidate hears of a leader
// that the term has already, and is asked again. The test speaks for both.
GRADED_TEST(RaftScenarios, ACandidateFollowsTheLeaderOfItsTerm, "2a", 1,
            "A candidate has voted for itself, and becomes a follower when it hears of a leader of "
            "its own term.") {
  RaftWorld world({.replicas = 3, .seed = 650}, RaftWorld::Persistence::kNotYet);
  const PeerId leader = world.WaitForElection();
  ASSERT_NE(leader, kNobody);
  const std::uint64_t term = world.checker.claims(leader).term;
  world.cluster.Crash(leader);
  const PeerId x = WaitForRole(world, world.Others(leader), Role::kCandidate, term);
  ASSERT_NE(x, kNobody) << "the leader died, and no replica campaigns";
  world.cluster.Partition({x});  // before it has a vote
  const PeerId other =
      world.Others(leader)[0] == x ? world.Others(leader)[1] : world.Others(leader)[0];
  const std::uint64_t its_term = world.checker.claims(x).term;
  testkit::Client client(world.cluster.simulator());
  int denials = 0;
  const auto ask_for_its_vote = [&] {
    client.Call(x, RequestVote{its_term, other, 1000, its_term, false}, 1s,
                [&](const auto& reply) { denials += reply && !reply->granted ? 1 : 0; });
    world.cluster.RunFor(20ms);
  };
  ask_for_its_vote();
  EXPECT_EQ(world.checker.claims(x).role, Role::kCandidate) << "a vote that it denied ended it";
  client.Call(x, AppendEntries{its_term, other, 0, 0, {}, 0}, 1s, [](const auto&) {});
  world.cluster.RunFor(20ms);
  EXPECT_EQ(world.checker.claims(x).role, Role::kFollower);
  ask_for_its_vote();
  EXPECT_EQ(denials, 2) << Unsafe(Safety::kOneVote) << "it votes twice in a term";
  EXPECT_EQ(world.checker.claims(x).term, its_term);
  EXPECT_TRUE(world.AllInvariantsHold());
}

// A leader is cut off with entries that no other replica has. It returns to a leader of a later
// term that knows nothing about it: their logs differ at the new leader's first prev_log_index.
GRADED_TEST(RaftScenarios, ALogThatDivergesIsReplaced, "2c", 1,
            "A follower with a different log adopts the leader's log from the first difference.") {
  RaftWorld world({.replicas = 3, .seed = 630});
  const PeerId stray = world.WaitForLeader();
  ASSERT_NE(stray, kNobody);
  ASSERT_TRUE(world.Commit(10));
  ASSERT_TRUE(world.WaitForAllApplied());
  world.cluster.Partition({stray});
  for (int i = 0; i < 60; ++i) world.SubmitOne();  // only its own disk receives these
  world.cluster.RunFor(100ms);
  const std::uint64_t term = world.checker.claims(stray).term;
  const PeerId second = WaitForRole(world, world.Others(stray), Role::kLeader, term);
  ASSERT_NE(second, kNobody) << "two of three replicas elect no leader";
  ASSERT_TRUE(world.Commit(100, 5s));
  world.cluster.Crash(stray);
  world.cluster.Crash(second);
  world.cluster.RunFor(50ms);
  world.cluster.End(faults::PartitionFault({stray}));
  world.cluster.Restart(stray);
  const Conversation conversation(world, stray);
  ASSERT_TRUE(world.Commit(10, 6s)) << "two of three replicas commit nothing";
  EXPECT_LE(conversation.refusals(), 20) << "the leader goes back entry by entry";
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

// Crashes and restarts the replicas other than `chosen`, so that their election timeouts begin
// again, until `chosen` leads. Returns whether it does.
bool MakeLeader(RaftWorld& world, PeerId chosen, const std::vector<PeerId>& others) {
  for (int i = 0; i < 20; ++i) {
    for (PeerId other : others) {
      world.cluster.Crash(other);
      world.cluster.Restart(other);
    }
    world.cluster.RunFor(kElectionTimeoutMin - 50ms);
    if (world.checker.Leader() == chosen) return true;
  }
  return false;
}

// A leader a and its follower b have entries that no other replica has. c leads the next term, and
// the entries give way. Then a leads again, and its log has its earlier length.
GRADED_TEST(RaftScenarios, ALeaderOfTwoTermsBeginsAnew, "2c", 1,
            "A leader counts no answer and no write of an earlier term of its own, and serves each "
            "follower that lags anew.") {
  for (const bool follower_is_away : {true, false}) {
    RaftWorld world({.replicas = 5, .seed = 640});
    const PeerId a = world.WaitForLeader();
    ASSERT_NE(a, kNobody);
    ASSERT_TRUE(world.Commit(5));
    ASSERT_TRUE(world.WaitForAllApplied());
    const auto others = world.Others(a);
    const PeerId b = others[0];
    const auto cut = faults::PartitionFault({a, b});
    world.cluster.Begin(cut);
    for (int i = 0; i < 60; ++i) world.SubmitOne();
    world.cluster.RunFor(100ms);
    const std::uint64_t term = world.checker.claims(a).term;
    const PeerId c = WaitForRole(world, {others[1], others[2], others[3]}, Role::kLeader, term);
    ASSERT_NE(c, kNobody) << "three of five replicas elect no leader";
    world.cluster.End(cut);
    ASSERT_TRUE(world.Commit(2, 5s));
    ASSERT_TRUE(world.WaitForAllApplied());
    const PeerId d = others[1] == c ? others[2] : others[1];
    const PeerId e = others[3] == c ? others[2] : others[3];
    world.cluster.Crash(c);
    world.cluster.Crash(d);
    ASSERT_TRUE(MakeLeader(world, a, {b, e})) << "a replica with the longest log does not lead";
    ASSERT_TRUE(world.Commit(1));
    // Two of five replicas write what follows: a and e, or b and e while a's disk is slow.
    if (follower_is_away) {
      world.cluster.Crash(b);
    } else {
      world.cluster.Begin(faults::FsDelay({a}, 200ms));
    }
    for (int i = 0; i < 80; ++i) world.SubmitOne();
    world.cluster.RunFor(150ms);  // the checker judges what a commits
    world.cluster.Heal();
    ASSERT_TRUE(world.Commit(5, 6s));
    ASSERT_TRUE(world.WaitForAllApplied()) << "it does not serve those that it served before";
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

}  // namespace
}  // namespace depfast::raft
