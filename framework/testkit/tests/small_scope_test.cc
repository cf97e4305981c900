// Small scopes of a toy: a replica that keeps a value on its backup, with a planted bug.
#include "testkit/small_scope.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "depfast/host/service.h"
#include "depfast/rpc.h"
#include "depfast/runtime.h"
#include "depfast/storage.h"
#include "failures.h"
#include "sim/step_host.h"
#include "support/echo.h"
#include "testkit/choice_points.h"
#include "testkit/client.h"
#include "testkit/environment.h"

namespace depfast::testkit {
namespace {

using faults::FaultPlan;

constexpr std::int64_t kEveryRun = std::numeric_limits<std::int64_t>::max();
constexpr const char* kFile = "value";

// A request of a client to replica 0, and of replica 0 to its backup.
struct Put : EmptyRequest<11> {
  static constexpr const char* kName = "Put";
};
struct Keep : EmptyRequest<12> {
  static constexpr const char* kName = "Keep";
};

// The planted bug: after two attempts replica 0 tells its client "kept", whatever its backup says.
class Toy : public Service {
 public:
  explicit Toy(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    Rpc& rpc = runtime_.rpc();
    rpc.Handle<Keep>([this](PeerId, const Keep&) {
      runtime_.storage().Append(kFile, "v", Storage::Sync::kYes)->Wait();
      return TextReply{"kept"};
    });
    rpc.Handle<Put>([this](PeerId, const Put&) {
      for (int attempt = 0; attempt < 2; ++attempt) {
        if (runtime_.rpc().Call(1, Keep{})->Wait(50ms) == Outcome::kReady) break;
      }
      return TextReply{"kept"};
    });
  }

 private:
  Runtime& runtime_;
};

// `puts` clients put a value, one after the other. The value must be on the backup's disk when the
// first is told so.
void RunToy(ScopedRun& run, const Deviations& deviations, int puts = 1) {
  sim::Simulator simulator({.replicas = 3,
                            .seed = 7,
                            .profile = sim::Profile::Lab(),
                            .make_backend = sim::InProcessReplicas(
                                [](Runtime& runtime) { return std::make_unique<Toy>(runtime); })});
  Client client(simulator);
  run.Begin(simulator, deviations);
  simulator.Start();
  bool told = false;
  for (int i = 0; i < puts; ++i) {
    bool answered = false;
    client.Call(0, Put{}, 400ms, [&](const std::optional<TextReply>& reply) {
      answered = true;
      told = told || reply.has_value();
      const auto& files = simulator.disk(1).files();
      EXPECT_TRUE(!reply || files.contains(kFile)) << "durability violated at once: not kept";
    });
    while (!answered) simulator.StepUntil(kNever);
    simulator.RunFor(500ms);
  }
  run.Saw("an answer", told);
  run.Saw("no answer", !told);
  run.End();
}

const Deviations kLossesAlone = {.delays = {}, .stalls = {}, .downtimes = {}, .cuts = {}};
const Deviations kAll = {
    .delays = {5ms, 200ms}, .stalls = {200ms}, .downtimes = {5ms, 200ms}, .cuts = {200ms}};

ExploredRun DryRunOf(const FaultPlan& plan, const Deviations& deviations, int puts) {
  ScopedRun run(plan);
  FailuresOf([&] { RunToy(run, deviations, puts); });
  return run.result();  // the bug does not end this exploration
}

TEST(SmallScope, PruningLosesNoEndState) {
  const auto run = [](const FaultPlan& plan) { return DryRunOf(plan, kAll, 1); };
  const Exploration pruned = Explore({.deviations = 2}, kEveryRun, run);
  std::uint64_t state = 0;
  const Exploration whole = Explore({.deviations = 2}, kEveryRun, [&](const FaultPlan& plan) {
    ExploredRun result = run(plan);
    for (Choice& choice : result.choices) choice.state = ++state;  // no two are equal
    return result;
  });
  EXPECT_EQ(pruned.end_states, whole.end_states);
  EXPECT_LT(pruned.all_runs(), whole.all_runs());
  EXPECT_GT(pruned.end_states.size(), 2U);
}

TEST(SmallScope, RepetitionAddsNoRuns) {
  const auto runs = [](int puts) {
    return Explore({.deviations = 1}, kEveryRun,
                   [puts](const FaultPlan& plan) { return DryRunOf(plan, kLossesAlone, puts); })
        .all_runs();
  };
  // The first finds no file, the second one value, and so on: the file is part of the state.
  EXPECT_EQ(runs(1), 3) << "the default, the request lost, the reply lost";
  EXPECT_EQ(runs(2), 5);
}

TEST(ChoicePoints, EveryMessageCanBeLateAndLost) {
  const ExploredRun run = DryRunOf({}, kAll, 1);
  std::multiset<faults::FaultKind> kinds;
  for (const Choice& choice : run.choices) {
    const faults::Fault& fault = choice.deviation;
    kinds.insert(fault.kind);
    if (fault.receivers.empty()) continue;
    EXPECT_TRUE(fault.replicas == std::vector<PeerId>{0} ||
                fault.replicas == std::vector<PeerId>{1});
    EXPECT_EQ(fault.duration, Duration(1));
  }
  // Two messages, of which each is late by 5 ms or 200 ms, holds up its connection, or is lost.
  EXPECT_EQ(kinds.count(faults::FaultKind::kLate), 4U);
  EXPECT_EQ(kinds.count(faults::FaultKind::kLinkSlow), 2U);
  EXPECT_EQ(kinds.count(faults::FaultKind::kCut), 2U);
  // A crash is also possible after a batch of the disk.
  const std::size_t steps = kinds.count(faults::FaultKind::kPartition);
  EXPECT_EQ(kinds.count(faults::FaultKind::kCrash), 2 * steps + 2);
}

class ExploreScopeTest : public testing::Test {
 protected:
  ~ExploreScopeTest() override { TheEnvironment() = before_; }

  // The failures of an exploration of losses, as texts.
  std::vector<std::string> Failures() {
    return FailuresOf([&] {
      result_ =
          ExploreScope({.bound = {.deviations = 3}, .runs_max = kEveryRun}, [&](ScopedRun& run) {
            ++runs_;
            RunToy(run, kLossesAlone);
          });
    });
  }

  ScopeResult result_;
  int runs_ = 0;

 private:
  const Environment before_ = TheEnvironment();
};

TEST_F(ExploreScopeTest, APlantedBugIsShownWithItsShortestSchedule) {
  const auto failures = Failures();
  ASSERT_FALSE(failures.empty());
  ASSERT_TRUE(result_.exploration.failing.has_value());
  const FaultPlan& shortest = *result_.exploration.failing;
  ASSERT_EQ(shortest.size(), 2U) << "both attempts are lost";
  for (const faults::Fault& fault : shortest) {
    EXPECT_EQ(fault.kind, faults::FaultKind::kCut);
    EXPECT_EQ(fault.replicas, std::vector<PeerId>{0});
    EXPECT_EQ(fault.receivers, std::vector<PeerId>{1});
  }
  EXPECT_GT(shortest[1].start - shortest[0].start, 40ms) << "the second attempt";
  EXPECT_NE(failures.front().find("# a message from 0 to 1 is lost"), std::string::npos);
  EXPECT_EQ(result_.situations.at("an answer"), result_.exploration.all_runs());
  EXPECT_EQ(result_.situations.at("no answer"), 0) << "listed all the same";
}

TEST_F(ExploreScopeTest, AGivenScheduleRunsAlone) {
  Failures();
  TheEnvironment().schedule = *result_.exploration.failing;
  runs_ = 0;
  EXPECT_FALSE(Failures().empty());
  EXPECT_EQ(runs_, 1);
  TheEnvironment().schedule->pop_back();
  EXPECT_TRUE(Failures().empty()) << "one loss is survived";
}

}  // namespace
}  // namespace depfast::testkit
