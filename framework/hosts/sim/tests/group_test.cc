// Two groups in one simulated cluster: each runs its service alone, and calls cross if asked to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "depfast/host/service.h"
#include "sim/group_view.h"
#include "sim/simulator.h"
#include "sim/step_host.h"
#include "support/echo.h"
#include "world.h"

namespace depfast::sim {
namespace {

constexpr std::uint32_t kAnswered = 1;  // the kind of an observation: the group's rounds so far

// Member 0 of each group asks its peers every 5 ms. That of group 0 asks group 1, too, if it may.
class Asker : public Service {
 public:
  Asker(Runtime& runtime, bool crosses) : runtime_(runtime), crosses_(crosses) {}

  void Start() override {
    ServeEcho(runtime_.rpc());
    if (runtime_.self() == 0) runtime_.Spawn("ask", [this] { AskForEver(); });
  }

 private:
  void AskForEver() {
    for (std::uint64_t rounds = 1;; ++rounds) {
      runtime_.Sleep(5ms);
      for (const auto& call : runtime_.rpc().CallAll(runtime_.peers(), Echo{}, 2ms)) call->Wait();
      if (crosses_ && runtime_.group() == 0) {
        runtime_.rpc().Call(runtime_.PeerOf(1, 1), Echo{}, 2ms)->Wait();
      }
      runtime_.Observe({kAnswered, {rounds, 0, 0, 0}});
    }
  }

  Runtime& runtime_;
  const bool crosses_;
};

SimOptions Options(std::vector<int> groups, bool crosses = false) {
  SimOptions options;
  options.profile = Exact();
  options.make_backend = InProcessReplicas(
      [crosses](Runtime& runtime) { return std::make_unique<Asker>(runtime, crosses); });
  options.groups = std::move(groups);
  return options;
}

// Keeps the frames and steps that an observer of one group is told of, by ids.
class Heard : public Observer {
 public:
  struct Frame {
    PeerId at, from;
    bool operator==(const Frame&) const = default;
  };

  void OnStep(PeerId replica, const StepInput& input, const StepOutput& output) override {
    for (const FrameArrival& frame : input.frames) frames.push_back({replica, frame.from});
    for (const Output& one : output.outputs) {
      if (const auto* const send = std::get_if<SendFrame>(&one)) receivers.push_back(send->to);
      if (const auto* const seen = std::get_if<Observation>(&one)) {
        rounds.emplace_back(input.now, seen->values[0]);
      }
    }
    held_bytes = input.held_bytes.size();
  }
  void OnDeath(PeerId replica, Time, const std::string&) override { deaths.push_back(replica); }

  std::vector<Frame> frames;
  std::vector<PeerId> receivers;
  std::vector<std::pair<Time, std::uint64_t>> rounds;
  std::vector<PeerId> deaths;
  std::size_t held_bytes = 0;
};

struct TwoGroups {
  explicit TwoGroups(bool crosses = false) : sim(Options({3, 2}, crosses)) {
    sim.AddObserver(&all);
    GroupView(sim, 0).AddObserver(&first);
    GroupView(sim, 1).AddObserver(&second);
    sim.Start();
  }

  Heard all;  // by addresses
  Heard first;
  Heard second;
  Simulator sim;
};

TEST(SimGroups, EachGroupRunsItsService) {
  TwoGroups world;
  world.sim.RunUntil(100ms);
  EXPECT_GT(world.first.rounds.size(), 10U);
  EXPECT_GT(world.second.rounds.size(), 10U);
  for (const Heard* heard : {&world.first, &world.second}) {
    EXPECT_FALSE(heard->frames.empty());
    for (const Heard::Frame& frame : heard->frames) {
      EXPECT_TRUE((frame.at == 0) != (frame.from == 0)) << "only member 0 asks";
      EXPECT_LT(frame.from, 3) << "no frame comes from the other group";
    }
  }
  EXPECT_EQ(world.first.held_bytes, 3U);
  EXPECT_EQ(world.second.held_bytes, 2U);
}

TEST(SimGroups, AFaultOnOneGroupLeavesTheOtherAlone) {
  TwoGroups healthy;
  TwoGroups faulty;
  healthy.sim.RunUntil(200ms);
  const GroupView second(faulty.sim, 1);
  faulty.sim.Schedule({CpuSlow({second.AddressOf(0)}, 5).From(20ms).For(50ms),
                       CrashFault({second.AddressOf(1)}).From(80ms).For(50ms)});
  faulty.sim.RunUntil(200ms);
  EXPECT_EQ(faulty.first.rounds, healthy.first.rounds);
  EXPECT_EQ(faulty.first.frames, healthy.first.frames);
  EXPECT_TRUE(faulty.first.deaths.empty());
  EXPECT_LT(faulty.second.rounds.size(), healthy.second.rounds.size());
  EXPECT_EQ(faulty.second.deaths, (std::vector<PeerId>{1}));
}

TEST(SimGroups, ACallCrossesToAnotherGroup) {
  TwoGroups world(/*crosses=*/true);
  world.sim.RunUntil(100ms);
  EXPECT_GT(world.first.rounds.size(), 10U);
  const Heard::Frame asked{4, 0};
  EXPECT_NE(std::ranges::find(world.all.frames, asked), world.all.frames.end());
  const Heard::Frame answered{0, 4};
  EXPECT_NE(std::ranges::find(world.all.frames, answered), world.all.frames.end());
  for (const Heard* heard : {&world.first, &world.second}) {
    EXPECT_FALSE(heard->frames.empty() || heard->receivers.empty());
    for (const Heard::Frame& frame : heard->frames) EXPECT_LT(frame.from, 3) << "it is hidden";
    for (const PeerId receiver : heard->receivers) EXPECT_LT(receiver, 3) << "it is hidden";
  }
}

TEST(SimGroups, AViewNamesMembersByTheirIds) {
  TwoGroups world;
  const GroupView second(world.sim, 1);
  EXPECT_EQ(second.replicas(), 2);
  EXPECT_EQ(second.AddressOf(1), 4);
  world.sim.Crash(4);
  EXPECT_TRUE(second.IsUp(0));
  EXPECT_FALSE(second.IsUp(1));
  EXPECT_TRUE(GroupView(world.sim).IsUp(1)) << "a simulator stands for its first group";
}

TEST(SimGroups, OneGroupIsACluster) {
  const auto hash = [](SimOptions options) {
    Simulator sim(std::move(options));
    sim.Start();
    sim.RunUntil(100ms);
    return sim.trace().hash();
  };
  SimOptions plain = Options({});
  plain.replicas = 3;
  EXPECT_EQ(hash(Options({3})), hash(plain));
  EXPECT_NE(hash(Options({2, 1})), hash(plain));
}

}  // namespace
}  // namespace depfast::sim
