// RPC between two replicas in steps: the test is the network, and sees every frame.
#include "depfast/rpc.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/scheduler.h"
#include "depfast/broadcast.h"
#include "depfast/value_event.h"
#include "sim/step_host.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Log;

struct EchoReply {
  std::string text;
  MSGPACK_DEFINE(text)
};
struct EchoRequest {
  using Reply = EchoReply;
  static constexpr MethodId kMethod = 1;
  static constexpr const char* kName = "Echo";
  std::string text;
  MSGPACK_DEFINE(text)
};

// A method that the server never registers.
struct UnservedRequest {
  using Reply = EchoReply;
  static constexpr MethodId kMethod = 99;
  static constexpr const char* kName = "Unserved";
  MSGPACK_DEFINE()
};

// Same method as Echo, but a body that Echo's handler cannot decode, and the reverse.
struct MisfitReply {
  int number = 0;
  MSGPACK_DEFINE(number)
};
struct MisfitRequest {
  using Reply = MisfitReply;
  static constexpr MethodId kMethod = 1;
  static constexpr const char* kName = "Misfit";
  int number = 0;
  MSGPACK_DEFINE(number)
};
struct MisreadRequest {  // a good request, whose reply is read as something else
  using Reply = MisfitReply;
  static constexpr MethodId kMethod = 1;
  static constexpr const char* kName = "Misread";
  std::string text;
  MSGPACK_DEFINE(text)
};

class NoService : public Service {
 public:
  void Start() override {}
};

// One replica with its outputs, sorted.
struct Node {
  explicit Node(PeerId self, int replicas)
      : host({self, replicas, /*random_seed=*/1, /*probes=*/{}},
             [](Runtime&) { return std::make_unique<NoService>(); }) {}

  HostedRuntime& runtime() { return host.runtime(); }
  Rpc& rpc() { return host.runtime().rpc(); }

  sim::StepHost host;
  std::vector<sim::SendFrame> sent;  // not delivered yet
  std::vector<sim::ReleaseFrame> released;
  std::vector<Time> wakes;
  std::string death;
};

// Replicas 0, 1 and 2; the tests' client code runs on 0, the Echo handler on 1 and 2.
class RpcTest : public ::testing::Test {
 protected:
  RpcTest() {
    for (PeerId id = 0; id < 3; ++id) nodes_.push_back(std::make_unique<Node>(id, 3));
  }

  Node& node(PeerId id) { return *nodes_.at(static_cast<std::size_t>(id)); }
  Node& client() { return node(0); }

  void Step(PeerId id, std::vector<sim::FrameArrival> frames = {}) {
    sim::StepInput input;
    input.now = now_;
    input.frames = std::move(frames);
    input.held_bytes.assign(3, 0);
    sim::StepOutput output = node(id).host.Step(input);
    for (sim::Output& out : output.outputs) {
      if (auto* frame = std::get_if<sim::SendFrame>(&out)) node(id).sent.push_back(*frame);
      if (auto* drop = std::get_if<sim::ReleaseFrame>(&out)) node(id).released.push_back(*drop);
      if (auto* wake = std::get_if<sim::SetWake>(&out)) node(id).wakes.push_back(wake->when);
    }
    node(id).death = output.death;
  }

  // Delivers what `from` has sent to `to`, in one step.
  void Carry(PeerId from, PeerId to) {
    std::vector<sim::FrameArrival> frames;
    std::vector<sim::SendFrame> others;
    for (sim::SendFrame& frame : node(from).sent) {
      if (frame.to == to) {
        frames.push_back({from, frame.bytes});
      } else {
        others.push_back(frame);
      }
    }
    node(from).sent = std::move(others);
    Step(to, std::move(frames));
  }

  void RoundTrip(PeerId server) {
    Carry(0, server);
    Carry(server, 0);
  }

  // Runs a coroutine on the client.
  void Go(std::function<void()> body) {
    client().runtime().Spawn("test", std::move(body));
    Step(0);
  }

  void ServeEcho(PeerId id) {
    node(id).rpc().Handle<EchoRequest>([](PeerId from, const EchoRequest& request) {
      return EchoReply{request.text + " from " + std::to_string(from)};
    });
  }

  template <typename Request>
  auto Call(PeerId peer, const Request& request, Duration timeout = kForever) {
    std::shared_ptr<RpcEvent<typename Request::Reply>> call;
    Go([&] { call = client().rpc().Call(peer, request, timeout); });
    return call;
  }

  Dependency DependencyOf(const Bytes& bytes) {
    std::string error;
    const auto frame = DecodeFrame(*bytes, error);
    EXPECT_TRUE(frame) << error;
    return frame ? frame->header.dependency : Dependency{};
  }

  Time now_{0};
  Log log_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

TEST_F(RpcTest, ACallIsAnsweredWithATypedReply) {
  ServeEcho(1);
  std::string text;
  Go([&] {
    const auto call = client().rpc().Call(1, EchoRequest{"hello"});
    EXPECT_EQ(call->Wait(), Outcome::kReady);
    text = call->reply().text;
  });
  EXPECT_EQ(client().rpc().outstanding(), 1U);
  RoundTrip(1);
  EXPECT_EQ(text, "hello from 0");
  EXPECT_EQ(client().rpc().outstanding(), 0U);
}

TEST_F(RpcTest, EachReplyFindsItsOwnCall) {
  ServeEcho(1);
  const auto a = Call(1, EchoRequest{"a"});
  const auto b = Call(1, EchoRequest{"b"});
  Carry(0, 1);
  std::swap(node(1).sent[0], node(1).sent[1]);  // answered in the other order
  Carry(1, 0);
  EXPECT_EQ(a->reply().text, "a from 0");
  EXPECT_EQ(b->reply().text, "b from 0");
}

TEST_F(RpcTest, AHandlerMayWait) {
  node(1).rpc().Handle<EchoRequest>([&](PeerId, const EchoRequest& request) {
    node(1).runtime().Sleep(5ms);
    return EchoReply{request.text};
  });
  const auto call = Call(1, EchoRequest{"slow"});
  RoundTrip(1);
  EXPECT_FALSE(call->IsDecided());
  now_ = 5ms;
  RoundTrip(1);
  EXPECT_EQ(call->reply().text, "slow");
}

TEST_F(RpcTest, ACallTimesOutAndItsLateReplyIsStray) {
  ServeEcho(1);
  const auto call = Call(1, EchoRequest{"late"}, 10ms);
  EXPECT_EQ(client().wakes, std::vector<Time>{10ms});
  now_ = 10ms - 1ns;
  Step(0);
  EXPECT_FALSE(call->IsDecided());
  now_ = 10ms;
  Step(0);
  EXPECT_TRUE(call->IsFailed());
  EXPECT_EQ(call->error(), RpcError::kTimedOut);
  EXPECT_EQ(client().rpc().outstanding(), 0U);
  RoundTrip(1);
  EXPECT_EQ(client().rpc().counters().stray_replies, 1U);
  EXPECT_FALSE(call->IsReady()) << "a call is decided once";
  EXPECT_EQ(call->error(), RpcError::kTimedOut);
}

TEST_F(RpcTest, ACallThatTimesOutTakesItsFrameBack) {
  Call(1, EchoRequest{"too late"}, 10ms);
  EXPECT_TRUE(client().released.empty());
  now_ = 10ms;
  Step(0);
  ASSERT_EQ(client().released.size(), 1U) << "the frame stays queued for a peer that is slow";
  EXPECT_EQ(client().released[0].to, 1);
}

TEST_F(RpcTest, AReplyAtTheInstantOfTheTimeoutCounts) {
  ServeEcho(1);
  const auto call = Call(1, EchoRequest{"just in time"}, 10ms);
  now_ = 10ms;
  RoundTrip(1);
  EXPECT_TRUE(call->IsReady());
}

TEST_F(RpcTest, AnAnsweredCallLeavesNoTimerBehind) {
  ServeEcho(1);
  for (int i = 0; i < 3; ++i) {
    Call(1, EchoRequest{"x"}, 10ms);
    RoundTrip(1);
  }
  client().wakes.clear();
  Go([&] { client().runtime().Sleep(1s); });
  now_ = 10ms;
  Step(0);  // the wake-up that was asked for when the first call began
  EXPECT_EQ(client().wakes, std::vector<Time>{1s}) << "woken for calls answered long ago";
}

TEST_F(RpcTest, AWaitThatTimesOutLeavesTheCallItself) {
  ServeEcho(1);
  std::shared_ptr<RpcEvent<EchoReply>> call;
  Go([&] {
    call = client().rpc().Call(1, EchoRequest{"x"});
    log_.push_back(ToString(call->Wait(1ms)));
  });
  now_ = 1ms;
  Step(0);
  EXPECT_EQ(log_, Log{"timed out"});
  EXPECT_FALSE(call->IsDecided());
  RoundTrip(1);
  EXPECT_TRUE(call->IsReady());
}

TEST_F(RpcTest, AnUnknownMethodFailsTheCall) {
  const auto call = Call(1, UnservedRequest{});
  RoundTrip(1);
  EXPECT_EQ(call->error(), RpcError::kUnknownMethod);
  EXPECT_EQ(node(1).rpc().counters().unknown_methods, 1U);
}

TEST_F(RpcTest, AnInlineHandlerThatThrowsRejects) {
  node(1).rpc().HandleInline<EchoRequest>([](const EchoRequest&, const Responder<EchoReply>&) {
    throw std::out_of_range("no such thing");
  });
  const auto call = Call(1, EchoRequest{"x"});
  RoundTrip(1);
  EXPECT_EQ(node(1).death, "") << "a handler's error is the caller's business";
  EXPECT_EQ(call->error(), RpcError::kRejected);
}

TEST_F(RpcTest, AHandlerThatThrowsRejects) {
  node(1).rpc().Handle<EchoRequest>([&](PeerId, const EchoRequest&) -> EchoReply {
    node(1).runtime().Sleep(1ms);
    throw std::out_of_range("no such thing");
  });
  const auto call = Call(1, EchoRequest{"x"});
  Carry(0, 1);
  now_ = 1ms;
  RoundTrip(1);
  EXPECT_EQ(node(1).death, "") << "a handler's error is the caller's business";
  EXPECT_EQ(call->error(), RpcError::kRejected);
  EXPECT_TRUE(call->IsFailed());
}

TEST_F(RpcTest, TheEndOfAReplicaIsNotARejection) {
  int unwound = 0;
  struct Count {
    int& count;
    ~Count() { ++count; }
  };
  node(1).rpc().Handle<EchoRequest>([&](PeerId, const EchoRequest&) {
    const Count on_exit{unwound};
    node(1).runtime().Sleep(1h);
    return EchoReply{};
  });
  Call(1, EchoRequest{"x"});
  Carry(0, 1);
  node(1).runtime().Shutdown();  // with a live host, so that a frame would be seen
  EXPECT_EQ(unwound, 1);
  Step(1);
  EXPECT_TRUE(node(1).sent.empty()) << "a stopped replica answered";
}

TEST_F(RpcTest, WhatIsNotAStandardExceptionStillEscapes) {
  node(1).rpc().Handle<EchoRequest>([](PeerId, const EchoRequest&) -> EchoReply { throw 1; });
  Call(1, EchoRequest{"x"});
  Carry(0, 1);
  EXPECT_NE(node(1).death, "");
}

TEST_F(RpcTest, ReleaseDropsTheFrameAndIgnoresTheReply) {
  ServeEcho(1);
  std::shared_ptr<RpcEvent<EchoReply>> call;
  Go([&] {
    call = client().rpc().Call(1, EchoRequest{"x"}, 10ms);
    client().rpc().Release(*call);
    log_.push_back(ToString(call->Wait()));
  });
  EXPECT_EQ(log_, Log{"failed"});
  EXPECT_EQ(call->error(), RpcError::kReleased);
  ASSERT_EQ(client().released.size(), 1U);
  EXPECT_EQ(client().released[0].id, client().sent[0].id);
  EXPECT_EQ(client().released[0].to, 1);
  EXPECT_EQ(client().rpc().outstanding(), 0U);
  RoundTrip(1);  // this frame was on the wire already
  EXPECT_EQ(client().rpc().counters().stray_replies, 1U);
  EXPECT_EQ(call->error(), RpcError::kReleased);
  now_ = 10ms;
  Step(0);
  EXPECT_EQ(call->error(), RpcError::kReleased) << "the timeout came after the release";
}

TEST_F(RpcTest, ReleaseOfADecidedCallDoesNothing) {
  ServeEcho(1);
  const auto call = Call(1, EchoRequest{"x"});
  RoundTrip(1);
  client().runtime().Enter([&] { client().rpc().Release(*call); });
  Step(0);
  EXPECT_TRUE(call->IsReady());
  EXPECT_EQ(call->error(), RpcError::kNone);
  EXPECT_TRUE(client().released.empty());
}

TEST_F(RpcTest, CallAllEncodesOnceAndSharesTheBytes) {
  std::vector<std::shared_ptr<RpcEvent<EchoReply>>> calls;
  Go([&] { calls = client().rpc().CallAll({2, 1}, EchoRequest{"to all"}); });
  ASSERT_EQ(client().sent.size(), 2U);
  EXPECT_EQ(client().sent[0].to, 2);
  EXPECT_EQ(client().sent[1].to, 1);
  EXPECT_EQ(client().sent[0].bytes.get(), client().sent[1].bytes.get());
  EXPECT_NE(client().sent[0].id, client().sent[1].id);
  EXPECT_EQ(calls[0]->peer(), 2);
  EXPECT_EQ(calls[1]->peer(), 1);
  ServeEcho(1);
  RoundTrip(1);
  EXPECT_FALSE(calls[0]->IsDecided());
  EXPECT_TRUE(calls[1]->IsReady());
}

TEST_F(RpcTest, ARepeatedReplyCountsOnce) {
  ServeEcho(1);
  std::vector<std::shared_ptr<RpcEvent<EchoReply>>> calls;
  Go([&] { calls = client().rpc().CallAll({1, 2}, EchoRequest{"x"}); });
  Carry(0, 1);
  node(1).sent.push_back(node(1).sent[0]);  // the network duplicates it
  Carry(1, 0);
  EXPECT_TRUE(calls[0]->IsReady());
  EXPECT_FALSE(calls[1]->IsDecided()) << "a duplicate stood in for another peer's answer";
  EXPECT_EQ(client().rpc().counters().stray_replies, 1U);
}

TEST_F(RpcTest, RepliesFromTheWrongPeerAreIgnored) {
  ServeEcho(1);
  const auto call = Call(1, EchoRequest{"x"});
  Carry(0, 1);
  const auto reply = node(1).sent.at(0).bytes;
  Step(0, {{2, reply}});
  EXPECT_FALSE(call->IsDecided());
  EXPECT_EQ(client().rpc().counters().stray_replies, 1U);
  Step(0, {{1, reply}});
  EXPECT_TRUE(call->IsReady());
}

TEST_F(RpcTest, BroadcastKnowsAndReleasesItsStragglers) {
  ServeEcho(1);
  std::unique_ptr<Broadcast<EchoRequest>> broadcast;
  Go([&] {
    broadcast = std::make_unique<Broadcast<EchoRequest>>(client().rpc(), client().runtime().peers(),
                                                         EchoRequest{"x"});
  });
  EXPECT_EQ(broadcast->size(), 2U);
  EXPECT_EQ(broadcast->Stragglers(), (std::vector<PeerId>{1, 2}));
  RoundTrip(1);
  EXPECT_EQ(broadcast->Stragglers(), std::vector<PeerId>{2});
  const auto frame_to_2 = client().sent.at(0).id;
  for (int i = 0; i < 2; ++i) {
    client().runtime().Enter([&] { broadcast->Release(); });
    Step(0);
  }
  ASSERT_EQ(client().released.size(), 1U) << "only the straggler, and only once";
  EXPECT_EQ(client().released[0].id, frame_to_2);
  EXPECT_EQ(client().released[0].to, 2);
  EXPECT_TRUE(broadcast->Stragglers().empty());
  EXPECT_TRUE(broadcast->calls()[0]->IsReady());
  EXPECT_EQ(broadcast->calls()[1]->error(), RpcError::kReleased);
}

TEST_F(RpcTest, HandleInlineMayAnswerLater) {
  std::vector<Responder<EchoReply>> queue;
  node(1).rpc().HandleInline<EchoRequest>(
      [&](const EchoRequest&, Responder<EchoReply> responder) { queue.push_back(responder); });
  std::shared_ptr<RpcEvent<EchoReply>> call;
  Go([&] {
    client().runtime().set_dependency(Dependency::Client(7));
    call = client().rpc().Call(1, EchoRequest{"x"});
  });
  RoundTrip(1);
  ASSERT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue[0].peer(), 0);
  EXPECT_EQ(queue[0].dependency(), Dependency::Client(7));
  EXPECT_FALSE(call->IsDecided());
  node(1).runtime().Enter([&] {
    queue[0].Send(EchoReply{"first"});
    queue[0].Send(EchoReply{"second"});
  });
  Step(1);
  Carry(1, 0);
  EXPECT_EQ(call->reply().text, "first");
}

TEST_F(RpcTest, ALaterHandlerReplacesTheEarlierOne) {
  ServeEcho(1);
  node(1).rpc().Handle<EchoRequest>(
      [](PeerId, const EchoRequest&) { return EchoReply{"the new one"}; });
  const auto call = Call(1, EchoRequest{"x"});
  RoundTrip(1);
  EXPECT_EQ(call->reply().text, "the new one");
}

// --- dependencies ---

TEST_F(RpcTest, DependenciesTravelWithCallsIntoHandlersAndOn) {
  Dependency in_handler{};
  node(1).rpc().Handle<EchoRequest>([&](PeerId, const EchoRequest& request) {
    in_handler = node(1).runtime().dependency();
    node(1).runtime().Sleep(1ms);
    node(1).rpc().Call(2, EchoRequest{"on behalf of"});
    return EchoReply{request.text};
  });
  Go([&] {
    client().runtime().set_dependency(Dependency::Client(1234567890123));
    client().rpc().Call(1, EchoRequest{"x"});
  });
  EXPECT_EQ(DependencyOf(client().sent.at(0).bytes), Dependency::Client(1234567890123));
  Carry(0, 1);
  now_ = 1ms;
  Step(1);
  EXPECT_EQ(in_handler, Dependency::Client(1234567890123));
  ASSERT_EQ(node(1).sent.size(), 2U);
  EXPECT_EQ(DependencyOf(node(1).sent[0].bytes), Dependency::Client(1234567890123));
  EXPECT_EQ(DependencyOf(node(1).sent[1].bytes), Dependency::Client(1234567890123)) << "the reply";
}

TEST_F(RpcTest, RequestsWithoutADependencyAreBackground) {
  ServeEcho(1);
  Call(1, EchoRequest{"background"});
  Go([&] {
    client().runtime().set_dependency(Dependency::Heartbeat());
    client().rpc().Call(1, EchoRequest{"heartbeat"});
    client().runtime().set_dependency(Dependency::Client(1));
    client().rpc().Call(1, EchoRequest{"client"});
  });
  Carry(0, 1);
  EXPECT_EQ(node(1).sent.size(), 3U);
  EXPECT_EQ(node(1).rpc().counters().background_requests, 1U);
}

// --- malformed ---

TEST_F(RpcTest, AMisfittingRequestIsCountedAndRefused) {
  ServeEcho(1);
  const auto call = Call(1, MisfitRequest{5});
  RoundTrip(1);
  EXPECT_EQ(call->error(), RpcError::kMalformed);
  EXPECT_EQ(node(1).rpc().counters().malformed_frames, 1U);
  EXPECT_EQ(node(1).rpc().last_malformed().rfind("from 0: Echo: ", 0), 0U)
      << node(1).rpc().last_malformed();
  EXPECT_EQ(client().rpc().counters().malformed_frames, 0U);
}

TEST_F(RpcTest, AMisfittingReplyIsCountedAndFailsTheCall) {
  ServeEcho(1);
  const auto call = Call(1, MisreadRequest{"x"});
  RoundTrip(1);
  EXPECT_TRUE(call->IsFailed());
  EXPECT_FALSE(call->IsReady());
  EXPECT_EQ(call->error(), RpcError::kMalformed);
  EXPECT_EQ(client().rpc().counters().malformed_frames, 1U);
  EXPECT_NE(client().rpc().last_malformed().find("Misread reply"), std::string::npos);
}

TEST_F(RpcTest, GarbageIsCountedAndNotAnswered) {
  Step(1, {{0, MakeBytes("garbage")}, {0, MakeBytes("")}});
  EXPECT_EQ(node(1).rpc().counters().malformed_frames, 2U);
  EXPECT_TRUE(node(1).sent.empty());
  EXPECT_EQ(node(1).death, "");
}

TEST_F(RpcTest, ErrorFramesCarryOnlyKnownErrors) {
  // A peer can neither make us believe in a local error (a timeout), nor in one unheard of.
  for (const std::uint32_t code : {0U, 1U, 2U, 6U, 4'000'000'000U}) {
    const auto call = Call(1, EchoRequest{"x"});
    std::string error;
    FrameHeader header = DecodeFrame(*client().sent.back().bytes, error)->header;
    header.kind = FrameKind::kError;
    Step(0, {{1, MakeBytes(EncodeFrame(header, code))}});
    EXPECT_EQ(call->error(), RpcError::kMalformed) << code;
  }
  EXPECT_EQ(client().rpc().counters().malformed_frames, 5U);
}

TEST_F(RpcTest, CallsDescribeThemselves) {
  const auto call = Call(2, EchoRequest{"x"});
  EXPECT_EQ(call->Describe(), "RpcEvent Echo -> 2");
  EXPECT_STREQ(call->Label(), "Echo");
}

TEST_F(RpcTest, CallsNameTheirPeerAndItsVote) {
  ServeEcho(1);
  const auto answered = Call(1, EchoRequest{"x"});
  const auto released = Call(2, EchoRequest{"x"});
  EXPECT_EQ(DescribePeers(answered->DescribeWait()), "1 pending");
  RoundTrip(1);
  client().runtime().Enter([&] { client().rpc().Release(*released); });
  EXPECT_EQ(DescribePeers(answered->DescribeWait()), "1 yes");
  EXPECT_EQ(DescribePeers(released->DescribeWait()), "2 lost");
  EXPECT_EQ(answered->DescribeWait().needed, 1);
  EXPECT_EQ(answered->DescribeWait().total, 1);
}

}  // namespace
}  // namespace depfast
