// RPC between replicas: calls, replies, timeouts, releases and dependencies.
#include "depfast/rpc.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/scheduler.h"
#include "depfast/broadcast.h"
#include "depfast/host/codec.h"
#include "depfast/value_event.h"
#include "rpc_fixture.h"

namespace depfast {
namespace {

using testing::Log;

// A method that the server never registers.
struct UnservedRequest {
  using Reply = TextReply;
  static constexpr MethodId kMethod = 99;
  static constexpr const char* kName = "Unserved";
  DEPFAST_FIELDS()
};

TEST_F(RpcTest, ACallIsAnsweredWithATypedReply) {
  ServeEcho(1);
  std::string text;
  Go([&] {
    const auto call = client().rpc().Call(1, Echo{"hello"});
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
  const auto a = Call(1, Echo{"a"});
  const auto b = Call(1, Echo{"b"});
  Carry(0, 1);
  std::swap(node(1).sent[0], node(1).sent[1]);  // answered in the other order
  Carry(1, 0);
  EXPECT_EQ(a->reply().text, "a from 0");
  EXPECT_EQ(b->reply().text, "b from 0");
}

TEST_F(RpcTest, AHandlerMayWait) {
  node(1).rpc().Handle<Echo>([&](PeerId, const Echo& request) {
    node(1).runtime().Sleep(5ms);
    return TextReply{request.text};
  });
  const auto call = Call(1, Echo{"slow"});
  RoundTrip(1);
  EXPECT_FALSE(call->IsDecided());
  now_ = 5ms;
  RoundTrip(1);
  EXPECT_EQ(call->reply().text, "slow");
}

TEST_F(RpcTest, EachListenerHearsOfALostPeerOnce) {
  for (const char* name : {"first", "second"}) {
    client().rpc().WhenLost(
        [this, name](PeerId lost) { log_.push_back(name + std::to_string(lost)); });
  }
  client().runtime().DeliverLink(1, /*is_up=*/false);
  client().runtime().DeliverLink(1, /*is_up=*/false);
  EXPECT_EQ(log_, (Log{"first1", "second1"}));
  client().runtime().DeliverLink(1, /*is_up=*/true);
  client().runtime().DeliverLink(1, /*is_up=*/false);
  EXPECT_EQ(log_.size(), 4U);
}

// A request that counts its copies.
struct Parcel {
  using Reply = TextReply;
  static constexpr MethodId kMethod = 60;
  static constexpr const char* kName = "Parcel";
  inline static int copies = 0;

  Parcel() = default;
  explicit Parcel(std::string words) : text(std::move(words)) {}
  Parcel(const Parcel& other) : text(other.text) { ++copies; }
  Parcel(Parcel&&) = default;
  Parcel& operator=(const Parcel&) = delete;
  Parcel& operator=(Parcel&&) = default;
  ~Parcel() = default;

  std::string text;
  DEPFAST_FIELDS(text)
};

TEST_F(RpcTest, AHandlerGetsItsRequestAndNoCopyOfIt) {
  std::string kept;
  node(1).rpc().Handle<Parcel>([&](PeerId, Parcel parcel) {
    kept = std::move(parcel.text);
    return TextReply{"kept"};
  });
  Parcel::copies = 0;
  const auto call = Call(1, Parcel("a word"));
  RoundTrip(1);
  EXPECT_EQ(call->reply().text, "kept");
  EXPECT_EQ(kept, "a word");
  EXPECT_EQ(Parcel::copies, 0);
}

TEST_F(RpcTest, ACallTimesOutAndItsLateReplyIsStray) {
  ServeEcho(1);
  const auto call = Call(1, Echo{"late"}, 10ms);
  EXPECT_EQ(client().wakes, std::vector<Time>{10ms});
  now_ = 10ms - 1ns;
  Step(0);
  EXPECT_FALSE(call->IsDecided());
  EXPECT_TRUE(client().released.empty());
  now_ = 10ms;
  Step(0);
  EXPECT_TRUE(call->IsFailed());
  EXPECT_EQ(call->error(), RpcError::kTimedOut);
  EXPECT_EQ(client().rpc().outstanding(), 0U);
  ASSERT_EQ(client().released.size(), 1U) << "the frame stays queued for a peer that is slow";
  EXPECT_EQ(client().released[0].to, 1);
  RoundTrip(1);
  EXPECT_EQ(client().rpc().counters().stray_replies, 1U);
  EXPECT_FALSE(call->IsReady()) << "a call is decided once";
  EXPECT_EQ(call->error(), RpcError::kTimedOut);
}

TEST_F(RpcTest, AReplyAtTheInstantOfTheTimeoutCounts) {
  ServeEcho(1);
  const auto call = Call(1, Echo{"just in time"}, 10ms);
  now_ = 10ms;
  RoundTrip(1);
  EXPECT_TRUE(call->IsReady());
}

TEST_F(RpcTest, AnAnsweredCallLeavesNoTimerBehind) {
  ServeEcho(1);
  for (int i = 0; i < 3; ++i) {
    Call(1, Echo{"x"}, 10ms);
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
  std::shared_ptr<RpcEvent<TextReply>> call;
  Go([&] {
    call = client().rpc().Call(1, Echo{"x"});
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

TEST_F(RpcTest, AHandlerThatThrowsRejects) {
  node(1).rpc().HandleInline<Parcel>(
      [](const Parcel&, const Responder<TextReply>&) { throw std::out_of_range("no such thing"); });
  node(1).rpc().Handle<Echo>([&](PeerId, const Echo&) -> TextReply {
    node(1).runtime().Sleep(1ms);
    throw std::out_of_range("no such thing");
  });
  const auto at_once = Call(1, Parcel("x"));
  const auto later = Call(1, Echo{"x"});
  Carry(0, 1);
  now_ = 1ms;
  RoundTrip(1);
  EXPECT_EQ(node(1).death, "") << "a handler's error is the caller's business";
  EXPECT_EQ(at_once->error(), RpcError::kRejected);
  EXPECT_EQ(later->error(), RpcError::kRejected);
  EXPECT_TRUE(later->IsFailed());
}

TEST_F(RpcTest, TheEndOfAReplicaIsNotARejection) {
  node(1).rpc().Handle<Echo>([&](PeerId, const Echo&) {
    const testing::Guard on_exit{log_, "unwound"};
    node(1).runtime().Sleep(1h);
    return TextReply{};
  });
  Call(1, Echo{"x"});
  Carry(0, 1);
  node(1).runtime().Shutdown();  // with a live host, so that a frame would be seen
  EXPECT_EQ(log_, Log{"unwound"});
  Step(1);
  EXPECT_TRUE(node(1).sent.empty()) << "a stopped replica answered";
}

TEST_F(RpcTest, ANonStandardExceptionStillEscapes) {
  node(1).rpc().Handle<Echo>([](PeerId, const Echo&) -> TextReply { throw 1; });
  Call(1, Echo{"x"});
  Carry(0, 1);
  EXPECT_NE(node(1).death, "");
}

TEST_F(RpcTest, ReleaseDropsTheFrameAndIgnoresTheReply) {
  ServeEcho(1);
  std::shared_ptr<RpcEvent<TextReply>> call;
  Go([&] {
    call = client().rpc().Call(1, Echo{"x"}, 10ms);
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
  const auto call = Call(1, Echo{"x"});
  RoundTrip(1);
  client().runtime().Enter([&] { client().rpc().Release(*call); });
  Step(0);
  EXPECT_TRUE(call->IsReady());
  EXPECT_EQ(call->error(), RpcError::kNone);
  EXPECT_TRUE(client().released.empty());
}

TEST_F(RpcTest, CallAllEncodesOnceAndSharesTheBytes) {
  std::vector<std::shared_ptr<RpcEvent<TextReply>>> calls;
  Go([&] { calls = client().rpc().CallAll({2, 1}, Echo{"to all"}); });
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
  std::vector<std::shared_ptr<RpcEvent<TextReply>>> calls;
  Go([&] { calls = client().rpc().CallAll({1, 2}, Echo{"x"}); });
  Carry(0, 1);
  node(1).sent.push_back(node(1).sent[0]);  // the network duplicates it
  Carry(1, 0);
  EXPECT_TRUE(calls[0]->IsReady());
  EXPECT_FALSE(calls[1]->IsDecided()) << "a duplicate stood in for another peer's answer";
  EXPECT_EQ(client().rpc().counters().stray_replies, 1U);
}

TEST_F(RpcTest, RepliesFromTheWrongPeerAreIgnored) {
  ServeEcho(1);
  const auto call = Call(1, Echo{"x"});
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
  std::unique_ptr<Broadcast<Echo>> broadcast;
  Go([&] {
    broadcast =
        std::make_unique<Broadcast<Echo>>(client().rpc(), client().runtime().peers(), Echo{"x"});
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
  QueueEcho(1);
  std::shared_ptr<RpcEvent<TextReply>> call;
  Go([&] {
    client().runtime().set_dependency(Dependency::Client(7));
    call = client().rpc().Call(1, Echo{"x"});
  });
  RoundTrip(1);
  ASSERT_EQ(queue_.size(), 1U);
  EXPECT_EQ(queue_[0].peer(), 0);
  EXPECT_EQ(queue_[0].dependency(), Dependency::Client(7));
  EXPECT_FALSE(call->IsDecided());
  node(1).runtime().Enter([&] {
    queue_[0].Send(TextReply{"first"});
    queue_[0].Send(TextReply{"second"});
  });
  Step(1);
  Carry(1, 0);
  EXPECT_EQ(call->reply().text, "first");
}

// A solution must not take a method of given code over.
TEST_F(RpcTest, AMethodKeepsItsHandler) {
  ServeEcho(1);
  const auto is_called = [](auto&&...) -> TextReply { throw std::runtime_error("the new one"); };
  EXPECT_THROW(node(1).rpc().Handle<Echo>(is_called), std::logic_error);
  EXPECT_THROW(node(1).rpc().HandleInline<Echo>(is_called), std::logic_error);
  const auto call = Call(1, Echo{"x"});
  RoundTrip(1);
  EXPECT_EQ(call->reply().text, "x from 0");
}

// --- clients in the replica's process ---

TEST_F(RpcTest, ALocalClientIsServedAtOnceAndWithoutFrames) {
  node(1).rpc().HandleInline<Echo>([](Echo&& request, const Responder<TextReply>& responder) {
    EXPECT_EQ(responder.dependency(), Dependency::Client(7));
    responder.Send({request.text + " of " + std::to_string(responder.peer())});
  });
  ServeLocally(7, Echo{"x"});
  EXPECT_EQ(local_->heard, std::vector<std::string>{"7: x of " + std::to_string(kFirstClient)});
  Step(1);
  EXPECT_TRUE(node(1).sent.empty());
}

TEST_F(RpcTest, ALocalClientMayBeGoneBeforeItsReply) {
  QueueEcho(1);
  ServeLocally(7, Echo{"x"});
  ASSERT_EQ(queue_.size(), 1U);
  local_.reset();
  node(1).runtime().Enter([&] { queue_[0].Send({"too late"}); });
  Step(1);
  EXPECT_TRUE(node(1).sent.empty());
}

TEST_F(RpcTest, ALocalClientHearsOfErrors) {
  node(1).rpc().HandleInline<Echo>(
      [](const Echo&, const Responder<TextReply>&) { throw std::out_of_range("no such thing"); });
  ServeLocally(7, Echo{"x"});
  ServeLocally(8, UnservedRequest{});
  EXPECT_EQ(local_->heard,
            (std::vector<std::string>{std::string("7: ") + ToString(RpcError::kRejected),
                                      std::string("8: ") + ToString(RpcError::kUnknownMethod)}));
  EXPECT_EQ(node(1).rpc().counters().unknown_methods, 1U);
}

// A handler in coroutines answers with frames only.
TEST_F(RpcTest, AMethodWithCoroutinesServesNoLocalClient) {
  ServeEcho(1);
  ServeLocally(7, Echo{"x"});
  EXPECT_EQ(local_->heard,
            std::vector<std::string>{std::string("7: ") + ToString(RpcError::kUnknownMethod)});
}

// --- dependencies ---

TEST_F(RpcTest, DependenciesTravelWithCallsIntoHandlersAndOn) {
  const Dependency kOfClient = Dependency::Client(1234567890123);
  Dependency in_handler{};
  node(1).rpc().Handle<Echo>([&](PeerId, const Echo& request) {
    in_handler = node(1).runtime().dependency();
    node(1).runtime().Sleep(1ms);
    node(1).rpc().Call(2, Echo{"on behalf of"});
    return TextReply{request.text};
  });
  Go([&] {
    client().runtime().set_dependency(kOfClient);
    client().rpc().Call(1, Echo{"x"});
  });
  EXPECT_EQ(DependencyOf(client().sent.at(0).bytes), kOfClient);
  Carry(0, 1);
  now_ = 1ms;
  Step(1);
  EXPECT_EQ(in_handler, kOfClient);
  ASSERT_EQ(node(1).sent.size(), 2U) << "a call, and the reply";
  for (const auto& sent : node(1).sent) EXPECT_EQ(DependencyOf(sent.bytes), kOfClient);
}

TEST_F(RpcTest, RequestsWithoutADependencyAreBackground) {
  ServeEcho(1);
  Call(1, Echo{"background"});
  Go([&] {
    client().runtime().set_dependency(Dependency::Heartbeat());
    client().rpc().Call(1, Echo{"heartbeat"});
    client().runtime().set_dependency(Dependency::Client(1));
    client().rpc().Call(1, Echo{"client"});
  });
  Carry(0, 1);
  EXPECT_EQ(node(1).sent.size(), 3U);
  EXPECT_EQ(node(1).rpc().counters().background_requests, 1U);
}

TEST_F(RpcTest, CallsHaveALabelAndTheirPeersVote) {
  ServeEcho(1);
  const auto answered = Call(1, Echo{"x"});
  const auto released = Call(2, Echo{"x"});
  EXPECT_STREQ(released->Label(), "Echo");
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
