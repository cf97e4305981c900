// The wires alone, without machines: time, windows, breaks, and faults on frames.
#include "sim/wires.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "faults/fault.h"
#include "sim/inbox.h"

namespace depfast::sim {
namespace {

using Texts = std::vector<std::string>;

// Three replicas, connected, whose frames take 100 us and 2 ns a byte.
struct Net {
  explicit Net(std::size_t window_bytes = 1000)
      : model(Model(window_bytes)), wires(model, 1, addresses, effects, agenda, observers) {
    for (std::size_t i = 0; i < 3; ++i) wires.Connect(i);
  }

  static NetModel Model(std::size_t window_bytes) {
    NetModel model;
    model.latency = 100us;
    model.latency_jitter = {};
    model.bytes_per_second = 500'000'000;
    model.window_bytes = window_bytes;
    return model;
  }

  void Send(std::size_t from, std::size_t to, std::string text) {
    wires.Send(from, to, ++last_id, MakeBytes(std::move(text)));
  }

  struct Arrived {
    Time at;
    std::size_t to;
    Wires::Arrival how;
  };

  // Lets frames arrive until `limit`.
  std::vector<Arrived> RunUntil(Time limit) {
    std::vector<Arrived> out;
    while (std::optional<Event> event = agenda.Pop(limit)) {
      const auto how = wires.Arrive(*event);
      out.push_back({agenda.now(), static_cast<std::size_t>(event->node), how});
    }
    return out;
  }

  Texts Read(std::size_t replica) {
    std::vector<FrameArrival> frames;
    wires.Read(replica, cpu, frames);
    Texts out;
    for (const FrameArrival& frame : frames) out.push_back(*frame.bytes);
    return out;
  }

  void Fault(const faults::FaultPlan& plan) { effects.Set(plan, 3); }

  NetModel model;
  Addresses addresses{3};
  Effects effects{3};
  Agenda agenda;
  Observers observers;
  Wires wires;
  CpuModel cpu;
  FrameId last_id = 0;
};

// ---- time ----

TEST(Wires, AnInterfaceSendsOneFrameAfterTheOtherEachForItsBytesAndTheLatency) {
  Net net;
  const std::string text(50, 'x');
  net.Send(0, 1, text);
  net.Send(0, 2, text);
  net.Send(2, 1, text);
  const auto arrived = net.RunUntil(1s);
  ASSERT_EQ(arrived.size(), 3U);
  EXPECT_EQ(arrived[0].at, 100us + 100ns);
  EXPECT_EQ(arrived[0].how, Wires::Arrival::kUnread);
  EXPECT_EQ(arrived[1].at, 100us + 100ns) << "another interface";
  EXPECT_EQ(arrived[2].at, 100us + 200ns);
  EXPECT_EQ(arrived[2].to, 2U);
  EXPECT_EQ(net.Read(1), (Texts{text, text}));
}

TEST(Wires, AFrameToOneselfTakesNoTime) {
  Net net;
  net.Send(0, 0, "me");
  const auto arrived = net.RunUntil(0s);
  ASSERT_EQ(arrived.size(), 1U);
  EXPECT_EQ(net.Read(0), (Texts{"me"}));
}

TEST(Wires, ASlowInterfaceDelaysWhatItSendsAndKeepsTheOrder) {
  Net net;
  net.Fault({faults::NetSlow({0}, 40ms)});
  net.Send(0, 1, "slow");
  net.Send(2, 1, "fast");
  net.Send(2, 0, "fast");  // frames to the slow one are not delayed
  net.Fault({});
  net.Send(0, 1, "after");
  const auto arrived = net.RunUntil(1s);
  ASSERT_EQ(arrived.size(), 4U);
  EXPECT_EQ(arrived[0].at, 100us + 8ns);
  EXPECT_EQ(arrived[1].at, 100us + 16ns);
  EXPECT_EQ(arrived[2].at, 40ms + 100us + 8ns);
  EXPECT_EQ(arrived[3].at, arrived[2].at) << "frames of one connection do not overtake each other";
}

TEST(Wires, AJitteryInterfaceDelaysEachFrameByAnotherTimeAndKeepsTheOrder) {
  Net net(1 << 20);
  net.cpu.frames_per_connection_max = net.cpu.frames_per_step_max = 500;
  net.Fault({faults::NetSlow({0}, 40ms), faults::NetJitter({0}, 10ms)});
  Texts sent;
  std::set<Duration> delays;
  Duration sum{0};
  for (int i = 0; i < 100; ++i) {
    const Time at = i * 1s;
    net.RunUntil(at);
    net.Send(0, 1, "");
    const Duration delay = net.RunUntil(at + 1s).at(0).at - at - 100us - 40ms;
    delays.insert(delay);
    sum += delay;
  }
  EXPECT_GE(*delays.begin(), 0ms);
  EXPECT_LT(*delays.rbegin(), 10ms);
  EXPECT_EQ(delays.size(), 100U);
  EXPECT_GT(sum / 100, 4ms);
  EXPECT_LT(sum / 100, 6ms);
  net.Read(1);
  for (int i = 0; i < 20; ++i) sent.push_back(std::to_string(i));
  for (const std::string& text : sent) net.Send(0, 1, text);
  net.RunUntil(200s);
  EXPECT_EQ(net.Read(1), sent);
}

TEST(Wires, LostPacketsDelayAFrameAndAllThatFollowIt) {
  Net net(1 << 20);
  net.cpu.frames_per_connection_max = net.cpu.frames_per_step_max = 500;
  net.Fault({faults::PacketLoss({0}, 500)});
  Texts sent;
  for (int i = 0; i < 8; ++i) sent.push_back(std::to_string(i));
  for (const std::string& text : sent) net.Send(0, 1, text);
  net.Send(2, 1, "sound");
  const auto arrived = net.RunUntil(1000s);
  ASSERT_EQ(arrived.size(), 9U) << "no frame is lost";
  EXPECT_EQ(arrived[0].at, 100us + 2ns * 5) << "from the sound sender";
  std::set<Duration> delays;
  for (std::size_t i = 1; i < 9; ++i) delays.insert(arrived[i].at / 1ms * 1ms);
  for (const Duration delay : delays) EXPECT_EQ(delay % 200ms, 0ms);
  EXPECT_GE(delays.size(), 2U);
  Texts read = net.Read(1);
  std::erase(read, "sound");
  EXPECT_EQ(read, sent);
}

TEST(Wires, FramesToClientsAreDelayedToo) {
  Net net;
  const std::size_t client = net.addresses.AddClient();
  net.wires.AddClient();
  net.Fault({faults::PacketLoss({0}, 1000)});
  net.Send(0, client, "answer");
  net.Send(client, 0, "request");
  const auto arrived = net.RunUntil(1000s);
  ASSERT_EQ(arrived.size(), 2U);
  EXPECT_LT(arrived[0].at, 1ms) << "the client has another interface";
  EXPECT_GT(arrived[1].at, 800s);
}

TEST(Wires, TheDelaysOfALinkAreItsOwn) {
  const auto times = [](const faults::FaultPlan& plan) {
    Net net(1 << 20);
    net.Fault(plan);
    for (int i = 0; i < 20; ++i) net.Send(0, 1, "x");
    for (int i = 0; i < 20; ++i) net.Send(2, 0, "x");
    std::vector<Time> out;
    for (const Net::Arrived& one : net.RunUntil(2000s)) {
      if (one.to == 1) out.push_back(one.at);
    }
    return out;
  };
  const auto loss = times({faults::PacketLoss({0}, 300)});
  EXPECT_EQ(times({faults::PacketLoss({0, 2}, 300)}), loss) << "others hit as well";
  EXPECT_EQ(times({faults::PacketLoss({0}, 300), faults::DuplicateFault({2}, 500)}), loss);
  const auto jitter = times({faults::NetJitter({0}, 10ms)});
  EXPECT_EQ(times({faults::NetJitter({0}, 10ms), faults::PacketLoss({2}, 300)}), jitter);
}

TEST(Wires, FramesOfAConnectionKeepTheirOrderWhateverTheJitter) {
  Net net(1 << 20);
  net.model.latency_jitter = {900, 100, 10};
  net.cpu.frames_per_connection_max = net.cpu.frames_per_step_max = 500;
  Texts sent;
  for (int i = 0; i < 500; ++i) sent.push_back(std::to_string(i));
  for (const std::string& text : sent) net.Send(0, 1, text);
  net.RunUntil(1s);
  EXPECT_EQ(net.Read(1), sent);
}

TEST(Wires, JitterVariesLatencyWithinItsSpread) {
  Net net;
  net.model.latency_jitter = {300, 0, 1};
  std::set<Duration> latencies;
  for (Time at = 0ms; at < 100ms; at += 1ms) {
    net.Send(0, 1, "");
    latencies.insert(net.RunUntil(at + 1ms).at(0).at - at);
  }
  EXPECT_GE(*latencies.begin(), 70us);
  EXPECT_LE(*latencies.rbegin(), 130us);
  EXPECT_GT(latencies.size(), 50U);
  EXPECT_LT(*latencies.begin(), 80us);
  EXPECT_GT(*latencies.rbegin(), 120us);
}

// ---- windows ----

TEST(Wires, FramesBeyondTheWindowAreHeldUntilTheReceiverReads) {
  Net net(100);
  for (const char c : {'a', 'b', 'c'}) net.Send(0, 1, std::string(60, c));
  EXPECT_EQ(net.wires.HeldBytes(0, 1), 120U);
  EXPECT_EQ(net.wires.HeldBytes(0), 120U);
  EXPECT_EQ(net.RunUntil(1s).size(), 1U);
  EXPECT_EQ(net.wires.HeldBytes(0, 1), 120U) << "it has arrived, and is unread";
  EXPECT_EQ(net.Read(1).size(), 1U);
  EXPECT_EQ(net.wires.HeldBytes(0, 1), 60U);
  net.Send(0, 2, "x");
  EXPECT_EQ(net.RunUntil(2s).size(), 2U) << "each connection has a window of its own";
  EXPECT_EQ(net.Read(1), (Texts{std::string(60, 'b')}));
}

TEST(Wires, AHeldFrameCanBeReleasedAndOneOnTheWireCannot) {
  Net net(10);
  net.Send(0, 1, "on the wire");
  EXPECT_EQ(net.wires.HeldBytes(0, 1), 0U) << "an empty window takes a frame of any size";
  net.Send(0, 1, "held");
  net.Send(0, 1, "held, too");
  net.wires.Release(0, 1, 1);
  for (const FrameId frame : {2U, 2U, 99U}) net.wires.Release(0, 1, frame);
  EXPECT_EQ(net.wires.HeldBytes(0, 1), 9U);
  net.RunUntil(1s);
  EXPECT_EQ(net.Read(1), (Texts{"on the wire"}));
  net.RunUntil(2s);
  EXPECT_EQ(net.Read(1), (Texts{"held, too"}));
}

TEST(Wires, ThePeakOfHeldBytesIsRemembered) {
  Net net(10);
  net.Send(0, 1, "0123456789");
  net.Send(0, 1, "012345");
  net.wires.Release(0, 1, 2);
  EXPECT_EQ(net.wires.PeakHeldBytes(0), 6U);
  net.wires.ResetPeaks();
  EXPECT_EQ(net.wires.PeakHeldBytes(0), 0U);
}

// ---- reading ----

TEST(Wires, AReadIsBoundedAndGoesRoundTheConnections) {
  Net net;
  net.cpu.frames_per_connection_max = 2;
  net.cpu.frames_per_step_max = 3;
  for (const char* text : {"a1", "a2", "a3"}) net.Send(0, 1, text);
  for (const char* text : {"b1", "b2", "b3"}) net.Send(2, 1, text);
  net.RunUntil(1s);
  EXPECT_EQ(net.Read(1), (Texts{"a1", "a2", "b1"}));
  EXPECT_TRUE(net.wires.HasUnread(1));
  EXPECT_EQ(net.wires.UnreadBytes(1), 6U);
  EXPECT_EQ(net.Read(1), (Texts{"a3", "b2", "b3"}));
  EXPECT_FALSE(net.wires.HasUnread(1));
  EXPECT_EQ(net.Read(1), Texts());
}

// ---- breaks and clients ----

TEST(Wires, AFrameToAReplicaThatIsDownIsLost) {
  Net net(10);
  net.wires.Disconnect(1);
  net.Send(0, 1, "x");
  net.Send(0, 1, "y");
  EXPECT_EQ(net.wires.HeldBytes(0, 1), 0U);
  EXPECT_TRUE(net.RunUntil(1s).empty());
}

TEST(Wires, ABreakLosesWhatWasForTheReplicaAndKeepsWhatItHadSent) {
  Net net(10);
  net.Send(0, 1, "on the wire");
  net.Send(0, 1, "held");
  net.Send(1, 2, "sent before");
  net.Send(1, 2, "held by it");
  net.Send(1, 1, "to itself");
  net.wires.Disconnect(1);
  net.wires.Connect(1);
  EXPECT_EQ(net.wires.HeldBytes(0, 1), 0U);
  EXPECT_EQ(net.wires.HeldBytes(1, 2), 0U);
  const auto arrived = net.RunUntil(1s);
  EXPECT_FALSE(arrived.empty());
  for (const Net::Arrived& one : arrived) {
    EXPECT_EQ(one.how, one.to == 1 ? Wires::Arrival::kLost : Wires::Arrival::kUnread);
  }
  EXPECT_EQ(net.Read(1), Texts());
  EXPECT_EQ(net.Read(2), (Texts{"sent before"}));
}

TEST(Wires, ABreakLosesUnreadFramesAndOpensTheWindow) {
  Net net(10);
  net.Send(0, 1, "unread");
  net.Send(0, 1, "held, 1234");
  net.RunUntil(1s);
  net.wires.Disconnect(1);
  net.wires.Connect(1);
  EXPECT_FALSE(net.wires.HasUnread(1));
  net.Send(0, 1, "new");
  EXPECT_EQ(net.wires.HeldBytes(0, 1), 0U);
  net.RunUntil(2s);
  EXPECT_EQ(net.Read(1), Texts{"new"});
}

TEST(Wires, AClientHasNoWindowAndHearsOfEachFrameAtOnce) {
  Net net(1);
  const std::size_t client = net.addresses.AddClient();
  net.wires.AddClient();
  for (int i = 0; i < 3; ++i) net.Send(0, client, "answer");
  for (int i = 0; i < 3; ++i) net.Send(client, 0, "request");
  EXPECT_EQ(net.wires.HeldBytes(0, client), 0U);
  EXPECT_EQ(net.wires.HeldBytes(client, 0), 0U);
  int answers = 0;
  for (const Net::Arrived& one : net.RunUntil(1s)) {
    answers += one.how == Wires::Arrival::kAtClient ? 1 : 0;
  }
  EXPECT_EQ(answers, 3);
  EXPECT_EQ(net.Read(0).size(), 3U);
}

TEST(Wires, AnAddressThatNobodyHasTakesNothing) {
  Net net;
  constexpr PeerId kMin = std::numeric_limits<PeerId>::min();
  constexpr PeerId kMax = std::numeric_limits<PeerId>::max();
  for (const PeerId id : {-1, 3, 4, 999, kFirstClient, kFirstClient + 1, kMin, kMax - 1, kMax}) {
    net.Send(0, net.addresses.IndexOf(id), "x");
    net.wires.Release(0, net.addresses.IndexOf(id), net.last_id);
  }
  EXPECT_TRUE(net.RunUntil(1s).empty());
}

// ---- faults ----

TEST(Wires, ACutLosesOneDirectionAndOpensTheWindow) {
  Net net(1);
  net.Send(0, 1, "lost");  // on the wire when the cut begins
  net.Fault({faults::CutFault({0}, {1})});
  net.Send(0, 1, "lost, too");
  net.Send(1, 0, "heard");
  net.RunUntil(1s);
  EXPECT_EQ(net.wires.HeldBytes(0, 1), 0U);
  EXPECT_EQ(net.Read(1), Texts());
  EXPECT_EQ(net.Read(0), (Texts{"heard"}));
}

TEST(Wires, DroppedFramesTakeNoWindowAndDuplicatesArriveTwice) {
  Net net(1);
  net.Fault({faults::DropFault({0}, 1000), faults::DuplicateFault({2}, 1000)});
  net.Send(0, 1, "x");
  net.Send(0, 1, "x");
  net.Send(2, 1, "twice");
  EXPECT_EQ(net.wires.HeldBytes(0, 1), 0U);
  net.RunUntil(1s);
  EXPECT_EQ(net.Read(1), (Texts{"twice", "twice"}));
}

}  // namespace
}  // namespace depfast::sim
