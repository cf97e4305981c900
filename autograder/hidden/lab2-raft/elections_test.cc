// Hidden tests: elections.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "raft_world.h"
#include "still_leads.h"
#include "testkit/client.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

using Persistence = RaftWorld::Persistence;

GRADED_TEST(RaftElections, ASlowReplicaDeposesNobody, "2b", 1,
            "A replica at 2 % of its processor does not make the others elect a new leader.") {
  RaftWorld world({.replicas = 3, .seed = 230}, Persistence::kNotYet);
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const std::uint64_t term = world.checker.claims(leader).term;
  world.cluster.Begin(faults::CpuSlow({world.Others(leader)[0]}, 2));
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(world.Commit(50)) << "commands stall behind a slow follower";
    world.cluster.RunFor(20ms);
  }
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied());
  EXPECT_EQ(world.checker.claims(leader).term, term)
      << "the term ended although the leader is healthy";
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The leader and one follower are a bare majority.
void LoseHeartbeats() {
  RaftWorld world({.replicas = 3, .seed = 279}, Persistence::kNotYet);
  const PeerId leader = world.WaitForElection();
  ASSERT_NE(leader, kNobody);
  const std::uint64_t term = world.checker.claims(leader).term;
  const auto others = world.Others(leader);
  world.cluster.Crash(others[0]);
  const auto cut = faults::CutFault({leader}, {others[1]});
  for (int i = 0; i < 5; ++i) {
    world.cluster.RunFor(500ms);
    world.cluster.Begin(cut);
    world.cluster.RunFor(kHeartbeatInterval);
    world.cluster.End(cut);
  }
  world.cluster.RunFor(500ms);
  EXPECT_TRUE(StillLeads(world, leader, term)) << "one lost heartbeat has ended its term";
}

// The leader keeps fewer followers than a majority needs.
void LoseTheMajority(int replicas, std::uint64_t seed) {
  RaftWorld world({.replicas = replicas, .seed = seed}, Persistence::kNotYet);
  const PeerId leader = world.WaitForElection();
  ASSERT_NE(leader, kNobody);
  std::vector<PeerId> minority = world.Others(leader);
  minority.resize(static_cast<std::size_t>((replicas - 1) / 2) - 1);
  minority.push_back(leader);
  world.cluster.Partition(minority);
  world.cluster.RunFor(2s);
  ASSERT_NE(world.checker.claims(leader).role, Role::kLeader)
      << "of " << replicas << " replicas it reaches " << minority.size() - 1
      << ", and still accepts commands that it cannot commit";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftElections, ALeaderWithoutFollowersGivesUp, "2a", 1,
            "A leader that reaches no majority steps down within 2 s. One that loses a single "
            "heartbeat keeps its term.") {
  ASSERT_NO_FATAL_FAILURE(LoseHeartbeats());
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    ASSERT_NO_FATAL_FAILURE(LoseTheMajority(3, 280 + 1000 * seed));
  }
  for (const int replicas : {5, 7}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      ASSERT_NO_FATAL_FAILURE(LoseTheMajority(replicas, 281 + 1000 * seed));
    }
  }
}

GRADED_TEST(RaftElections, SplitVotesAreSettled, "2a", 1,
            "Replicas that campaign at the same time, repeatedly, elect a leader within 8 s.") {
  constexpr Duration kPatience = 8s;  // one of 3,000 elections took more than 4 s
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RaftWorld world({.replicas = 4, .seed = 1220 + seed}, Persistence::kNotYet);
    world.cluster.Begin(
        faults::NetSlow({0, 1, 2, 3}, 60ms));  // a campaign takes longer: more collide
    const PeerId leader = world.WaitForElection(kPatience);
    ASSERT_NE(leader, kNobody) << "four replicas elect no leader";
    world.cluster.Crash(leader);
    ASSERT_NE(world.WaitForElection(kPatience), kNobody)
        << "three of four replicas elect no leader";
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

// Some followers do not hear the leader and campaign again and again, and a test asks for pre-votes
// in between. The leader and the other followers refuse all of these.
GRADED_TEST(RaftElections, PreVotesAreRefusedWhileALeaderLives, "2a", 1,
            "Neither a leader nor a follower that hears it grants a pre-vote, whenever it is "
            "asked.") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    RaftWorld world({.replicas = 5, .seed = 1260 + seed}, Persistence::kNotYet);
    const PeerId leader = world.WaitForElection();
    ASSERT_NE(leader, kNobody);
    const std::uint64_t term = world.checker.claims(leader).term;
    const auto others = world.Others(leader);
    world.cluster.RunFor(200ms);  // every replica knows the leader
    world.cluster.Begin(faults::CutFault({leader}, {others[0], others[1]}));
    testkit::Client client(world.cluster.simulator());
    int granted = 0;
    const auto ask = [&](PeerId replica) {
      client.Call(replica, RequestVote{term + 1, others[0], 1000, term, true}, 1s,
                  [&](const auto& reply) { granted += reply && reply->granted ? 1 : 0; });
    };
    for (int i = 0; i < 100; ++i) {
      for (PeerId replica : {leader, others[2], others[3]}) ask(replica);
      world.cluster.RunFor(17ms);
    }
    EXPECT_EQ(granted, 0) << "a pre-vote was granted under a leader";
    EXPECT_TRUE(StillLeads(world, leader, term)) << "a new term began without need";
    // The followers must not believe the first candidate either, so soon after the leader's death.
    world.cluster.Crash(leader);
    for (int i = 0; i < 40; ++i) {
      for (PeerId replica : {others[2], others[3]}) ask(replica);
      world.cluster.RunFor(7ms);
    }
    ASSERT_NE(world.WaitForElection(2s), kNobody);
    EXPECT_GE(world.checker.elections().situations().pre_votes_under_a_leader, 300);
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

// Three of seven replicas do not hear the leader for a while, repeatedly. Nothing else goes on, so
// the time until each campaigns is its election timeout.
GRADED_TEST(RaftElections, TimeoutsAreDrawnAnewFromTheirWholeRange, "2a", 1,
            "Election timeouts are drawn anew each time, from the whole range and not from "
            "outside.") {
  constexpr Duration kThird = (kElectionTimeoutMax - kElectionTimeoutMin) / 3;
  constexpr Duration kLate = 20ms;  // a heartbeat's way, and steps
  RaftWorld world({.replicas = 7, .seed = 1270}, Persistence::kNotYet);
  const PeerId leader = world.WaitForElection();
  ASSERT_NE(leader, kNobody);
  const auto others = world.Others(leader);
  const std::vector<PeerId> deaf{others[0], others[1], others[2]};
  std::map<PeerId, std::vector<Duration>> waits;
  for (int round = 0; round < 20; ++round) {
    world.cluster.RunFor(200ms);
    const auto cut = faults::CutFault({leader}, deaf);
    world.cluster.Begin(cut);
    const auto& campaigns = world.checker.elections().campaigns();
    const std::size_t before = campaigns.size();
    world.cluster.RunFor(kElectionTimeoutMax + kLate);
    world.cluster.End(cut);
    std::map<PeerId, Duration> first;
    for (std::size_t i = before; i < campaigns.size(); ++i) {
      first.emplace(campaigns[i].replica, campaigns[i].waited);
    }
    ASSERT_EQ(first.size(), deaf.size()) << "a follower that hears nothing does not campaign";
    for (const auto& [replica, waited] : first) waits[replica].push_back(waited);
  }
  std::vector<Duration> all;
  for (const auto& [replica, of_one] : waits) {
    const auto [low, high] = std::minmax_element(of_one.begin(), of_one.end());
    EXPECT_GT(*high - *low, kThird) << "replica " << replica << " hardly varies its timeout";
    all.insert(all.end(), of_one.begin(), of_one.end());
  }
  const auto [low, high] = std::minmax_element(all.begin(), all.end());
  EXPECT_LT(*low, kElectionTimeoutMin + kThird) << "no short timeout among " << all.size();
  EXPECT_GT(*high, kElectionTimeoutMax - kThird) << "no long timeout among " << all.size();
  EXPECT_LE(*high, kElectionTimeoutMax + kLate);
  EXPECT_TRUE(world.AllInvariantsHold());
}

// A follower learns of a newer term; the leader can learn of it from that follower's answers alone.
GRADED_TEST(RaftElections, ANewerTermInAnAnswerEndsALeadership, "2a", 1,
            "A leader steps down when any answer, a late one too, names a newer term.") {
  for (const Duration delay : {0ms, 100ms, 400ms}) {
    SCOPED_TRACE("answers that take " + std::to_string(delay / 1ms) + " ms more");
    RaftWorld world({.replicas = 5, .seed = 1280}, Persistence::kNotYet);
    const PeerId leader = world.WaitForElection();
    ASSERT_NE(leader, kNobody);
    const std::uint64_t newer = world.checker.claims(leader).term + 3;
    const PeerId knows = world.Others(leader)[2];
    world.cluster.Begin(faults::NetSlow({knows}, delay));
    world.cluster.RunFor(1s);
    testkit::Client client(world.cluster.simulator());
    client.Call(knows, RequestVote{newer, world.Others(leader)[0], 0, 0, false}, 1s,
                [](const auto&) {});
    ASSERT_TRUE(world.cluster.RunUntil([&] { return world.checker.claims(leader).term >= newer; },
                                       delay + 600ms))
        << "the leader does not hear of the newer term";
    world.cluster.Heal();
    ASSERT_TRUE(world.cluster.RunUntil(
        [&] {
          const PeerId now = world.checker.Leader();
          return now != kNobody && world.checker.claims(now).term >= newer;
        },
        4s))
        << "nobody leads the newer term, or a later one";
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

// Messages of an earlier term come all the time, to the leader and to its followers. A candidate
// that has lost asks the leader for its vote, too.
GRADED_TEST(RaftElections, AnOldLeadersMessagesChangeNothing, "2a", 1,
            "Messages of an old term, and requests for a vote of the leader's own term, depose no "
            "leader; messages of an old term postpone no campaign.") {
  RaftWorld world({.replicas = 5, .seed = 1290}, Persistence::kNotYet);
  const PeerId first = world.WaitForElection();
  ASSERT_NE(first, kNobody);
  const std::uint64_t old_term = world.checker.claims(first).term;
  world.cluster.Crash(first);
  const PeerId second = world.WaitForElection();
  ASSERT_NE(second, kNobody);
  const std::uint64_t term = world.checker.claims(second).term;
  testkit::Client client(world.cluster.simulator());
  const auto disturb = [&](Duration duration) {
    for (Duration passed{0}; passed < duration; passed += 25ms) {
      for (PeerId id : world.Others(first)) {
        client.Call(id, AppendEntries{old_term, first, 0, 0, {}, 0}, 1s, [](const auto&) {});
        client.Call(id, InstallSnapshot{old_term, first, 9, old_term, 8, 0, "data"}, 1s,
                    [](const auto&) {});
        client.Call(id, RequestVote{old_term, first, 1000, old_term, false}, 1s,
                    [](const auto&) {});
      }
      client.Call(second, RequestVote{term, first, 1000, term, false}, 1s, [](const auto&) {});
      world.cluster.RunFor(25ms);
    }
  };
  world.cluster.RunFor(200ms);
  disturb(1s);
  EXPECT_TRUE(StillLeads(world, second, term)) << "the leader gave up for an old one";
  world.cluster.Crash(second);
  disturb(2s);
  EXPECT_NE(world.checker.Leader(), kNobody) << "three of five replicas elect no leader";
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The followers hear nothing until one of them asks for pre-votes. Then the leader's heartbeats
// arrive before the answers.
GRADED_TEST(RaftElections, ACampaignEndsWhenTheLeaderIsHeard, "2a", 1,
            "A replica that hears of its leader while it asks for pre-votes gives its campaign "
            "up.") {
  RaftWorld world({.replicas = 5, .seed = 1235}, Persistence::kNotYet);
  for (int round = 0; round < 10; ++round) {
    const PeerId leader = world.WaitForElection(4s);
    ASSERT_NE(leader, kNobody) << "round " << round;
    const auto distant = faults::NetSlow({0, 1, 2, 3, 4}, 60ms);
    const auto deaf = faults::CutFault({leader}, world.Others(leader));
    world.cluster.Begin(distant);
    world.cluster.RunFor(300ms);
    world.cluster.Begin(deaf);
    const auto& campaigns = world.checker.elections().campaigns();
    const std::size_t before = campaigns.size();
    ASSERT_TRUE(world.cluster.RunUntil([&] { return campaigns.size() > before; }, 2s))
        << "no replica campaigns, though none hears the leader";
    world.cluster.RunFor(65ms);  // the others are asked, and their answers are on their way
    world.cluster.End(deaf);
    world.cluster.RunFor(1s);  // the checker judges what follows
    world.cluster.End(distant);
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The greatest time between two AppendEntries of one replica to another.
class LongestSilence : private sim::Observer {
 public:
  LongestSilence(RaftWorld& world, PeerId from) : from_(from) {
    world.cluster.simulator().AddObserver(this);
  }

  Duration duration() const { return longest_; }

 private:
  void OnOutputsLeave(PeerId from, Time now, const std::vector<sim::Output>& outputs) override {
    for (const sim::Output& output : outputs) {
      const auto* frame = std::get_if<sim::SendFrame>(&output);
      if (from != from_ || frame == nullptr || frame->to >= kFirstClient) continue;
      std::string error;
      const auto decoded = DecodeFrame(*frame->bytes, error);
      if (!decoded || decoded->header.kind != FrameKind::kRequest) continue;
      if (decoded->header.method != AppendEntries::kMethod) continue;
      const auto [last, is_first] = last_.emplace(frame->to, now);
      if (!is_first) longest_ = std::max(longest_, now - std::exchange(last->second, now));
    }
  }

  const PeerId from_;
  std::map<PeerId, Time> last_;
  Duration longest_{0};
};

GRADED_TEST(RaftElections, DistantReplicasKeepTheirLeader, "2a", 1,
            "With 60 ms more for each message a leader keeps its term, and sends heartbeats in "
            "time.") {
  for (const int replicas : {3, 4, 5}) {
    RaftWorld world({.replicas = replicas, .seed = 1230}, Persistence::kNotYet);
    std::vector<PeerId> all;
    for (PeerId id = 0; id < replicas; ++id) all.push_back(id);
    world.cluster.Begin(faults::NetSlow(all, 60ms));
    const PeerId leader = world.WaitForElection(4s);
    ASSERT_NE(leader, kNobody) << replicas << " replicas elect no leader";
    const std::uint64_t term = world.checker.claims(leader).term;
    const LongestSilence silence(world, leader);
    world.cluster.RunFor(4s);
    EXPECT_TRUE(StillLeads(world, leader, term)) << "a healthy leader gave up";
    EXPECT_LE(silence.duration(), kHeartbeatInterval + 5ms) << "a heartbeat was late";
    EXPECT_GE(silence.duration(), 1ms) << "no heartbeat was seen";
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

// The leader dies, and everything that one of the two others sends is late.
GRADED_TEST(RaftElections, ADistantSurvivorMakesAMajority, "2a", 1,
            "When the leader dies, and each message of one of the two others takes 400 ms more, "
            "one of them leads within 10 s.") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RaftWorld world({.replicas = 3, .seed = 1300 + seed}, Persistence::kNotYet);
    const PeerId leader = world.WaitForElection();
    ASSERT_NE(leader, kNobody);
    world.cluster.Begin(faults::NetSlow({world.Others(leader)[seed % 2]}, 400ms));
    world.cluster.RunFor(1s);
    world.cluster.Crash(leader);
    ASSERT_NE(world.WaitForElection(10s), kNobody)
        << "no answer of the distant replica comes in time";
    ASSERT_TRUE(world.AllInvariantsHold());
  }
}

}  // namespace
}  // namespace depfast::raft
