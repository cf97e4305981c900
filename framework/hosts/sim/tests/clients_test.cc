// Clients in a whole simulation.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "world.h"

namespace depfast::sim {
namespace {

// Replica 0 sends each frame back.
Script EchoAtZero() {
  return OnFrameAtZero([](Turn& turn) {
    for (const FrameArrival& frame : turn.input.frames) turn.Send(frame.from, *frame.bytes);
  });
}

TEST(Clients, TwoClientsAreToldApart) {
  std::map<PeerId, std::string> heard;
  World world(EchoAtZero());
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

TEST(Clients, AClientMayComeWhileAnotherHears) {
  std::size_t heard = 0;
  World world(EchoAtZero());
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
