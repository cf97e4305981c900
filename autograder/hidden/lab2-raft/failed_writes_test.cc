// Hidden tests: a write of one replica fails, and all of its later writes, until it restarts.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "raft_world.h"
#include "safety.h"
#include "testkit/client.h"
#include "testkit/environment.h"
#include "testkit/some.h"

namespace depfast::raft {
namespace {

using Kind = IoRequest::Kind;

constexpr int kErrors[] = {EIO, ENOSPC, EROFS};

// The changes, with each error.
std::vector<sim::FileChange> WithEachError(const std::vector<sim::FileChange>& changes) {
  std::vector<sim::FileChange> all;
  for (const sim::FileChange& change : changes) {
    for (const int error : kErrors) {
      all.push_back(change);
      all.back().error = error;
    }
  }
  return all;
}

std::vector<sim::FileChange> Appends() {
  return WithEachError({{Kind::kAppend, kWalFile, true}, {Kind::kAppend, kWalFile, false}});
}

std::string NameOf(const sim::FileChange& change) {
  const char* const what = change.kind == Kind::kRename ? ", the rename to "
                           : change.is_short            ? ", a short write of "
                                                        : ", a sync of ";
  return what + change.file + ": " + std::strerror(change.error);
}

// Whether a write has failed since the last start. A replica may stop because of it.
bool HasFailed(RaftWorld& world, PeerId replica) {
  const auto& simulator = world.cluster.simulator();
  return simulator.disk(replica).has_failed() || !simulator.IsUp(replica);
}

// Restarts the replica with a disk that works, and every other that is down.
void Repair(RaftWorld& world, PeerId victim) {
  world.cluster.simulator().Repair(victim);
  world.cluster.Heal();
  ASSERT_TRUE(world.Commit(10, 6s)) << "no progress with three disks that work";
  ASSERT_TRUE(world.WaitForAllApplied(4s)) << "a replica stays behind";
  ASSERT_TRUE(world.AllInvariantsHold());
}

// Two replicas with disks that work go on. One alone, with the failed one, acknowledges nothing.
void FailAnAppend(RaftWorld& world, bool is_leaders, const sim::FileChange& append) {
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(world.Commit(20));
  const PeerId victim = is_leaders ? leader : world.Others(leader)[0];
  world.cluster.simulator().FailNext(victim, append);
  ASSERT_TRUE(world.Commit(20, 6s)) << "two of three replicas make no progress";
  EXPECT_TRUE(world.cluster.RunUntil([&] { return HasFailed(world, victim); }, 1s))
      << "it has written none of 20 commands";

  world.cluster.Crash(is_leaders ? world.Others(leader)[0] : leader);
  const std::uint64_t acknowledged = world.acknowledged();
  for (int i = 0; i < 20; ++i) world.SubmitOne();
  world.cluster.RunFor(2s);  // time for elections, too
  EXPECT_EQ(world.acknowledged(), acknowledged)
      << Unsafe(Safety::kAcknowledgedIsKept) << "one disk of three is no majority";
  ASSERT_TRUE(world.AllInvariantsHold());
  Repair(world, victim);
}

GRADED_TEST(RaftDurability, AFailedWriteIsNoVoteForACommand, "2c", 1,
            "A replica whose write has failed counts for no majority, as leader or follower.") {
  std::uint64_t seed = 480;
  for (const bool is_leaders : {true, false}) {
    for (const sim::FileChange& append : testkit::Some(Appends())) {
      SCOPED_TRACE(std::string(is_leaders ? "of the leader" : "of the follower") + NameOf(append));
      RaftWorld world({.replicas = 3, .seed = ++seed});
      FailAnAppend(world, is_leaders, append);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Replica 0, which hears no other, and a test that speaks for them.
class Asker {
 public:
  explicit Asker(std::uint64_t seed)
      : world({.replicas = 3, .seed = seed}), client_(world.cluster.simulator()) {
    for (PeerId id = 0; id < 3; ++id) world.cluster.Partition({id});
    world.cluster.RunFor(20ms);
  }

  // Nothing if the replica does not answer.
  template <typename Request>
  std::optional<typename Request::Reply> Ask(const Request& request) {
    std::optional<typename Request::Reply> answer;
    client_.Call(0, request, 200ms, [&](const auto& reply) { answer = reply; });
    world.cluster.RunUntil([&] { return client_.outstanding() == 0; }, 1s);
    return answer;
  }
  bool Grants(const RequestVote& request) {
    const auto reply = Ask(request);
    return reply && reply->granted;
  }
  bool Takes(const AppendEntries& request) {
    const auto reply = Ask(request);
    return reply && reply->success;
  }

  RaftWorld world;

 private:
  testkit::Client client_;
};

GRADED_TEST(RaftMessages, AFailedWriteGrantsNothing, "2c", 1,
            "After a failed write, a replica grants no vote and acknowledges no entry.") {
  const RequestVote vote{5, 1, 0, 0, false};
  const AppendEntries entry{5, 1, 0, 0, {{5, "command"}}, 0};
  const AppendEntries heartbeat{5, 1, 1, 5, {}, 0};
  for (const bool is_vote : {true, false}) {
    for (const sim::FileChange& append : testkit::Some(Appends())) {
      SCOPED_TRACE(std::string(is_vote ? "a vote" : "an entry") + NameOf(append));
      Asker asker(490);
      if (!is_vote) {
        ASSERT_TRUE(asker.Grants(vote)) << "the first candidate of a term";
      }
      asker.world.cluster.simulator().FailNext(0, append);
      if (is_vote) {
        EXPECT_FALSE(asker.Grants(vote)) << Unsafe(Safety::kDurablePromise);
        EXPECT_FALSE(asker.Grants(vote))
            << Unsafe(Safety::kDurablePromise) << "the candidate asks again";
      }
      EXPECT_FALSE(asker.Takes(entry)) << Unsafe(Safety::kDurablePromise);
      EXPECT_TRUE(HasFailed(asker.world, 0)) << "nothing was written";
      EXPECT_FALSE(asker.Takes(heartbeat))
          << Unsafe(Safety::kDurablePromise)
          << "nothing is left to write, and the entry is not there";
      EXPECT_FALSE(asker.Grants({6, 2, 9, 9, false}))
          << Unsafe(Safety::kDurablePromise) << "a vote of the next term";
      ASSERT_TRUE(asker.world.AllInvariantsHold());
      Repair(asker.world, 0);
    }
  }
}

// The changes of a compaction, in their order.
std::vector<sim::FileChange> Replacements() {
  return WithEachError({{Kind::kAppend, kNewSnapshotFile, true},
                        {Kind::kAppend, kNewSnapshotFile, false},
                        {Kind::kRename, kSnapshotFile},
                        {Kind::kAppend, kNewWalFile, true},
                        {Kind::kAppend, kNewWalFile, false},
                        {Kind::kRename, kWalFile}});
}

// A solution may give the new files other names. The files are replaced by a rename in any case.
void ExpectFailed(RaftWorld& world, PeerId victim, const sim::FileChange& change) {
  if (change.kind == Kind::kRename) {
    EXPECT_TRUE(HasFailed(world, victim)) << change.file << " was not replaced";
  }
}

GRADED_TEST(RaftSnapshots, AFailedCompactionLosesNothing, "2d", 1,
            "When any write of a compaction fails, nothing that was acknowledged is lost.") {
  RaftWorld world({.replicas = 3, .seed = 850});
  for (const sim::FileChange& change : testkit::Some(Replacements())) {
    for (const bool is_leaders : {true, false}) {
      SCOPED_TRACE((is_leaders ? "leader" : "follower") + NameOf(change));
      const PeerId leader = world.WaitForLeader(4s);
      ASSERT_NE(leader, kNobody);
      const PeerId victim = is_leaders ? leader : world.Others(leader)[0];
      world.cluster.simulator().FailNext(victim, change);
      const auto has_failed = [&] { return HasFailed(world, victim); };
      for (int mib = 0; mib < 5 && !has_failed(); ++mib) {  // enough for a compaction
        for (int i = 0; i < 32; ++i) world.SubmitOneLarge();
        world.cluster.RunUntil(has_failed, 200ms);
      }
      ExpectFailed(world, victim, change);
      ASSERT_TRUE(world.Commit(10, 6s)) << "two of three replicas make no progress";
      Repair(world, victim);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// A replica needs a snapshot, and cannot write it. `differs`: it led, and its log has many entries
// that nobody else has.
void FailAnInstallation(RaftWorld& world, const sim::FileChange& change, bool differs) {
  SCOPED_TRACE((differs ? "a replica whose log differs" : "a laggard") + NameOf(change));
  const PeerId leader = world.WaitForLeader(4s);
  ASSERT_NE(leader, kNobody);
  const PeerId victim = differs ? leader : world.Others(leader)[0];
  world.cluster.Partition({victim});
  if (differs) {
    for (int i = 0; i < 1000; ++i) world.SubmitOne();
    world.cluster.RunFor(100ms);
    ASSERT_TRUE(world.cluster.RunUntil([&] { return world.checker.Leader() != victim; }, 4s))
        << "two of three replicas elect nobody without replica " << victim;
    ASSERT_NE(world.WaitForLeader(4s), kNobody);
  }
  ASSERT_TRUE(world.CommitBytes(std::size_t{6} << 20));
  world.cluster.simulator().FailNext(victim, change);
  world.cluster.Heal();
  // A chunk that was sent before has to time out first.
  world.cluster.RunUntil([&] { return HasFailed(world, victim); }, 4s);
  ExpectFailed(world, victim, change);
  ASSERT_TRUE(world.Commit(10, 6s)) << "two of three replicas make no progress";
  world.cluster.RunFor(2 * kHeartbeatInterval);  // the victim answers, and its log is the old one
  ASSERT_TRUE(world.AllInvariantsHold());
  Repair(world, victim);
}

GRADED_TEST(RaftSnapshots, AFailedInstallationIsNotAcknowledged, "2d", 1,
            "A follower that cannot write a leader's snapshot does not acknowledge it. After a "
            "restart it catches up, also if its log differs from the snapshot.") {
  RaftWorld world({.replicas = 3, .seed = 860});
  for (const sim::FileChange& change : testkit::Some(Replacements())) {
    for (const bool differs : {false, true}) {
      ASSERT_NO_FATAL_FAILURE(FailAnInstallation(world, change, differs));
    }
  }
}

}  // namespace
}  // namespace depfast::raft
