// Hidden tests: the order of execution, and duplicates.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "asked_rules.h"
#include "command_memory.h"
#include "copilot_world.h"
#include "execution_order.h"
#include "frame_counter.h"
#include "read_count.h"
#include "safety.h"
#include "stage.h"
#include "submit.h"
#include "testkit/client.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

GRADED_TEST(CopilotOrder, TheOrderIsTheSameWhateverAReplicaKnows, "5c", 1,
            "For all pairs of short logs all replicas run the entries in one order, whatever each "
            "knows, and all that is decided runs.") {
  AskedRules rules;
  const auto next = [&rules](const std::optional<Value>& pilot, EntryIndex pilot_ran,
                             const std::optional<Value>& copilot, EntryIndex copilot_ran) {
    return rules.NextToRun(pilot, pilot_ran, copilot, copilot_ran);
  };
  EXPECT_EQ(TryAllLogs(RuleOf(next), 2).bad, 0U)
      << Unsafe(Safety::kEqualStates)
      << "pairs of logs that two replicas run in two orders, or do not run at all";
}

void RunWhatHasNotRun(std::uint64_t number);

GRADED_TEST(CopilotOrder, ACommandRunsOnceUnderLoad, "5c", 1,
            "Under load, and while a pilot is slow, each command runs once, with whatever other "
            "commands it comes.") {
  for (std::uint64_t number = 1; number <= 4; ++number) RunWhatHasNotRun(number);
  CopilotWorld world({.replicas = 3, .seed = 542});
  ASSERT_TRUE(world.WaitForPilots());
  constexpr int kCommands = 400;
  for (int i = 0; i < kCommands; ++i) {
    if (i == kCommands / 2) world.cluster.Begin(faults::NetSlow({1}, 40ms));
    world.SubmitOne();
    world.cluster.RunFor(2ms);
  }
  world.cluster.Heal();
  EXPECT_TRUE(world.WaitForAllApplied());
  world.cluster.RunFor(1s);
  EXPECT_EQ(world.acknowledged(), static_cast<std::uint64_t>(kCommands));
  EXPECT_EQ(world.log().CommittedUpTo(), static_cast<std::uint64_t>(kCommands));
  EXPECT_TRUE(world.AllInvariantsHold());
}

// The pilots do not hear each other in time, and each has a follower that hears it first. Their
// commands differ, so the order of two entries that depend on each other can be seen.
GRADED_TEST(CopilotOrder, ACycleRunsInOneOrder, "5c", 1,
            "Entries that depend on each other run in one order at all replicas, the pilots "
            "included.") {
  CopilotWorld world({.replicas = 5, .seed = 546});
  ASSERT_TRUE(world.WaitForPilots());
  for (const auto& [from, to] : {std::pair{0, 1}, {1, 0}, {0, 3}, {1, 2}}) {
    world.cluster.Begin(faults::LinkSlow({from}, {to}, 15ms));
  }
  world.cluster.Crash(4);
  testkit::Client client(world.cluster.simulator());
  for (std::uint64_t name = 1; name <= 50; ++name) {
    for (const PeerId pilot : {0, 1}) {
      client.Call(
          pilot, Submit{std::to_string(name)}, 2s, [](const std::optional<SubmitReply>&) {},
          Dependency::Client((78 + static_cast<std::uint64_t>(pilot)) << kRequestBits | name));
    }
    world.cluster.RunFor(50ms);
  }
  world.cluster.Heal();
  world.cluster.Restart(4);
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_GE(world.log().CommittedUpTo(), 90U);
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(CopilotOrder, NobodyPolls, "5c", 1,
            "Replicas wait for events: without commands a replica makes few steps.") {
  CopilotWorld world({.replicas = 3, .seed = 543});
  ASSERT_TRUE(world.WaitForPilots());
  ASSERT_TRUE(world.Commit(20)) << "nothing is committed without a fault";
  ASSERT_TRUE(world.WaitForAllApplied());
  FrameCounter counter(world.cluster);
  world.cluster.RunFor(5s);
  for (PeerId id = 0; id < 3; ++id) {
    EXPECT_LT(counter.steps(id), 1000U) << "replica " << id << ", in 5 s";
  }
  EXPECT_TRUE(world.AllInvariantsHold());
}

GRADED_TEST(CopilotOrder, AnEntryRunsOnceItIsDecided, "5c", 1,
            "A command is answered as soon as it may run: alone, within a few round trips.") {
  CopilotWorld world({.replicas = 3, .seed = 544});
  ASSERT_TRUE(world.WaitForPilots());
  ASSERT_TRUE(world.Commit(20)) << "nothing is committed without a fault";
  EXPECT_LT(world.SlowestOf(100), 20ms);
  EXPECT_TRUE(world.WaitForAllApplied());
  EXPECT_TRUE(world.AllInvariantsHold());
}

// Counts the commands that replicas apply.
class ApplyCounter : private sim::Observer {
 public:
  explicit ApplyCounter(testkit::Cluster& cluster) { cluster.simulator().AddObserver(this); }
  int count() const { return count_; }

 private:
  void OnStep(PeerId, const sim::StepInput&, const sim::StepOutput& output) override {
    for (const sim::Output& one : output.outputs) {
      const auto* const seen = std::get_if<Observation>(&one);
      count_ += seen != nullptr && seen->kind == kApplyObservation ? 1 : 0;
    }
  }

  int count_ = 0;
};

// Entries of both lanes share some of their commands. P.1, Q.1, P.2, Q.2, ... run in this order.
void RunWhatHasNotRun(std::uint64_t number) {
  Stage stage(548 + number);
  ApplyCounter applied(stage.cluster);
  RandomStream random(testkit::TheEnvironment().seed, 548, number);
  std::set<std::uint64_t> names;
  for (EntryIndex index = 1; index <= 10; ++index) {
    for (FastAccept proposal : {ProposalOfP(index, index - 1), ProposalOfQ(index, index)}) {
      proposal.commands.clear();
      const std::uint64_t count = 1 + random.Below(4);
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t name = 1 + random.Below(20);
        if (!names.insert(name).second && random.Below(2) == 0) continue;
        proposal.commands.push_back({name, "command " + std::to_string(name)});
      }
      if (proposal.commands.empty()) proposal.commands = CommandNumber(*names.insert(index).first);
      EXPECT_TRUE(stage.Ask(proposal).recorded);
      const View origin = proposal.view;
      EXPECT_TRUE(
          stage.Ask(Commit{proposal.lane, index, false, proposal.dependency, origin}).known);
    }
  }
  stage.cluster.RunFor(10ms);
  EXPECT_LE(applied.count(), std::ssize(names)) << Unsafe(Safety::kOnce) << "each runs once";
  EXPECT_EQ(applied.count(), std::ssize(names)) << "each command runs";
}

// The pilot is alone while a command is acknowledged, so it has not heard of the command.
void ReadsSeeWhatIsAcknowledged() {
  CopilotWorld world({.replicas = 3, .seed = 548});
  ASSERT_TRUE(world.WaitForPilots());
  testkit::Client client(world.cluster.simulator());
  const auto read = [&] {
    const auto answer = std::make_shared<std::optional<ReadCountReply>>();
    client.Call(0, ReadCount{}, 10s, [answer](const auto& reply) { *answer = reply; });
    return answer;
  };
  const auto before = read();
  world.cluster.RunFor(500ms);
  ASSERT_TRUE(before->has_value() && (*before)->may_read) << "a pilot does not answer a read";
  world.cluster.Partition({0});
  bool is_acknowledged = false;
  client.Call(1, Submit{"command"}, 10s, [&](const std::optional<SubmitReply>& reply) {
    is_acknowledged = reply && reply->status == SubmitStatus::kCommitted;
  });
  ASSERT_TRUE(world.cluster.RunUntil([&] { return is_acknowledged; }, 5s));
  const auto after = read();
  world.cluster.RunFor(200ms);
  world.cluster.Heal();
  ASSERT_TRUE(world.cluster.RunUntil([&] { return after->has_value(); }, 10s))
      << "a pilot that hears the others again does not answer a read";
  ASSERT_TRUE((*after)->may_read) << "a pilot that was alone for 200 ms has lost its lane";
  EXPECT_EQ((*after)->count, 1U) << Unsafe(Safety::kReadsSeeAll)
                                 << "commands that a read sees, when one was acknowledged before";
}

GRADED_TEST(CopilotOrder, AReadIsNotApplied, "5c", 1,
            "A read waits for its turn. It sees all that was acknowledged before it, and is not "
            "applied to the state machine.") {
  ASSERT_NO_FATAL_FAILURE(ReadsSeeWhatIsAcknowledged());
  Stage stage(545);
  ApplyCounter applied(stage.cluster);
  FastAccept proposal = ProposalOfP(1, 0);
  proposal.commands = {{1, ""}, {2, "command 2"}};
  EXPECT_TRUE(stage.Ask(proposal).recorded);
  EXPECT_TRUE(stage.Ask(Commit{Lane::kPilot, 1, false, 0, kPilots}).known);
  stage.cluster.RunFor(10ms);
  EXPECT_EQ(applied.count(), 1) << "of a read and a command";
}

}  // namespace
}  // namespace depfast::copilot
