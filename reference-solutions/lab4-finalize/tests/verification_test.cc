// Runtime verification of a Raft with Finalize: a healthy cluster raises no warning, a slow
// follower raises the transient one and no other.
//
// `--seed=N` chooses the worlds. The seeds 1 to 6 chose the thresholds, so a sweep for false alarms
// takes others.
#include "testkit/verification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "depfast/host/random.h"
#include "depfast/verify/fact_collector.h"
#include "kv_client.h"
#include "kv_world.h"
#include "testkit/environment.h"

namespace depfast::lab4 {
namespace {

constexpr std::uint64_t kScenario = 470;  // the number of this test's random stream

testkit::ClusterOptions Verified(testkit::ClusterOptions options) {
  options.probes = {FactCollector::kName};
  return options;
}

class VerifiedWorld : public kv::KvWorld {
 public:
  explicit VerifiedWorld(const testkit::ClusterOptions& options)
      : KvWorld(Verified(options)), verification(cluster.simulator()), user_(cluster.simulator()) {}

  // A command every `interval`, of which `reads_percent` are reads. A write has a value of `bytes`.
  void Operate(Duration duration, Duration interval, std::uint64_t reads_percent,
               std::size_t bytes = 20) {
    const Time end = cluster.now() + duration;
    while (cluster.now() < end) {
      const std::string key = std::to_string(++commands_ % 50);
      if (commands_ * 37 % 100 < reads_percent) {
        user_.Execute({"GET", key}, [](const kv::KvOutcome&) {});
      } else {
        std::string value = std::to_string(commands_);
        value.resize(bytes, 'x');
        user_.Execute({"SET", key, value}, [](const kv::KvOutcome&) {});
      }
      cluster.RunFor(interval);
    }
  }

  // The warnings of all replicas, at the end of a run.
  std::vector<Warning> Warnings() {
    verification.Collect();
    return verification.Warnings();
  }

  // The client knows the leader: no replica has to forward a command.
  void Meet(PeerId leader) { user_.set_first(leader); }

  testkit::Verification verification;

 private:
  kv::KvClient user_;
  std::uint64_t commands_ = 0;
};

std::string Texts(const std::vector<Warning>& warnings) {
  std::string out;
  for (const Warning& each : warnings) {
    out += std::string(NameOf(each.kind)) + " of replica " + std::to_string(each.replica) +
           " before " + std::to_string(each.end_ns / 1'000'000'000) + " s: " + each.Text() + "\n";
  }
  return out;
}

// Ten phases: loads of reads and writes that change, crashes and restarts of leaders and followers.
void LiveThrough(VerifiedWorld& world, RandomStream random) {
  constexpr Duration kIntervals[] = {2ms, 5ms, 10ms, 25ms};
  constexpr std::uint64_t kReads[] = {0, 50, 95};
  for (int phase = 0; phase < 10; ++phase) {
    const Duration interval = kIntervals[random.Below(4)];
    const std::uint64_t reads = kReads[random.Below(3)];
    const std::uint64_t what = random.Below(5);
    const Duration down = 300ms + random.Below(2000ms);
    world.Operate(500ms, interval, reads);
    const PeerId leader = world.WaitForProposer();
    ASSERT_NE(leader, kNobody);
    const PeerId victim = what == 0 ? leader : world.Others(leader)[random.Below(2)];
    if (what < 2) {
      world.verification.Collect();  // a crash takes the facts along
      world.cluster.Crash(victim);
    }
    if (what == 2) world.cluster.RunFor(down);  // nobody wants anything
    world.Operate(down, interval, reads);
    if (what < 2) world.cluster.Restart(victim);
    world.Operate(2300ms - down, interval, reads);
  }
}

// The distance of a healthy run from the thresholds: properties of the test, for its report.
void RecordMargins(const std::vector<WindowFacts>& facts) {
  std::uint64_t background = 0;
  std::uint64_t sends = 0;
  std::int64_t longest_ns = 0;
  for (const WindowFacts& window : facts) {
    for (const CallFacts& calls : window.calls) {
      background = std::max(background, calls.background);
      sends = std::max(sends, calls.sends_of_an_entry);
    }
    for (const WaitFacts& waits : window.waits) {
      if (!waits.peers.empty()) longest_ns = std::max(longest_ns, waits.ended.worst_ns);
      longest_ns = std::max(longest_ns, waits.on_path.worst_ns);
    }
  }
  ::testing::Test::RecordProperty("background_calls", std::to_string(background));
  ::testing::Test::RecordProperty("sends_of_an_entry", std::to_string(sends));
  ::testing::Test::RecordProperty("longest_wait_ms", std::to_string(longest_ns / 1'000'000));
}

TEST(Lab4Verification, AHealthyClusterRaisesNoWarning) {
  const std::uint64_t seed = testkit::TheEnvironment().seed;
  RandomStream random(seed, kScenario);
  VerifiedWorld world({.replicas = random.Below(2) == 0 ? 3 : 5, .seed = kScenario});
  ASSERT_NE(world.WaitForProposer(), kNobody);
  ASSERT_NO_FATAL_FAILURE(LiveThrough(world, random));
  EXPECT_EQ(Texts(world.Warnings()), "");
  const auto facts = world.verification.Facts();
  RecordMargins(facts);
  EXPECT_GE(std::count_if(facts.begin(), facts.end(),
                          [](const WindowFacts& window) { return !window.quorums.empty(); }),
            4)
      << "the run is too short for a verdict";
  EXPECT_TRUE(world.AllInvariantsHold());
}

// A load that is more than the slow follower's share.
TEST(Lab4Verification, ASlowFollowerRaisesTheTransientWarningAlone) {
  for (const auto& make : {+[](PeerId p) { return faults::CpuSlow({p}, 1); },
                           +[](PeerId p) { return faults::NetSlow({p}, 400ms); },
                           +[](PeerId p) { return faults::DiskSlow({p}, 128 * 1024); }}) {
    VerifiedWorld world({.replicas = 3, .seed = kScenario + 1});
    const PeerId leader = world.WaitForProposer();
    ASSERT_NE(leader, kNobody);
    const PeerId slow = world.Others(leader)[1];
    const faults::Fault fault = make(slow);
    world.cluster.Begin(fault);
    world.Operate(15s, 3ms, 20, 1000);
    const auto warnings = world.Warnings();
    RecordMargins(world.verification.Facts());
    EXPECT_GE(warnings.size(), 2U) << fault.Describe();
    for (const Warning& each : warnings) {
      ASSERT_EQ(each.kind, WarningKind::kTransientPerformance) << fault.Describe() << ":\n"
                                                               << Texts(warnings);
      EXPECT_EQ(each.replica, leader);
      EXPECT_EQ(each.peers, (std::vector<PeerId>{slow}));
      ASSERT_EQ(each.active.size(), 1U);
      EXPECT_EQ(each.active[0].peer, world.Others(leader)[0]);
    }
  }
}

// Red edges: clients wait for the leader. Green ones: the leader waits for 2 of 3.
TEST(Lab4Verification, TheGraphHasNoRedEdgeBetweenReplicas) {
  VerifiedWorld world({.replicas = 3, .seed = kScenario + 2});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  world.Meet(leader);
  world.cluster.Begin(faults::NetSlow({world.Others(leader)[1]}, 400ms));
  world.Operate(6s, 5ms, 50);
  world.Warnings();
  bool has_client = false;
  bool has_quorum = false;
  bool has_catch_up = false;
  for (const GraphEdge& edge : world.verification.Graph().Edges()) {
    if (edge.color == EdgeColor::kRed) {
      EXPECT_GE(edge.from, kFirstClient) << edge.coroutine << " waits on " << edge.event;
      has_client |= edge.to == std::vector<PeerId>{leader} && edge.waits.count > 1000;
    }
    if (edge.color == EdgeColor::kGreen) {
      EXPECT_EQ(edge.from, leader);
      EXPECT_EQ(edge.needed, 2);
      EXPECT_EQ(edge.total, 3);
      has_quorum |= edge.waits.count > 100;
    }
    has_catch_up |= edge.color == EdgeColor::kBackground && edge.from == leader &&
                    edge.to == std::vector<PeerId>{world.Others(leader)[1]} && edge.total == 1;
  }
  EXPECT_TRUE(has_client);
  EXPECT_TRUE(has_quorum);
  EXPECT_TRUE(has_catch_up);
}

}  // namespace
}  // namespace depfast::lab4
