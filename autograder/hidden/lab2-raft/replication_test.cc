// Hidden tests: replication.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "conversation.h"
#include "depfast/host/codec.h"
#include "raft_world.h"
#include "safety.h"
#include "testkit/client.h"
#include "testkit/environment.h"
#include "testkit/judged.h"

namespace depfast::raft {
namespace {

using Persistence = RaftWorld::Persistence;

struct Refused {
  CommandDigest command;
  PeerId replica = kNobody;  // that refused it, ...
  Time when{0};              // ... and when
};

void ExpectNoneApplied(RaftWorld& world, const std::vector<Refused>& refused) {
  for (const Refused& each : refused) {
    if (!world.checker.HasApplied(each.command)) continue;
    testkit::RecordJudged({"a refusal is true", each.replica, each.when});
    FAIL() << Unsafe(Safety::kOnce) << "a command was refused, and is applied";
  }
}

// Each leader hears of a newer term while its commands are under way. Some replica leads three
// times or more.
void LoseManyTerms() {
  RaftWorld world({.replicas = 3, .seed = 309}, Persistence::kNotYet);
  testkit::Client client(world.cluster.simulator());
  std::uint64_t number = 2'000'000;
  std::vector<Refused> refused;
  for (int i = 0; i < 7; ++i) {
    const PeerId leader = world.WaitForLeader();
    ASSERT_NE(leader, kNobody);
    ASSERT_TRUE(world.Commit(10, 4s)) << "a leader does not commit, after " << i << " others";
    const auto cut = faults::PartitionFault({leader});
    world.cluster.Begin(cut);
    int answers = 0;
    for (int k = 0; k < 10; ++k) {
      const std::string command = CommandText(++number, 100);
      client.Call(leader, Submit{command}, 2s, [&, command](const auto& reply) {
        answers += reply ? 1 : 0;
        const bool refuses = reply && reply->status == SubmitStatus::kNotProposer;
        if (refuses) refused.push_back({DigestOf(command), leader, world.cluster.now()});
      });
      world.cluster.RunFor(5ms);
    }
    const std::uint64_t term = world.checker.claims(leader).term + 1;
    client.Call(leader, RequestVote{term, world.Others(leader)[0], 0, 0, false}, 1s,
                [](const auto&) {});
    world.cluster.RunFor(200ms);
    EXPECT_NE(world.checker.claims(leader).role, Role::kLeader);
    EXPECT_EQ(answers, 10) << "it gave up, and some clients have no answer";
    world.cluster.End(cut);
    ASSERT_TRUE(world.WaitForAllApplied()) << "a replica stays behind, after " << i << " others";
  }
  ExpectNoneApplied(world, refused);
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftReplication, ACutOffLeadersEntriesGiveWay, "2b", 2,
            "Uncommitted entries of a cut-off leader are replaced when it returns. When it leads "
            "again, it commits, and proposes no command that it has refused.") {
  ASSERT_NO_FATAL_FAILURE(LoseManyTerms());
  RaftWorld world({.replicas = 3, .seed = 310}, Persistence::kNotYet);
  const PeerId old_leader = world.WaitForLeader();
  ASSERT_NE(old_leader, kNobody);
  ASSERT_TRUE(world.Commit(10));
  world.cluster.Partition({old_leader});
  for (int i = 0; i < 100; ++i) world.SubmitOne();  // none of these can commit there
  world.cluster.RunFor(100ms);
  ASSERT_TRUE(world.cluster.RunUntil([&] { return world.checker.Leader() != old_leader; }, 4s))
      << "the other two elect no leader";
  ASSERT_TRUE(world.Commit(50, 8s)) << "the other two commit nothing";
  world.cluster.RunFor(300ms);  // the new leader has noticed that the old one does not answer
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(world.Commit(5)) << "the others wait for it";
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied()) << "the old leader does not adopt the new leader's log";
  EXPECT_NE(world.checker.claims(old_leader).role, Role::kLeader);
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftReplication, MalformedMessagesAreRefused, "2b", 1,
            "Malformed messages do no harm; the cluster goes on committing.") {
  RaftWorld world({.replicas = 3, .seed = 330}, Persistence::kNotYet);
  ASSERT_NE(world.WaitForLeader(), kNobody);
  ASSERT_TRUE(world.Commit(5));
  ASSERT_TRUE(world.WaitForAllApplied());  // no replica is in term 0 any more
  testkit::Client vandal(world.cluster.simulator());
  RandomStream random(world.cluster.simulator().options().seed, 330);
  for (int i = 0; i < 300; ++i) {
    std::string bytes(random.Below(60), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.Below(256));
    if (i % 3 == 0) {  // a valid header with an invalid body
      const FrameHeader header{FrameKind::kRequest, static_cast<MethodId>(1 + random.Below(3)),
                               static_cast<CallId>(i), Dependency::Client(1)};
      bytes = EncodeFrame(header, std::vector<int>{1, 2});
    }
    vandal.SendRaw(static_cast<PeerId>(random.Below(3)), bytes);
  }
  // Well-formed messages that must be refused: an empty command, and messages of an old term about
  // entries that no replica has.
  constexpr std::uint64_t kFarAway = std::uint64_t{1} << 40;
  for (PeerId id = 0; id < 3; ++id) {
    vandal.Call(id, Submit{""}, 1s, [](const std::optional<SubmitReply>& reply) {
      EXPECT_FALSE(reply && reply->status == SubmitStatus::kCommitted);
    });
    vandal.Call(id, AppendEntries{0, 1, kFarAway, 0, {}, kFarAway}, 1s,
                [](const std::optional<AppendEntriesReply>& reply) {
                  EXPECT_FALSE(reply && reply->success) << "it accepted entries of an old term";
                });
    vandal.Call(id, RequestVote{0, 1, kFarAway, kFarAway, false}, 1s,
                [](const std::optional<RequestVoteReply>& reply) {
                  EXPECT_FALSE(reply && reply->granted) << "it voted in an old term";
                });
  }
  EXPECT_TRUE(world.Commit(50));
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

// All disks are slow. The last command comes while earlier ones are under way, and nothing follows
// that would take it along. A leader that gives up meanwhile answers, too.
void AnswerTheLastOfSeveral() {
  RaftWorld world({.replicas = 3, .seed = 351});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(world.Commit(10));
  world.cluster.Begin(faults::FsDelay({0, 1, 2}, 120ms));
  testkit::Client client(world.cluster.simulator());
  for (int count = 2; count <= 8; ++count) {
    int answered = 0;
    for (int i = 0; i < count; ++i) {
      client.Call(leader, Submit{"command"}, 4s,
                  [&](const std::optional<SubmitReply>& reply) { answered += reply ? 1 : 0; });
      world.cluster.RunFor(10ms);
    }
    world.cluster.RunUntil([&] { return client.outstanding() == 0; }, 5s);
    ASSERT_EQ(answered, count) << "the last commands wait for others to come";
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The terms are above all indexes, so that a solution cannot take one for the other.
GRADED_TEST(
    RaftReplication, ALateAnswerStillCounts, "2c", 1,
    "A command commits once a majority has it on disk, however late. It is answered whether "
    "or not another follows.") {
  ASSERT_NO_FATAL_FAILURE(AnswerTheLastOfSeveral());
  RaftWorld world({.replicas = 3, .seed = 350});
  testkit::Client client(world.cluster.simulator());
  for (PeerId id = 0; id < 3; ++id) {
    client.Call(id, RequestVote{1000, 0, 0, 0, false}, 1s, [](const auto&) {});
  }
  world.cluster.RunFor(20ms);
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  world.cluster.Crash(world.Others(leader)[0]);
  world.cluster.Begin(
      faults::DiskSlow({leader}, 400));  // the write of a command takes about 350 ms
  world.SubmitOne();
  ASSERT_TRUE(world.cluster.RunUntil([&] { return world.acknowledged() == 1; }, 900ms))
      << "the leader lost the command while its disk was slow";
  EXPECT_GT(world.checker.claims(leader).term, 1000u);
  EXPECT_TRUE(world.AllInvariantsHold());
}

// A leader is cut off with 400 entries of its own term. The next leader expects equal logs up to
// the end of its own.
GRADED_TEST(RaftReplication, ALongDivergenceIsFoundInAFewRoundTrips, "2b", 1,
            "A log that differs in 400 entries is repaired with at most 20 refusals.") {
  RaftWorld world({.replicas = 3, .seed = 370}, Persistence::kNotYet);
  const PeerId stray = world.WaitForLeader();
  ASSERT_NE(stray, kNobody);
  ASSERT_TRUE(world.Commit(10));
  ASSERT_TRUE(world.WaitForAllApplied());
  const auto cut = faults::PartitionFault({stray});
  world.cluster.Begin(cut);
  for (int i = 0; i < 400; ++i) world.SubmitOne();  // none of these can commit there
  world.cluster.RunFor(100ms);
  ASSERT_TRUE(world.cluster.RunUntil([&] { return world.checker.Leader() != stray; }, 4s))
      << "two of three replicas elect nobody without replica " << stray;
  ASSERT_TRUE(world.Commit(600, 8s)) << "two of three replicas commit nothing";
  ASSERT_TRUE(world.cluster.RunUntil(
      [&] {
        const auto others = world.Others(stray);
        return world.checker.claims(others[0]).applied_index ==
               world.checker.claims(others[1]).applied_index;
      },
      2s))
      << "the two replicas have not applied the same entries";
  const Conversation conversation(world, stray);
  world.cluster.Crash(world.checker.Leader());  // the next leader knows nothing about the stray
  world.cluster.End(cut);
  ASSERT_TRUE(world.Commit(10, 6s)) << "two of three replicas commit nothing";
  ASSERT_TRUE(world.WaitForAllApplied()) << "the old leader does not adopt the new leader's log";
  EXPECT_LE(conversation.refusals(), 20) << "the new leader goes back entry by entry";
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftReplication, ASilentFollowerIsAskedSparingly, "2d", 1,
            "A silent follower is sent at most 200 messages and 1 MB in 3 s, and at most 2 MB ever "
            "wait for it. Without commands, one that has caught up is sent as few.") {
  RaftWorld world({.replicas = 3, .seed = 380});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const PeerId silent = world.Others(leader)[0];
  world.cluster.Crash(silent);
  ASSERT_TRUE(world.CommitBytes(std::size_t{8} << 20));
  const Conversation conversation(world, silent);
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(world.Commit(5, 1s));
    world.cluster.RunFor(45ms);
  }
  EXPECT_LE(conversation.messages_to_it(), 200) << "too many retries to a dead replica";
  EXPECT_LE(conversation.bytes_to_it(), std::size_t{1} << 20)
      << "too many bytes for a dead replica";
  // It comes back, needs a snapshot, and takes less in a second than one chunk.
  world.cluster.Begin(faults::LinkSlow({leader}, {silent}, 20s));
  world.cluster.Restart(silent);
  world.cluster.RunFor(90s);
  EXPECT_LE(world.cluster.simulator().PeakHeldBytes(leader), std::size_t{2} << 20)
      << "messages that it does not take pile up";
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied(30s)) << "it does not catch up";
  world.cluster.RunFor(1s);
  const int before = conversation.messages_to_it();
  world.cluster.RunFor(3s);
  EXPECT_LE(conversation.messages_to_it() - before, 200) << "it has all, and is sent more";
  EXPECT_TRUE(world.AllInvariantsHold());
}

bool IsNobodyOr(const std::vector<PeerId>& replicas, PeerId proposer) {
  return proposer == kNobody || std::ranges::find(replicas, proposer) != replicas.end();
}

// The leader hears no follower, and the followers hear it: its entries will commit after it gave
// up.
GRADED_TEST(RaftReplication, ARefusalIsTrue, "2b", 1,
            "A leader that gives up tells its clients so, and refuses no command that it has "
            "proposed; a follower names the leader.") {
  RaftWorld world({.replicas = 3, .seed = 1385}, Persistence::kNotYet);
  const PeerId old_leader = world.WaitForLeader();
  ASSERT_NE(old_leader, kNobody);
  testkit::Client client(world.cluster.simulator());
  const auto deaf = faults::CutFault(world.Others(old_leader), {old_leader});
  world.cluster.Begin(deaf);
  int answers = 0;
  std::vector<Refused> refused;
  int submitted = 0;
  const auto leads = [&] { return world.checker.claims(old_leader).role == Role::kLeader; };
  for (; leads() && submitted < 500; ++submitted) {
    const std::string command = CommandText(1'000'000 + static_cast<std::uint64_t>(submitted), 100);
    client.Call(old_leader, Submit{command}, 4s, [&, command](const auto& reply) {
      answers += reply ? 1 : 0;
      EXPECT_TRUE(!reply || IsNobodyOr(world.Others(old_leader), reply->proposer))
          << "it gives up, and names replica " << reply->proposer;
      if (reply && reply->status == SubmitStatus::kNotProposer) {
        refused.push_back({DigestOf(command), old_leader, world.cluster.now()});
      }
    });
    world.cluster.RunFor(5ms);
  }
  ASSERT_FALSE(leads()) << "it hears no follower, and does not give up";
  client.Call(old_leader, Submit{"x"}, 1s, [&](const auto& reply) {
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, SubmitStatus::kNotProposer);
    EXPECT_TRUE(IsNobodyOr(world.Others(old_leader), reply->proposer))
        << "it gave up, and names replica " << reply->proposer;
  });
  world.cluster.RunFor(100ms);
  EXPECT_EQ(answers, submitted) << "it gave up, and some clients have no answer";
  world.cluster.End(deaf);
  ASSERT_TRUE(world.Commit(10, 4s));
  ASSERT_TRUE(world.WaitForAllApplied());
  ExpectNoneApplied(world, refused);
  EXPECT_GE(world.checker.commands_applied(), 11u) << "no entry of the old leader has survived";

  const PeerId leader = world.checker.Leader();
  for (PeerId follower : world.Others(leader)) {
    client.Call(follower, Submit{"x"}, 1s, [&, leader](const auto& reply) {
      ++answers;
      ASSERT_TRUE(reply);
      EXPECT_EQ(reply->status, SubmitStatus::kNotProposer);
      EXPECT_EQ(reply->proposer, leader) << "a follower names another leader";
    });
  }
  world.cluster.RunFor(1s);
  EXPECT_EQ(answers, submitted + 2);
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The leader's disk needs 300 ms for each operation. The followers are a majority without it.
void CommitWithoutTheLeadersDisk(int replicas) {
  RaftWorld world({.replicas = replicas, .seed = 1395});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(world.Commit(10));
  ASSERT_TRUE(world.WaitForAllApplied());
  world.cluster.Begin(faults::FsDelay({leader}, 300ms));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(world.Commit(5, 100ms)) << "commands wait for the leader's own disk";
  }
  ASSERT_TRUE(world.AllInvariantsHold());
}

// The largest minority of followers is dead, so the leader's disk must make the majority.
void CommitWithTheLeadersDisk(int replicas) {
  RaftWorld world({.replicas = replicas, .seed = 1396});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(world.Commit(10));
  auto dead = world.Others(leader);
  dead.resize(static_cast<std::size_t>((replicas - 1) / 2));
  for (PeerId follower : dead) world.cluster.Crash(follower);
  const Time began = world.cluster.now();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(world.Commit(1, 100ms));
  EXPECT_LE(world.cluster.now() - began, 150ms) << "single commands wait for dead followers";
  ASSERT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(RaftReplication, TheLeadersDiskIsOneVoteAmongOthers, "2c", 1,
            "Commands commit on the followers' disks, without a wait for the leader's; and on the "
            "leader's, without a wait for dead followers.") {
  for (const int replicas : {3, 4, 5}) {
    ASSERT_NO_FATAL_FAILURE(CommitWithoutTheLeadersDisk(replicas));
    ASSERT_NO_FATAL_FAILURE(CommitWithTheLeadersDisk(replicas));
  }
}

}  // namespace
}  // namespace depfast::raft
