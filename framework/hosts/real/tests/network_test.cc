// A Network driven by hand: turn by turn, in the test's own thread.
#include "real/network.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "real/client.h"
#include "support.h"

namespace depfast::real {
namespace {

struct Arrival {
  PeerId from;
  std::string bytes;
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

// One replica's network with its own loop.
class Node {
 public:
  Node(PeerId self, std::vector<Endpoint> replicas, Descriptor listener,
       const std::function<void(NetworkOptions&)>& adjust = {}) {
    NetworkOptions options;
    options.self = self;
    options.replicas = std::move(replicas);
    if (adjust) adjust(options);
    network.emplace(
        options, std::move(listener), loop, counters,
        [this](const std::string& line) { log.push_back(line); },
        [this](PeerId replica, bool is_up) {
          links.push_back(std::to_string(replica) + (is_up ? " is up" : " is lost"));
        });
  }

  // Handles pending events, without waiting.
  void Turn() {
    network->OnTime(std::chrono::steady_clock::now().time_since_epoch());
    for (const auto& event : loop.Wait(false)) network->OnEvent(event.data.u64, event.events);
    network->Receive([this](PeerId from, std::string_view bytes) {
      arrivals.push_back({from, std::string(bytes)});
    });
    network->Flush();
  }

  void Send(PeerId to, const std::string& bytes) {
    network->Send(to, ++last_frame, MakeBytes(bytes));
  }

  EventLoop loop;
  NetworkCounters counters;
  std::vector<std::string> log;
  std::vector<Arrival> arrivals;
  std::vector<std::string> links;  // the news of them
  FrameId last_frame = 0;
  std::optional<Network> network;
};

// Replica 0 of one, and clients that connect to it while it turns.
class OneNode : public testing::Test {
 protected:
  OneNode() {
    auto [listener, where] = ListenAnywhere();
    endpoint = where;
    node.emplace(0, std::vector{where}, std::move(listener));
  }

  // Runs a function that blocks on the node in another thread, while the node turns.
  void WhileTurning(const std::function<void()>& body) {
    std::atomic<bool> done{false};
    std::thread thread([&] {
      body();
      done = true;
    });
    EXPECT_TRUE(Eventually([&] {
      node->Turn();
      return done.load();
    }));
    thread.join();
  }

  std::unique_ptr<Client> MakeClient(PeerId id = kNobody) {
    std::unique_ptr<Client> client;
    WhileTurning([&] { client = std::make_unique<Client>(endpoint, id); });
    return client;
  }

  bool TurnUntil(const std::function<bool()>& condition) {
    return Eventually([&] {
      node->Turn();
      return condition();
    });
  }

  // Expects that the client's connection is closed: Receive fails.
  void ExpectClosed(Client& client) {
    WhileTurning([&] { EXPECT_THROW(client.Receive(kPatience), std::system_error); });
  }

  Endpoint endpoint;
  std::optional<Node> node;
};

TEST_F(OneNode, AClientIsGivenAnIdAndAnsweredOnItsConnection) {
  const auto first = MakeClient();
  const auto second = MakeClient();
  EXPECT_GE(first->id(), kFirstAssignedClient);
  EXPECT_NE(first->id(), second->id());
  EXPECT_EQ(first->replica(), 0);
  first->Send("hello");
  ASSERT_TRUE(TurnUntil([&] { return !node->arrivals.empty(); }));
  EXPECT_EQ(node->arrivals, (std::vector<Arrival>{{first->id(), "hello"}}));
  node->Send(first->id(), "answer");
  node->Turn();
  EXPECT_EQ(first->Receive(kPatience), "answer");
}

TEST_F(OneNode, AClientMayBringItsIdAndANewConnectionReplacesTheOld) {
  const auto old = MakeClient(1234);
  EXPECT_EQ(old->id(), 1234);
  const auto young = MakeClient(1234);
  ExpectClosed(*old);
  node->Send(1234, "to the new one");
  node->Turn();
  EXPECT_EQ(young->Receive(kPatience), "to the new one");
}

TEST_F(OneNode, AClientThatResetsItsConnectionIsNoNewsAndItsFramesAreDropped) {
  auto client = MakeClient();
  const PeerId id = client->id();
  const linger at_once = {1, 0};
  setsockopt(client->fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  client.reset();
  ASSERT_TRUE(TurnUntil([&] { return node->network->connections() == 0; }));
  EXPECT_EQ(node->log, std::vector<std::string>{});
  node->Send(id, "too late");
  EXPECT_EQ(node->counters.dropped_frames.value(), 1u);
}

TEST_F(OneNode, AnOversizeFrameClosesThatConnectionOnly) {
  const auto bad = MakeClient();
  const auto good = MakeClient();
  const auto length = EncodeLength(kMaxFrameBytes + 1);
  bad->SendRaw(std::string(length.begin(), length.end()));
  ExpectClosed(*bad);
  EXPECT_EQ(node->counters.malformed.value(), 1u);
  ASSERT_EQ(node->log.size(), 1u);
  EXPECT_NE(node->log[0].find("a frame of 16777217 bytes is above the limit"), std::string::npos);
  good->Send("still here");
  EXPECT_TRUE(TurnUntil([&] { return node->arrivals.size() == 1; }));
}

TEST_F(OneNode, GarbageInsteadOfAGreetingClosesTheConnection) {
  const std::vector<std::string> garbage = {
      "GET / HTTP/1.1\r\n\r\n",
      std::string(64, '\0'),
      EncodeHello({kNobody, 0}).replace(4, 4, "FSL9"),  // another version
      EncodeHello({-7, 0}),                             // an invalid id
      EncodeHello({0, 0}),                              // this replica's own id
      EncodeHello({999, 0}),                            // no such replica
      EncodeHello({kNobody, 3}),                        // expects another replica
  };
  for (std::size_t i = 0; i < garbage.size(); ++i) {
    const Descriptor socket = ConnectTo(endpoint);
    SendText(socket, garbage[i]);
    ASSERT_TRUE(TurnUntil([&] { return node->counters.malformed.value() == i + 1; })) << i;
    EXPECT_EQ(node->network->connections(), 0u) << i;
  }
  EXPECT_TRUE(node->arrivals.empty());
}

TEST_F(OneNode, AConnectionThatNeverGreetsIsClosedInTime) {
  const auto client = MakeClient();
  const Descriptor socket = ConnectTo(endpoint);
  ASSERT_TRUE(TurnUntil([&] { return node->network->connections() == 2; }));
  EXPECT_NE(node->network->NextDeadline(), kNever);
  node->network->OnTime(node->network->NextDeadline());
  EXPECT_EQ(node->network->connections(), 1u);
  client->Send("I did greet");
  EXPECT_TRUE(TurnUntil([&] { return node->arrivals.size() == 1; }));
}

// Document 002, section 3.2.2: a burst from one peer does not delay the others.
TEST_F(OneNode, AFloodDoesNotStarveAnotherConnection) {
  const auto flood = MakeClient();
  const auto quiet = MakeClient();
  const std::size_t flood_frames = 2000;
  std::string burst;
  for (std::size_t i = 0; i < flood_frames; ++i) {
    const auto length = EncodeLength(5);
    burst.append(length.begin(), length.end()).append("flood");
  }
  flood->SendRaw(burst);
  quiet->Send("me too");
  // Both are in the kernel's buffers now (a loopback connection delivers at once).
  const auto from = [&](PeerId id) {
    return std::count_if(node->arrivals.begin(), node->arrivals.end(),
                         [&](const Arrival& arrival) { return arrival.from == id; });
  };
  ASSERT_TRUE(TurnUntil([&] { return from(quiet->id()) == 1; }));
  EXPECT_LE(from(flood->id()), 2 * 256) << "more than two turns of the flood came first";
  EXPECT_TRUE(node->network->HasBacklog()) << "the rest of the flood was forgotten";
  // No more bytes are read while frames of the last read remain: the memory is bounded, too.
  flood->SendRaw(burst);
  const auto reads = node->counters.reads.value();
  node->Turn();
  EXPECT_EQ(node->counters.reads.value(), reads);
  // No event announces frames that are buffered already: HasBacklog alone must cause their
  // delivery.
  while (node->network->HasBacklog()) node->Turn();
  EXPECT_TRUE(TurnUntil(
      [&] { return from(flood->id()) == static_cast<std::ptrdiff_t>(2 * flood_frames); }));
}

class TwoNodes : public testing::Test {
 protected:
  TwoNodes() {
    auto [listener0, endpoint0] = ListenAnywhere();
    auto [listener1, endpoint1] = ListenAnywhere();
    replicas = {endpoint0, endpoint1};
    node0.emplace(0, replicas, std::move(listener0), [](NetworkOptions& options) {
      options.held_bytes_max = 1'000'000;
      options.held_bytes_disconnected_max = 10'000;
      options.reconnect_max = 20ms;
    });
    node1.emplace(1, replicas, std::move(listener1));
  }

  bool TurnUntil(const std::function<bool()>& condition) {
    return Eventually([&] {
      node0->Turn();
      if (node1) node1->Turn();
      return condition();
    });
  }

  // Until node 0 has connected `times` times.
  bool TurnUntilConnected(std::uint64_t times = 1) {
    return TurnUntil([&] { return node0->counters.connected.value() == times; });
  }
  bool TurnUntilLost(std::uint64_t times) {
    return TurnUntil([&] { return node0->counters.lost.value() >= times; });
  }
  void RestartNode1() { node1.emplace(1, replicas, Listen(replicas[1])); }

  std::vector<Endpoint> replicas;
  std::optional<Node> node0;
  std::optional<Node> node1;
};

TEST_F(TwoNodes, FramesGoBothWaysInOrder) {
  for (int i = 0; i < 100; ++i) node0->Send(1, "a" + std::to_string(i));
  node1->Send(0, "b");
  ASSERT_TRUE(
      TurnUntil([&] { return node1->arrivals.size() == 100 && node0->arrivals.size() == 1; }));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(node1->arrivals[static_cast<std::size_t>(i)], (Arrival{0, "a" + std::to_string(i)}));
  }
  EXPECT_EQ(node0->arrivals[0], (Arrival{1, "b"}));
}

TEST_F(TwoNodes, FramesOfOneTurnAreOneWrite) {
  ASSERT_TRUE(TurnUntilConnected());
  node0->Turn();
  const auto before = node0->counters.writes.value();
  for (int i = 0; i < 64; ++i) node0->Send(1, std::string(100, 'x'));
  EXPECT_EQ(node0->counters.writes.value(), before) << "frames were written before the turn ended";
  node0->network->Flush();
  EXPECT_EQ(node0->counters.writes.value(), before + 1);
}

TEST_F(TwoNodes, AReleasedFrameNeverArrives) {
  ASSERT_TRUE(TurnUntilConnected());
  node0->Send(1, "kept");
  node0->Send(1, "dropped");
  node0->network->Release(1, node0->last_frame);
  node0->Send(1, "kept too");
  EXPECT_EQ(node0->network->HeldBytes(1), 12u);
  ASSERT_TRUE(TurnUntil([&] { return node1->arrivals.size() == 2; }));
  EXPECT_EQ(node1->arrivals, (std::vector<Arrival>{{0, "kept"}, {0, "kept too"}}));
  EXPECT_EQ(node0->counters.released_frames.value(), 1u);
}

TEST_F(TwoNodes, APeerThatDoesNotReadIsHeldForUpToTheBound) {
  ASSERT_TRUE(TurnUntilConnected());
  // Replica 1 does not turn any more: first the kernel's buffers fill, then the queue, then frames
  // are dropped.
  const std::string frame(50'000, 'x');
  for (int i = 0; i < 2000 && node0->counters.dropped_frames.value() == 0; ++i) {
    node0->Send(1, frame);
    EXPECT_LE(node0->network->HeldBytes(1), 1'000'000u);
    node0->Turn();
  }
  EXPECT_GT(node0->counters.dropped_frames.value(), 0u);
  EXPECT_GT(node0->network->HeldBytes(1), 900'000u);
  const auto sent = node0->last_frame;
  const auto dropped = node0->counters.dropped_frames.value();
  ASSERT_TRUE(TurnUntil([&] { return node1->arrivals.size() == sent - dropped; }));
  EXPECT_EQ(node0->network->HeldBytes(1), 0u);
  for (const auto& arrival : node1->arrivals) ASSERT_EQ(arrival.bytes, frame);
}

TEST_F(TwoNodes, APeerThatIsDownIsReconnectedToAndFindsTheLatestFrames) {
  ASSERT_TRUE(TurnUntilConnected());
  node1.reset();
  ASSERT_TRUE(TurnUntilLost(2)) << "it did not retry";
  for (int i = 0; i < 100; ++i) node0->Send(1, std::to_string(1000 + i) + std::string(996, 'x'));
  EXPECT_LE(node0->network->HeldBytes(1), 10'000u);
  EXPECT_EQ(node0->counters.dropped_frames.value(), 90u);
  RestartNode1();
  ASSERT_TRUE(TurnUntil([&] { return node1->arrivals.size() == 10; }));
  EXPECT_EQ(node1->arrivals.front().bytes.substr(0, 4), "1090") << "old frames were not dropped";
  node1->Send(0, "back");
  ASSERT_TRUE(TurnUntil([&] { return !node0->arrivals.empty(); }));
}

TEST_F(TwoNodes, ALostConnectionIsNewsOnce) {
  ASSERT_TRUE(TurnUntilConnected());
  EXPECT_EQ(node0->links, (std::vector<std::string>{"1 is up"}));
  node1.reset();
  // Attempts to connect that fail are no news.
  ASSERT_TRUE(TurnUntilLost(3));
  EXPECT_EQ(node0->links, (std::vector<std::string>{"1 is up", "1 is lost"}));
  RestartNode1();
  ASSERT_TRUE(TurnUntil([&] { return node0->links.size() == 3; }));
  EXPECT_EQ(node0->links.back(), "1 is up");
}

TEST_F(TwoNodes, ANetworkOutOfServiceIsLostToItsPeersAndComesBack) {
  ASSERT_TRUE(TurnUntilConnected());
  node1->Send(0, "queued");
  node1->network->TakeOutOfService();
  EXPECT_EQ(node1->network->connections(), 0u);
  ASSERT_TRUE(TurnUntilLost(8));
  EXPECT_EQ(node0->links.back(), "1 is lost");
  EXPECT_EQ(node0->arrivals, std::vector<Arrival>{});
  EXPECT_LE(node0->log.size(), 2u) << "failed attempts are no news";
  node1->network->ReturnToService();
  node1->Send(0, "back");
  ASSERT_TRUE(TurnUntil([&] { return !node0->arrivals.empty(); }));
  EXPECT_EQ(node0->arrivals, (std::vector<Arrival>{{1, "back"}}));
  EXPECT_TRUE(TurnUntil([&] { return node0->links.back() == "1 is up"; }));
}

TEST_F(TwoNodes, AFrameCutByALostConnectionDoesNotSpoilTheNextOne) {
  ASSERT_TRUE(TurnUntilConnected());
  const std::string large(900'000, 'L');
  for (int i = 0; i < 100 && node0->network->HeldBytes(1) % large.size() == 0; ++i) {
    node0->Send(1, large);
    node0->Turn();
  }
  ASSERT_GT(node0->network->HeldBytes(1) % large.size(), 0u) << "no frame is partly written";
  node1.reset();
  ASSERT_TRUE(TurnUntilLost(1));
  RestartNode1();
  ASSERT_TRUE(TurnUntilConnected(2));
  node0->Send(1, "intact");
  ASSERT_TRUE(TurnUntil([&] { return !node1->arrivals.empty(); }));
  EXPECT_EQ(node1->arrivals, (std::vector<Arrival>{{0, "intact"}}));
  EXPECT_EQ(node1->counters.malformed.value(), 0u);
}

TEST_F(TwoNodes, BackoffGrowsToItsBound) {
  node1.reset();
  Duration longest{0};
  for (int i = 0; i < 8; ++i) {
    const auto lost = node0->counters.lost.value();
    ASSERT_TRUE(TurnUntil([&] { return node0->counters.lost.value() > lost; }));
    longest = std::max(longest, node0->network->NextDeadline() -
                                    std::chrono::steady_clock::now().time_since_epoch());
  }
  EXPECT_GT(longest, 10ms);
  EXPECT_LE(longest, 20ms);
}

TEST_F(TwoNodes, AWrongListOfReplicasIsNoticed) {
  // Replica 0 has a wrong address for replica 1: a replica with id 0 answers there.
  auto [listener, endpoint] = ListenAnywhere();
  Node stranger(0, {replicas[0], replicas[1], endpoint}, std::move(listener));
  Node confused(2, {replicas[0], endpoint, replicas[1]}, Listen({"127.0.0.1", 0}));
  ASSERT_TRUE(Eventually([&] {
    stranger.Turn();
    confused.Turn();
    return stranger.counters.malformed.value() > 0;
  }));
  EXPECT_NE(stranger.log.at(0).find("do the lists of replicas differ?"), std::string::npos);
}

}  // namespace
}  // namespace depfast::real
