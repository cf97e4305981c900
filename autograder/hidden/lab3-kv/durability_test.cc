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
    KvDurability, ASnapshotBringsAReplicaUpToDate, "snapshots", 3,
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

// Each audit restores snapshots over other states, and compares (kv_audit.h).
GRADED_TEST(KvDurability, EqualStatesGiveEqualSnapshots, "snapshots", 3,
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
