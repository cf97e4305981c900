// A replica may say anything that its protocol can say. The simulator must survive it, end, and do
// the same again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "depfast/host/random.h"
#include "world.h"

namespace depfast::sim {
namespace {

constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();

// Outputs of all kinds, with the values at which arithmetic goes wrong. A backend refuses a heap
// above kHeapBytesMax; all else arrives as the replica says it.
class Babbler {
 public:
  explicit Babbler(std::uint64_t seed) : random_(seed, 0, 0) {}

  void Speak(Turn& turn) {
    for (std::uint64_t left = random_.Below(40); left > 0; --left) {
      turn.output.outputs.push_back(Any(turn));
    }
    turn.output.heap_bytes = std::min<std::uint64_t>(Number(), kHeapBytesMax);
    turn.output.random_draws = Number();
  }

 private:
  std::uint64_t Number() {
    const std::vector<std::uint64_t> numbers = {0, 1, 2, 7, 1000, kMax / 2, kMax / 2 + 1, kMax};
    return numbers[random_.Below(numbers.size())];
  }
  PeerId Peer() {
    const std::vector<PeerId> peers = {
        0, 1, 2, 3, kFirstClient, kFirstClient + 1, std::numeric_limits<PeerId>::max()};
    return peers[random_.Below(peers.size())];
  }
  std::string Text() { return std::string(random_.Below(2) == 0 ? 0 : random_.Below(3000), 'x'); }
  std::string Name() { return std::string(1, static_cast<char>('a' + random_.Below(3))); }

  Output Any(const Turn& turn) {
    switch (random_.Below(5)) {
      case 0:
        return SendFrame{Number(), Peer(), MakeBytes(Text())};
      case 1:
        return ReleaseFrame{Number(), Peer()};
      case 2:
        return IoRequest{Number(),
                         static_cast<IoRequest::Kind>(random_.Below(5)),
                         random_.Below(2) == 0,
                         Name(),
                         Name(),
                         Number(),
                         Number(),
                         MakeBytes(Text())};
      case 3:
        return SetWake{random_.Below(2) == 0 ? turn.input.now + 1ms
                                             : Time(static_cast<std::int64_t>(Number()))};
      default:
        return Observation{static_cast<std::uint32_t>(Number()), {Number(), Number(), 0, kMax}};
    }
  }

  RandomStream random_;
};

struct Ending {
  std::uint64_t trace;
  std::uint64_t events;

  bool operator==(const Ending&) const = default;
};

Ending Babble(std::uint64_t seed, const Fault& fault) {
  std::vector<Babbler> babblers = {Babbler(seed), Babbler(seed + 1), Babbler(seed + 2)};
  World world([&](Turn& turn) { babblers[static_cast<std::size_t>(turn.self)].Speak(turn); }, 3);
  const PeerId client = world.AddSilentClient();
  world.sim.Schedule({fault.From(5ms).For(10ms)});
  world.Start();
  for (int i = 0; i < 20; ++i) {
    world.sim.ClientSend(client, i % 3, MakeBytes("command"));
    world.sim.RunFor(1ms);
  }
  return {world.sim.trace().hash(), world.sim.events()};
}

class HostileReplica : public testing::TestWithParam<Fault> {};

TEST_P(HostileReplica, IsSurvivedAndRepeats) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Ending first = Babble(seed, GetParam());
    EXPECT_GT(first.events, 50U) << seed;
    EXPECT_EQ(Babble(seed, GetParam()), first) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, HostileReplica,
                         testing::Values(CrashFault({1}), NetSlow({1}, 2ms), DiskSlow({1}, 1000),
                                         PacketLoss({1}, 300), MemoryContention({1}, 1000),
                                         DiskError({1}, 200), FsDelay({1}, 1ms)));

// Each wish replaces the one before it, so that nobody fills the agenda with the future.
TEST(HostileReplicaTest, OnlyTheLastWakeOfAStepCounts) {
  World world(
      [](Turn& turn) {
        if (!turn.first || turn.self != 0) return;
        for (int i = 0; i < 1000; ++i) turn.WakeAt(5ms + std::chrono::microseconds(i));
        turn.WakeAt(3ms);
      },
      2);
  world.Start();
  const std::uint64_t before = world.sim.events();
  world.sim.RunUntil(10ms);
  EXPECT_EQ(world.StepsOf(0).back().at, 3ms);
  EXPECT_LT(world.sim.events() - before, 10U);
}

}  // namespace
}  // namespace depfast::sim
