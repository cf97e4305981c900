// The network in a whole simulation: bandwidth, latency, order, windows, held bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "world.h"

namespace depfast::sim {
namespace {

// When replica `replica` began the steps that read frames.
std::vector<Time> ReadsAt(const World& world, PeerId replica) {
  std::vector<Time> out;
  for (const World::Step& step : world.StepsOf(replica)) {
    if (!step.frames.empty()) out.push_back(step.at);
  }
  return out;
}

TEST(Network, AFrameTakesItsBytesAndTheLatency) {
  World world([](Turn& turn) {
    if (turn.self == 0 && turn.first) turn.Send(1, std::string(1000, 'x'));
  });
  world.sim.Start();
  world.sim.RunUntil(10ms);
  const Time left = 10us + 5us + 1000ns;
  EXPECT_EQ(ReadsAt(world, 1), (std::vector<Time>{left + 2000ns + 100us}));
}

TEST(Network, FramesToAllPeersShareTheInterface) {
  World world(
      [](Turn& turn) {
        if (turn.self != 0 || !turn.first) return;
        turn.Send(1, std::string(1000, 'x'));
        turn.Send(2, std::string(500, 'y'));
      },
      3);
  world.sim.Start();
  world.sim.RunUntil(10ms);
  const Time left = 10us + 2 * 5us + 1500ns;
  EXPECT_EQ(ReadsAt(world, 1), (std::vector<Time>{left + 2000ns + 100us}));
  EXPECT_EQ(ReadsAt(world, 2), (std::vector<Time>{left + 3000ns + 100us}));
}

TEST(Network, FramesOfAConnectionKeepTheirOrderWhateverTheJitter) {
  Profile profile = Exact();
  profile.net.latency_jitter = {900, 100, 10};
  World world(
      [](Turn& turn) {
        if (turn.self != 0 || !turn.first) return;
        for (int i = 0; i < 500; ++i) turn.Send(1, std::to_string(i));
      },
      2, profile);
  world.sim.Start();
  world.sim.RunUntil(1s);
  std::vector<std::string> expected;
  for (int i = 0; i < 500; ++i) expected.push_back(std::to_string(i));
  EXPECT_EQ(world.FramesOf(1), expected);
}

TEST(Network, JitterVariesLatencyWithinItsSpread) {
  Profile profile = Exact();
  profile.net.latency_jitter = {300, 0, 1};
  World world(
      [](Turn& turn) {
        if (turn.self == 0) {
          turn.Send(1, "");
          turn.WakeAt(turn.input.now + 1ms);
        }
      },
      2, profile);
  world.sim.Start();
  world.sim.RunUntil(100ms);
  std::set<Duration> latencies;
  for (const Time at : ReadsAt(world, 1)) latencies.insert(at % 1ms - 15us);
  EXPECT_GE(*latencies.begin(), 70us);
  EXPECT_LE(*latencies.rbegin(), 130us);
  EXPECT_GT(latencies.size(), 50U);
  EXPECT_LT(*latencies.begin(), 80us);
  EXPECT_GT(*latencies.rbegin(), 120us);
}

// ---- windows ----

Profile SmallWindow() {
  Profile profile = Exact();
  profile.net.window_bytes = 300;
  return profile;
}

// Replica 0 sends ten frames of 100 bytes, "0..." to "9...", and then does as it is told.
Script TenFramesThen(Script then) {
  return [then = std::move(then)](Turn& turn) {
    if (turn.self != 0) return;
    if (!turn.first) return then(turn);
    for (char c = '0'; c <= '9'; ++c) turn.Send(1, std::string(100, c));
    turn.WakeAt(Time::zero());
  };
}

std::string Initials(const std::vector<std::string>& frames) {
  std::string out;
  for (const std::string& frame : frames) out += frame.at(0);
  return out;
}

TEST(Window, WhatItCannotTakeIsHeldAndReported) {
  World world(TenFramesThen(Idle), 2, SmallWindow());
  world.sim.Start();
  world.sim.RunUntil(100us);
  EXPECT_EQ(world.sim.HeldBytes(0, 1), 700U);
  EXPECT_EQ(world.sim.HeldBytes(1, 0), 0U);
  EXPECT_EQ(world.sim.PeakHeldBytes(0), 700U);
  const auto steps = world.StepsOf(0);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].held_bytes, (std::vector<std::size_t>{0, 0}));
  EXPECT_EQ(steps[1].held_bytes, (std::vector<std::size_t>{0, 700}));
  world.sim.RunUntil(100ms);
  EXPECT_EQ(Initials(world.FramesOf(1)), "0123456789");
  EXPECT_EQ(world.sim.HeldBytes(0, 1), 0U);
  EXPECT_EQ(world.sim.PeakHeldBytes(0), 700U);
  world.sim.ResetPeaks();
  EXPECT_EQ(world.sim.PeakHeldBytes(0), 0U);
}

TEST(Window, ReadingOpensIt) {
  World world(TenFramesThen(Idle), 2, SmallWindow());
  world.sim.Start();
  world.sim.RunUntil(100ms);
  // 0, 1 and 2 leave with the step; each is read, and lets the next go, in a step of its own or
  // together with what came while the receiver was busy.
  const Time left = 10us + 10 * 5us + 1000ns;
  const auto reads = ReadsAt(world, 1);
  ASSERT_GE(reads.size(), 3U);
  EXPECT_EQ(reads[0], left + 200ns + 100us);           // reads 0: 3 leaves
  EXPECT_EQ(reads[1], reads[0] + 10us + 5us + 100ns);  // reads 1 and 2: 4 and 5 leave
  EXPECT_EQ(reads[2], reads[0] + 200ns + 100us) << "3 left when 0 was read";
}

TEST(Window, AFrameLargerThanItPassesAlone) {
  World world(
      [](Turn& turn) {
        if (turn.self != 0 || !turn.first) return;
        turn.Send(1, std::string(1000, 'a'));
        turn.Send(1, "b");
      },
      2, SmallWindow());
  world.sim.Start();
  world.sim.RunUntil(50us);
  EXPECT_EQ(world.sim.HeldBytes(0, 1), 1U);
  world.sim.RunUntil(10ms);
  EXPECT_EQ(Initials(world.FramesOf(1)), "ab");
}

TEST(Window, ReleaseDropsAHeldFrameAndNeverOneOnTheWire) {
  World world(TenFramesThen([](Turn& turn) {
                if (turn.input.now > 70us) return;
                for (const FrameId frame : {2U, 6U, 10U, 10U, 11U}) turn.Release(1, frame);
              }),
              2, SmallWindow());
  world.sim.Start();
  world.sim.RunUntil(100us);
  EXPECT_EQ(world.sim.HeldBytes(0, 1), 500U);
  world.sim.RunUntil(100ms);
  EXPECT_EQ(Initials(world.FramesOf(1)), "01234678") << "frame ids begin with 1";
}

TEST(Window, ClientsHaveNone) {
  World world(OnFrameAtZero([](Turn& turn) {
                for (int i = 0; i < 10; ++i) turn.Send(kFirstClient, std::string(100, 'x'));
              }),
              2, SmallWindow());
  std::size_t heard = 0;
  const PeerId client = world.sim.AddClient([&](PeerId, const Bytes&) { ++heard; });
  world.Start();
  for (int i = 0; i < 10; ++i) world.sim.ClientSend(client, 0, MakeBytes(std::string(100, 'q')));
  EXPECT_EQ(world.sim.HeldBytes(client, 0), 0U);
  world.sim.RunUntil(100ms);
  EXPECT_EQ(world.FramesOf(0).size(), 10U);
  EXPECT_GE(heard, 20U);
}

TEST(Window, OneSlowReaderDoesNotHoldAnothersFrames) {
  World world(
      [](Turn& turn) {
        if (turn.self != 0 || !turn.first) return;
        for (char c = '0'; c <= '9'; ++c) turn.Send(1, std::string(100, c));
        turn.Send(2, "x");
      },
      3, SmallWindow());
  world.sim.Start();
  world.sim.Begin(CpuSlow({1}, 1));
  world.sim.RunUntil(300us);
  EXPECT_GT(world.sim.HeldBytes(0, 1), 0U);
  EXPECT_EQ(world.FramesOf(2).size(), 1U);
}

// ---- addresses ----

TEST(Address, AFrameToNobodyGoesNowhere) {
  constexpr auto kMax = std::numeric_limits<PeerId>::max();
  const std::vector<PeerId> nobody = {
      -1, 3, 4, 999, kFirstClient + 1, kMax - 1, kMax, std::numeric_limits<PeerId>::min()};
  std::size_t heard = 0;
  World world(
      [&](Turn& turn) {
        if (turn.self != 0 || !turn.first) return;
        for (const PeerId peer : nobody) {
          const FrameId frame = turn.Send(peer, "x");
          turn.Release(peer, frame);
        }
      },
      3);
  world.sim.AddClient([&](PeerId, const Bytes&) { ++heard; });
  world.sim.Start();
  world.sim.RunUntil(10ms);
  EXPECT_EQ(heard, 0U);
  for (PeerId replica = 0; replica < 3; ++replica) {
    EXPECT_TRUE(world.FramesOf(replica).empty());
    EXPECT_TRUE(world.sim.IsUp(replica));
  }
}

TEST(Address, AFrameToOneselfNeedsNoWire) {
  World world(
      [](Turn& turn) {
        if (turn.first) turn.Send(turn.self, "me");
      },
      1);
  world.sim.Start();
  world.sim.RunUntil(10ms);
  const auto steps = world.StepsOf(0);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1].at, 10us + 5us + 2ns);
  EXPECT_EQ(steps[1].frames, (std::vector<std::pair<PeerId, std::string>>{{0, "me"}}));
}

TEST(Address, TwoClientsAreToldApart) {
  std::map<PeerId, std::string> heard;
  World world(OnFrameAtZero([](Turn& turn) {
    for (const FrameArrival& frame : turn.input.frames) turn.Send(frame.from, *frame.bytes);
  }));
  for (int i = 0; i < 2; ++i) {
    const PeerId expected = kFirstClient + i;
    const PeerId client = world.sim.AddClient(
        [&heard, expected](PeerId, const Bytes& bytes) { heard[expected] += *bytes; });
    EXPECT_EQ(client, expected);
  }
  world.Start();
  world.sim.ClientSend(kFirstClient + 1, 0, MakeBytes("one"));
  world.sim.ClientSend(kFirstClient, 0, MakeBytes("zero"));
  world.sim.RunFor(10ms);
  EXPECT_EQ(heard,
            (std::map<PeerId, std::string>{{kFirstClient, "zero"}, {kFirstClient + 1, "one"}}));
}

TEST(Address, AClientMayComeWhileAnotherHears) {
  std::size_t heard = 0;
  World world(OnFrameAtZero([](Turn& turn) {
    for (const FrameArrival& frame : turn.input.frames) turn.Send(frame.from, *frame.bytes);
  }));
  // A chain of clients, each of which starts the next one: also moves whatever holds them.
  std::function<void()> start_next = [&] {
    // A capture too large for a std::function's own buffer: it must outlive its call.
    const std::string proof(100, 'p');
    const PeerId client = world.sim.AddClient([&, proof](PeerId, const Bytes&) {
      if (++heard < 50) start_next();
      EXPECT_EQ(proof, std::string(100, 'p'));
    });
    world.sim.ClientSend(client, 0, MakeBytes("x"));
  };
  world.Start();
  start_next();
  world.sim.RunFor(100ms);
  EXPECT_EQ(heard, 50U);
}

}  // namespace
}  // namespace depfast::sim
