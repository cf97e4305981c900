// Hidden tests: restarts and snapshots.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kv_errors.h"
#include "kv_world.h"
#include "testkit/environment.h"

namespace depfast::kv {
namespace {

GRADED_TEST(
    KvDurability, ASnapshotBringsAReplicaUpToDate, "snapshots", 2,
    "A replica that missed compacted entries receives a snapshot, and can lead afterwards.") {
  constexpr std::size_t kValueBytes = 512 * 1024;
  constexpr int kValues = 14;
  KvWorld world({.replicas = 3, .seed = 761}, Snapshots::kAudited);
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_EQ(world.Do("MSET a 1 b 2 gone 3"), Reply::Ok());
  ASSERT_TRUE(world.WaitForAllApplied());
  const PeerId laggard = world.Others(leader)[0];
  const auto cut = faults::PartitionFault({laggard});
  world.cluster.Begin(cut);
  world.client.set_first(leader);
  ASSERT_EQ(world.Do("DEL gone"), Reply::Integer(1));
  ASSERT_EQ(world.Do({"SET", std::string("\0\xff", 2), ""}), Reply::Ok());
  for (int i = 0; i < kValues; ++i) {
    ASSERT_EQ(world.Do({"SET", "big", std::string(kValueBytes, 'x')}), Reply::Ok());
  }
  ASSERT_EQ(world.Do("INCR b"), Reply::Integer(3));
  world.cluster.End(cut);
  ASSERT_TRUE(world.WaitForAllApplied(10s)) << "it does not catch up within 10 s";
  ASSERT_GT(world.log().Restored(laggard), 0u) << "it received no snapshot";
  // The other follower dies, then the leader. Only the laggard has the latest state.
  const PeerId other = world.Others(leader)[1];
  world.cluster.Crash(other);
  ASSERT_EQ(world.Do("INCR a"), Reply::Integer(2));
  world.cluster.Crash(leader);
  world.cluster.Restart(other);
  EXPECT_EQ(world.Do("MGET a b gone"), Reply::Array({"2", "3", std::nullopt}));
  EXPECT_EQ(world.Do({"EXISTS", std::string("\0\xff", 2), "gone", "big"}), Reply::Integer(2));
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The leader still reaches its followers, and hears nothing from them: it loses its term while they
// commit its command.
GRADED_TEST(KvDurability, ARefusedCommandIsNeverExecuted, "commands", 2,
            "A command that a replica refuses with TRYAGAIN is never executed by that attempt.") {
  KvWorld world({.replicas = 3, .seed = 762});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_EQ(world.Do("SET x old"), Reply::Ok());
  world.cluster.Begin(faults::CutFault(world.Others(leader), {leader}));
  KvClient patient(world.cluster.simulator(), {.answer_timeout = 5s});
  std::optional<KvOutcome> outcome;
  patient.Ask(leader, Words("SET x new"), [&](const KvOutcome& ended) { outcome = ended; });
  ASSERT_TRUE(world.cluster.RunUntil([&] { return outcome.has_value(); }, 6s))
      << "a leader that hears nobody does not answer";
  world.cluster.Heal();
  ASSERT_NE(world.WaitForProposer(), kNobody);
  if (outcome->is_known() && HasCode(*outcome->reply, "TRYAGAIN")) {
    EXPECT_EQ(world.Do("GET x"), Reply::String("old"));
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

// One key is written again and again.
void SnapshotsForgetWhatWasOverwritten() {
  constexpr std::size_t kValueBytes = 10'000;
  KvWorld world({.replicas = 3, .seed = 765}, Snapshots::kAudited);
  ASSERT_NE(world.WaitForProposer(), kNobody);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(world.Do({"SET", "key", std::string(kValueBytes, 'x')}), Reply::Ok());
  }
  EXPECT_TRUE(world.AllInvariantsHold());
  EXPECT_GE(world.snapshot_bytes(), kValueBytes) << "bytes of a snapshot with one value";
  EXPECT_LE(world.snapshot_bytes(), 2 * kValueBytes) << "bytes of a snapshot with one value";
}

// More keys, and more bytes, than a solution may treat as few.
constexpr int kKeys = 2'000;
constexpr std::size_t kValueBytes = 600;

bool FillStore(KvWorld& world) {
  constexpr int kAtOnce = 100;
  for (int first = 0; first < kKeys; first += kAtOnce) {
    Command command = {"MSET"};
    for (int i = first; i < first + kAtOnce; ++i) {
      command.push_back("key " + std::to_string(i));
      command.emplace_back(kValueBytes, static_cast<char>('a' + i % 26));
    }
    if (world.Do(command) != Reply::Ok()) return false;
  }
  return true;
}

// Commands that change every kind of state, of keys that are there and of others.
void ChangeALittle(KvWorld& world, int round, const std::vector<std::int64_t>& sessions) {
  const std::string number = std::to_string(round);
  const auto sequence = static_cast<std::uint64_t>(round) + 1;
  const std::int64_t session = sessions[static_cast<std::size_t>(round) % sessions.size()];
  const std::string absent = "absent-" + number;
  EXPECT_EQ(world.Do({"DEL", absent, "key " + number}), Reply::Integer(1));
  EXPECT_EQ(world.Do({"SETNX", "new " + number, "1"}), Reply::Integer(1));
  EXPECT_EQ(world.Do({"CAS", absent, "", "1"}), Reply::Integer(0));
  const std::string key = "key " + std::to_string(kKeys / 2 + round);
  EXPECT_EQ(world.Do({"APPEND", key, "x"}), Reply::Integer(kValueBytes + 1));
  EXPECT_EQ(world.DoInSession(session, sequence, "GETSET " + absent + "-too 1"), Reply::Nil());
  EXPECT_EQ(world.DoInSession(session, sequence, "GETSET " + absent + "-too 1"), Reply::Nil());
  EXPECT_EQ(world.Do({"EXISTS", absent, "new " + number}), Reply::Integer(1));
}

// Most of the log is values that replace each other. The disks are slow, so a solution that takes
// its snapshots in the background is long at it. Each round changes a little meanwhile.
GRADED_TEST(KvDurability, ALargeStoreLivesOn, "snapshots", 3,
            "Snapshots of 2,000 keys hold the state of one moment, whatever is executed while they "
            "are taken. They bound the log, and a replica begins with one.") {
  constexpr std::size_t kBigBytes = kArgumentBytesMax;
  constexpr int kRounds = 44;
  constexpr std::size_t kLogBytesMax = std::size_t{42} << 20;  // see CompactAboveBytes
  KvWorld world({.replicas = 3, .seed = 766}, Snapshots::kAudited);
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_TRUE(FillStore(world));
  std::vector<std::int64_t> sessions;
  for (int i = 0; i < 10; ++i) sessions.push_back(world.OpenSession());
  world.Audit();
  world.cluster.Begin(faults::FsDelay({0, 1, 2}, 5ms));
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_EQ(world.Do({"SET", "big", std::string(kBigBytes, 'x')}), Reply::Ok());
    ASSERT_NO_FATAL_FAILURE(ChangeALittle(world, round, sessions));
    if (round % 13 == 12) world.Audit();
    if (round == kRounds / 2) {
      world.cluster.Crash(leader);
      ASSERT_NE(world.WaitForProposer(6s), kNobody) << "two of three replicas elect no leader";
    }
    if (round == kRounds / 2 + 4) world.cluster.Restart(leader);
  }
  world.cluster.Heal();
  ASSERT_TRUE(world.WaitForAllApplied(10s));
  world.cluster.RunFor(2s);  // a compaction that is under way ends
  for (PeerId id = 0; id < 3; ++id) {
    EXPECT_LE(world.log().LogBytes(id), kLogBytesMax) << "of replica " << id;
  }
  world.Audit();
  for (PeerId id = 0; id < 3; ++id) world.cluster.Crash(id);
  for (PeerId id = 0; id < 3; ++id) world.cluster.Restart(id);
  ASSERT_NE(world.WaitForProposer(), kNobody);
  for (PeerId id = 0; id < 3; ++id) {
    EXPECT_GT(world.log().Restored(id), 0u) << "replica " << id << " has no snapshot to begin with";
  }
  EXPECT_EQ(world.Do("STRLEN big"), Reply::Integer(kBigBytes));
  EXPECT_TRUE(world.AllInvariantsHold());
}

// Each audit restores snapshots over other states, and compares (SnapshotAudit).
GRADED_TEST(KvDurability, EqualStatesGiveEqualSnapshots, "snapshots", 2,
            "A snapshot restored over any state gives that state: replicas with the same entries "
            "have the same snapshot, and behave alike. It holds the state alone, and no history.") {
  ASSERT_NO_FATAL_FAILURE(SnapshotsForgetWhatWasOverwritten());
  KvWorld world({.replicas = 3, .seed = 764}, Snapshots::kAudited);
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  RandomStream random(world.cluster.simulator().options().seed, 764, 1);
  std::vector<std::int64_t> sessions;
  for (int round = 1; round <= 10; ++round) {
    sessions.push_back(world.OpenSession(static_cast<std::uint64_t>(10 * round)));
    for (int i = 0; i < 12; ++i) {
      const std::string key = "key " + std::to_string(random.Below(40));
      const std::string value(random.Below(3) == 0 ? 0 : random.Below(70'000), '\0');
      world.Do(random.Below(3) == 0 ? Command{"DEL", key} : Command{"SET", key, value});
      const std::int64_t session = sessions[random.Below(sessions.size())];
      world.DoInSession(session, 1 + random.Below(100), i % 2 == 0 ? "INCR n" : "MGET n key a");
    }
    ASSERT_TRUE(world.WaitForAllApplied());
    world.Audit();
    // Its state comes from its log alone, the others' twins from snapshots.
    if (round % 4 == 0) world.cluster.Crash(world.Others(leader)[0]);
    if (round % 4 == 0) world.cluster.Restart(world.Others(leader)[0]);
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::kv
