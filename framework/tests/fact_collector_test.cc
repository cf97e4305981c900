// The probe of runtime verification: planted waits, calls and quorums, and what it says of them.
#include "depfast/verify/fact_collector.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "depfast/broadcast.h"
#include "depfast/compound_event.h"
#include "depfast/host/codec.h"
#include "depfast/rpc.h"
#include "support/echo.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Fields;
using testing::Replica;

// Carries the entries [first, end) of a log.
struct Append {
  using Reply = TextReply;
  static constexpr MethodId kMethod = 2;
  static constexpr const char* kName = "Append";
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  CarriedEntries Carried() const { return {1, first, end}; }
  DEPFAST_FIELDS(first, end)
};

// Ready with `needed` votes of its children and of the replica itself, which votes at once: the
// student's QuorumEvent is not there in these tests.
class SomeOf final : public CompoundEvent {
 public:
  explicit SomeOf(int needed) : needed_(needed) {}
  bool IsReady() const override { return CountReady() + 1 >= needed_; }
  const char* Label() const override { return "quorum"; }
  WaitDescription DescribeWait() const override {
    WaitDescription wait = CompoundEvent::DescribeWait();
    wait.needed = needed_;
    ++wait.total;
    return wait;
  }

 private:
  const int needed_;
};

class FactCollectorTest : public ::testing::Test {
 protected:
  FactCollectorTest() {
    replica_.runtime.Start([this] {
      replica_.runtime.rpc().HandleInline<Echo>(
          [this](const Echo&, const Responder<TextReply>& responder) { answer_ = responder; });
    });
  }

  // The windows of a report: facts that are lost on the way are not seen.
  std::vector<WindowFacts> Windows() const {
    return FactCollector::Read(facts_.Report(replica_.runtime)).value();
  }
  WindowFacts Latest() const { return Windows().back(); }

  // A client's request with this dependency arrives and waits for an answer.
  void Ask(PeerId from, std::uint64_t id) {
    const FrameHeader header{FrameKind::kRequest, Echo::kMethod, id, Dependency::Client(id)};
    replica_.runtime.DeliverFrame(from, EncodeFrame(header, Echo{}));
  }
  void Answer() {
    replica_.In([&] { answer_->Send({}); });
  }

  // The peer answers the latest call to it.
  void Reply(PeerId peer) {
    std::string error;
    for (auto sent = replica_.host.sent.rbegin(); sent != replica_.host.sent.rend(); ++sent) {
      if (sent->peer != peer) continue;
      FrameHeader header = DecodeFrame(*sent->bytes, error)->header;
      header.kind = FrameKind::kReply;
      replica_.runtime.DeliverFrame(peer, EncodeFrame(header, TextReply{}));
      break;
    }
    replica_.Run();
  }

  FactCollector facts_;
  Replica replica_{RuntimeOptions{.replicas = 3, .probes = {&facts_}}};
  std::optional<Responder<TextReply>> answer_;
};

TEST_F(FactCollectorTest, AWaitIsOnAPathWhileItsRequestHasNoAnswer) {
  Ask(kFirstClient, 7);
  replica_.Spawn("works", [&] {
    replica_.runtime.set_dependency(Dependency::Client(7));
    for (int i = 0; i < 3; ++i) replica_.runtime.Sleep(4ms);
  });
  replica_.Spawn("repairs", [&] { replica_.runtime.Sleep(2ms); });
  replica_.Run();
  replica_.Advance(6ms);
  Answer();
  replica_.Advance(20ms);
  // On the path are two waits of 4 ms, and of the second only the part before the answer.
  EXPECT_EQ(
      Fields(Latest().waits),
      R"([["repairs","timeout",1,1,[],false,[1,2000000,2000000],[0,0,0],[0,0,0],false],)"
      R"(["works","timeout",1,1,[],true,[3,12000000,4000000],[2,6000000,4000000],[0,0,0],false]])");
}

TEST_F(FactCollectorTest, ClientsWaitFromArrivalToAnswer) {
  Ask(kFirstClient + 1, 7);
  replica_.Advance(3ms);
  Answer();
  Ask(kFirstClient + 1, 8);
  replica_.Advance(5ms);
  Answer();
  Ask(2, 9);  // of a replica
  Answer();
  EXPECT_EQ(Fields(Latest().clients), "[[1001,[2,8000000,5000000]]]");
}

// A window with more records than the probe writes down before it counts them.
class BusyWindowTest : public FactCollectorTest, public ::testing::WithParamInterface<bool> {};

TEST_P(BusyWindowTest, NothingIsLostAndNothingIsCountedTwice) {
  const bool has_idle_time = GetParam();
  for (std::uint64_t id = 1; id <= 1000; ++id) {
    Ask(kFirstClient, id);
    replica_.Go([&] {
      replica_.runtime.set_dependency(Dependency::Client(id));
      replica_.runtime.Sleep(1ms);
      Answer();
    });
    if (has_idle_time) replica_.runtime.Idle();
    replica_.Advance(1ms);
    if (has_idle_time) replica_.runtime.Idle();
  }
  const WindowFacts facts = Latest();
  EXPECT_EQ(Fields(facts.clients), "[[1000,[1000,1000000000,1000000]]]");
  ASSERT_EQ(facts.waits.size(), 1U);
  EXPECT_EQ(facts.waits[0].ended.count, 1000U);
  EXPECT_EQ(facts.waits[0].on_path.count, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Hosts, BusyWindowTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "WithIdleTime" : "Busy"; });

TEST_F(FactCollectorTest, AWaitThatHasNotEndedHasAnAge) {
  Ask(kFirstClient, 7);
  replica_.Go([&] {
    replica_.runtime.set_dependency(Dependency::Client(7));
    replica_.runtime.rpc().Call(2, Echo{})->Wait();
  });
  replica_.Advance(6s);
  const auto windows = Windows();
  ASSERT_EQ(windows.size(), 2U);
  for (const auto& [window, age] :
       {std::pair(windows[0], "5000000000"), {windows[1], "6000000000"}}) {
    ASSERT_EQ(window.waits.size(), 1U);
    EXPECT_EQ(window.waits[0].event, "Echo");
    EXPECT_EQ(window.waits[0].peers, std::vector<PeerId>{2});
    EXPECT_EQ(window.waits[0].ended.count, 0U);
    EXPECT_EQ(Fields(window.waits[0].open), std::string("[1,") + age + "," + age + "]");
    EXPECT_TRUE(window.waits[0].open_on_path);
  }
}

TEST_F(FactCollectorTest, CallsAreCountedByTheirDependency) {
  replica_.Go([&] {
    replica_.runtime.rpc().Call(1, Echo{});
    replica_.runtime.set_dependency(Dependency::Heartbeat());
    replica_.runtime.rpc().Call(1, Echo{});
    replica_.runtime.rpc().Call(1, Echo{}, 1ms);
    replica_.runtime.set_dependency(Dependency::Client(3));
    const auto call = replica_.runtime.rpc().Call(1, Echo{});
    replica_.runtime.rpc().Release(*call);
    replica_.runtime.rpc().Call(1, Echo{});
    replica_.runtime.rpc().Call(1, Echo{});
  });
  replica_.Advance(2ms);
  Reply(1);
  auto calls = Latest().calls;
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].latency.count(), 1U);
  EXPECT_GE(calls[0].latency.Percentile(500), 2ms);
  calls[0].latency = {};
  const CallFacts expected{.method = "Echo",
                           .peer = 1,
                           .for_clients = 3,
                           .for_heartbeats = 2,
                           .background = 1,
                           .answered = 1,
                           .failed = 1,
                           .released = 1};
  EXPECT_EQ(Fields(calls[0]), Fields(expected));
}

TEST_F(FactCollectorTest, AnAnswerMarksThePresenceOfAPeer) {
  for (int i = 0; i < 3; ++i) {  // at 0.1 s, 0.2 s, 0.7 s
    replica_.Advance(i == 2 ? 500ms : 100ms);
    replica_.Go([&] { replica_.runtime.rpc().Call(1, Echo{}); });
    Reply(1);
  }
  const WindowFacts facts = Latest();
  ASSERT_EQ(facts.presence.size(), 1U);
  EXPECT_EQ(facts.presence[0].peer, 1);
  EXPECT_EQ(facts.presence[0].slots_answered, 2U) << "of ten in a window of 5 s";
  EXPECT_EQ(facts.presence[0].latency.count(), 3U);
}

// A heartbeat's answer waits for no disk.
TEST_F(FactCollectorTest, TheLatencyOfAPeerIsThatOfEntries) {
  const auto answer = [&](std::uint64_t end, Duration after) {
    replica_.Go([&] { replica_.runtime.rpc().Call(1, Append{1, end}); });
    replica_.Advance(after);
    Reply(1);
  };
  for (int i = 0; i < 3; ++i) answer(1, 1ms);
  answer(2, 600ms);
  const WindowFacts facts = Latest();
  ASSERT_EQ(facts.presence.size(), 1U);
  EXPECT_EQ(facts.presence[0].latency.count(), 1U);
  EXPECT_GE(facts.presence[0].latency.Percentile(500), 600ms);
}

TEST_F(FactCollectorTest, EntriesThatAreSentAgainAreCounted) {
  const auto send = [&](std::uint64_t first, std::uint64_t end, Duration timeout) {
    replica_.Go([&] { replica_.runtime.rpc().Call(1, Append{first, end}, timeout); });
  };
  send(1, 10, kForever);
  send(10, 20, kForever);
  EXPECT_EQ(Latest().calls[0].sends_of_an_entry, 1U);
  for (int i = 0; i < 4; ++i) {
    send(20, 30, 1ms);
    replica_.Advance(2ms);  // given up
  }
  EXPECT_EQ(Latest().calls[0].sends_of_an_entry, 1U);
  send(5, 6, kForever);
  Reply(1);  // answered: it counts on
  send(5, 6, kForever);
  EXPECT_EQ(Latest().calls[0].sends_of_an_entry, 3U);
  replica_.Advance(5s);
  send(5, 6, kForever);
  EXPECT_EQ(Latest().calls[0].sends_of_an_entry, 1U) << "in a new window";
}

// Fan-outs: a coroutine asks peers 1 and 2, and needs one answer.
class FanOutTest : public FactCollectorTest {
 protected:
  struct Round {
    Broadcast<Echo> calls;
    std::shared_ptr<SomeOf> quorum = std::make_shared<SomeOf>(2);
  };

  // `after` runs in the coroutine when the quorum's wait is over.
  void Go(const std::function<void(Round&)>& after, Duration timeout = kForever) {
    replica_.Spawn("round", [this, after, timeout] {
      Round round{{replica_.runtime.rpc(), {1, 2}, Echo{}}};
      for (const auto& call : round.calls.calls()) round.quorum->Add(call);
      round.quorum->Wait(timeout);
      after(round);
    });
    replica_.Run();
  }

  // From now on the replica has a step every 10 ms.
  void Tick() {
    replica_.Go([this] {
      for (;;) replica_.runtime.Sleep(10ms);
    });
  }

  std::uint64_t NotFinalized() const {
    std::uint64_t sum = 0;
    for (const WindowFacts& window : Windows()) {
      for (const FanOutFacts& row : window.fan_outs) sum += row.not_finalized;
    }
    return sum;
  }
};

TEST_F(FanOutTest, CallsLeftBehindAreNotFinalized) {
  Tick();
  Go([](Round&) {}, 1ms);
  replica_.Advance(1ms + kFinalizedWithin);
  EXPECT_EQ(NotFinalized(), 0U) << "the time is not over";
  replica_.Advance(20ms);
  EXPECT_EQ(Fields(Latest().fan_outs), R"([["round",1,[1,2]]])")
      << "one coroutine, though it left two calls";
  replica_.Advance(6s);
  Reply(1);
  Reply(2);
  EXPECT_EQ(NotFinalized(), 1U) << "once, whatever becomes of the calls";
}

TEST_F(FanOutTest, ALateAnswerIsNoEnd) {
  Tick();
  Go([](Round&) {}, 1ms);
  Reply(1);
  replica_.Advance(kFinalizedWithin + 30ms);
  Reply(2);
  EXPECT_EQ(NotFinalized(), 1U);
}

TEST_F(FanOutTest, AReplicaThatWasHeldUpIsNotBlamed) {
  Go(
      [this](Round& round) {
        replica_.runtime.Sleep(100ms);
        round.calls.Release();
      },
      1ms);
  replica_.host.now = 1ms;
  replica_.Run();
  replica_.host.now = 3s;  // no step until now
  replica_.Run();
  EXPECT_EQ(NotFinalized(), 0U);
}

TEST_F(FanOutTest, CallsThatAreAnsweredOrReleasedAreFinalized) {
  Tick();
  Go([](Round&) {}, 1ms);
  replica_.Advance(50ms);
  Reply(1);
  Reply(2);
  Go(
      [this](Round& round) {
        replica_.runtime.Spawn("grace", [this, calls = round.calls]() mutable {
          replica_.runtime.Sleep(100ms);
          calls.Release();
        });
      },
      1ms);
  replica_.Advance(6s);
  EXPECT_EQ(NotFinalized(), 0U);
}

TEST_F(FanOutTest, TheTimeBeginsWithTheQuorum) {
  Tick();
  Go([](Round& round) { round.calls.Release(); });
  replica_.Advance(3s);
  Reply(1);
  Reply(2);
  EXPECT_EQ(NotFinalized(), 0U);
}

TEST_F(FanOutTest, AQuorumThatIsWaitedForAgainHasTheWholeTime) {
  Tick();
  Go(
      [](Round& round) {
        for (int i = 0; i < 30; ++i) round.quorum->Wait(100ms);
        round.calls.Release();
      },
      100ms);
  replica_.Advance(5s);
  EXPECT_EQ(NotFinalized(), 0U);
}

TEST_F(FanOutTest, CallsOfOthersAreNotTheFanOut) {
  Tick();
  replica_.Go([&] { replica_.runtime.rpc().Call(1, Echo{}); });  // nobody waits for it
  Go([](Round& round) { round.calls.Release(); }, 1ms);
  replica_.Advance(6s);
  EXPECT_EQ(NotFinalized(), 0U);
}

TEST_F(FanOutTest, TheHistorySaysWhoseVotesCounted) {
  for (int i = 0; i < 3; ++i) {
    Go([](Round& round) { round.calls.Release(); });
    if (i == 0) Reply(2);
    Reply(1);
    Reply(2);
  }
  Go([](Round& round) { round.calls.Release(); }, 1ms);
  replica_.Advance(2ms);  // times out
  EXPECT_EQ(Fields(Latest().quorums), R"([["round","quorum",2,3,3,[[1,2],[2,1]]]])")
      << "a late vote does not count";
}

TEST(FactCollector, AReportThatIsMalformedOrHasImpossibleNumbersIsRefused) {
  EXPECT_FALSE(FactCollector::Read("").has_value());
  EXPECT_FALSE(FactCollector::Read("\x91\x01").has_value());
  const auto reads = [](const auto& change) {
    WindowFacts facts;
    facts.waits = {{.coroutine = "round", .event = "quorum", .needed = 2, .total = 3}};
    change(facts);
    std::string bytes;
    frame_internal::StringSink sink(bytes);
    msgpack::pack(sink, std::vector<WindowFacts>{facts});
    return FactCollector::Read(bytes).has_value();
  };
  EXPECT_TRUE(reads([](WindowFacts&) {}));
  EXPECT_FALSE(reads([](WindowFacts& facts) { facts.waits[0].ended = {1, -1, 0}; }));
  EXPECT_FALSE(reads([](WindowFacts& facts) {
    facts.clients = {{kFirstClient, {1, 0, std::int64_t{1} << 60}}};
  })) << "long ago";
  EXPECT_FALSE(reads([](WindowFacts& facts) {
    facts.quorums = {{"round", "quorum", 2, 1 << 30, 0, {}}};
  })) << "a crowd";
}

TEST(FactCollector, AWindowIsHandedOverOnceItIsOver) {
  std::vector<WindowFacts> windows;
  FactCollector facts([&](const WindowFacts& window) { windows.push_back(window); });
  Replica replica({.self = 1, .replicas = 3, .probes = {&facts}});
  replica.host.now = 2s;
  replica.runtime.Start([] {});
  replica.Go([&] {
    replica.runtime.Sleep(2s);
    replica.runtime.Sleep(9s);
    replica.runtime.Sleep(1s);
  });
  replica.Advance(12s);
  ASSERT_EQ(windows.size(), 1U) << "the next event after it came at 13 s";
  EXPECT_EQ(
      Fields(windows[0]),
      R"([1,3,2000000000,5000000000,[["test","timeout",1,1,[],false,)"
      R"([1,2000000000,2000000000],[0,0,0],[1,1000000000,1000000000],false]],[],[],[],[],[]])");
  const auto rest = FactCollector::Read(facts.Report(replica.runtime)).value();
  ASSERT_EQ(rest.size(), 1U) << "what was handed over is not kept";
  EXPECT_EQ(rest[0].begin_ns, 10'000'000'000);
}

}  // namespace
}  // namespace depfast
