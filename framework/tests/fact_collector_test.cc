// The probe of runtime verification: planted waits, calls and quorums, and what it says of them.
#include "depfast/verify/fact_collector.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "depfast/broadcast.h"
#include "depfast/compound_event.h"
#include "depfast/rpc.h"
#include "support/echo.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Replica;

// Carries the entries [first, end) of a log.
struct Append {
  using Reply = TextReply;
  static constexpr MethodId kMethod = 2;
  static constexpr const char* kName = "Append";
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  CarriedEntries Carried() const { return {1, first, end}; }
  MSGPACK_DEFINE(first, end)
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

  static RuntimeOptions With(RuntimeProbe& probe) {
    RuntimeOptions options;
    options.replicas = 3;
    options.probes = {&probe};
    return options;
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
  Replica replica_{With(facts_)};
  std::optional<Responder<TextReply>> answer_;
};

TEST_F(FactCollectorTest, AWaitIsOnAPathWhileItsRequestHasNoAnswer) {
  Ask(kFirstClient, 7);
  replica_.Spawn("works", [&] {
    replica_.runtime.set_dependency(Dependency::Client(7));
    replica_.runtime.Sleep(4ms);
    replica_.runtime.Sleep(4ms);
    replica_.runtime.Sleep(4ms);
  });
  replica_.Spawn("repairs", [&] { replica_.runtime.Sleep(2ms); });
  replica_.Run();
  replica_.Advance(6ms);
  Answer();
  replica_.Advance(20ms);
  const auto waits = Latest().waits;
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(waits[0].coroutine, "repairs");
  EXPECT_FALSE(waits[0].has_dependency);
  EXPECT_EQ(waits[0].on_path.count, 0U);
  EXPECT_EQ(waits[1].coroutine, "works");
  EXPECT_EQ(waits[1].event, "timeout");
  EXPECT_TRUE(waits[1].has_dependency);
  EXPECT_EQ(waits[1].ended.count, 3U);
  EXPECT_EQ(waits[1].ended.total_ns, 12'000'000);
  EXPECT_EQ(waits[1].ended.worst_ns, 4'000'000);
  EXPECT_EQ(waits[1].on_path.count, 2U) << "the third began after the answer";
  EXPECT_EQ(waits[1].on_path.total_ns, 6'000'000) << "of the second, the part before the answer";
  EXPECT_EQ(waits[1].on_path.worst_ns, 4'000'000);
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
  const auto clients = Latest().clients;
  ASSERT_EQ(clients.size(), 1U);
  EXPECT_EQ(clients[0].client, kFirstClient + 1);
  EXPECT_EQ(clients[0].answered.count, 2U);
  EXPECT_EQ(clients[0].answered.total_ns, 8'000'000);
  EXPECT_EQ(clients[0].answered.worst_ns, 5'000'000);
}

// A window with more records than the probe writes down before it counts them.
class BusyWindowTest : public FactCollectorTest, public ::testing::WithParamInterface<bool> {};

TEST_P(BusyWindowTest, NothingIsLostAndNothingIsCountedTwice) {
  const bool has_idle_time = GetParam();
  constexpr std::uint64_t kMany = 1000;
  for (std::uint64_t id = 1; id <= kMany; ++id) {
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
  ASSERT_EQ(facts.clients.size(), 1U);
  EXPECT_EQ(facts.clients[0].answered.count, kMany);
  EXPECT_EQ(facts.clients[0].answered.total_ns, 1'000'000'000);
  ASSERT_EQ(facts.waits.size(), 1U);
  EXPECT_EQ(facts.waits[0].ended.count, kMany);
  EXPECT_EQ(facts.waits[0].on_path.count, kMany);
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
  for (const std::size_t window : {0U, 1U}) {
    ASSERT_EQ(windows[window].waits.size(), 1U);
    const WaitFacts& wait = windows[window].waits.front();
    EXPECT_EQ(wait.event, "Echo");
    EXPECT_EQ(wait.peers, (std::vector<PeerId>{2}));
    EXPECT_EQ(wait.ended.count, 0U);
    EXPECT_EQ(wait.open.count, 1U);
    EXPECT_EQ(wait.open.worst_ns, window == 0 ? 5'000'000'000 : 6'000'000'000);
    EXPECT_TRUE(wait.open_on_path);
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
  const WindowFacts facts = Latest();
  ASSERT_EQ(facts.calls.size(), 1U);
  const CallFacts& calls = facts.calls.front();
  EXPECT_EQ(calls.method, "Echo");
  EXPECT_EQ(calls.peer, 1);
  EXPECT_EQ(calls.background, 1U);
  EXPECT_EQ(calls.for_heartbeats, 2U);
  EXPECT_EQ(calls.for_clients, 3U);
  EXPECT_EQ(calls.released, 1U);
  EXPECT_EQ(calls.failed, 1U);
  EXPECT_EQ(calls.answered, 1U);
  EXPECT_EQ(calls.latency.count(), 1U);
  EXPECT_GE(calls.latency.Percentile(500), 2ms);
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
  const auto rows = Latest().fan_outs;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].coroutine, "round");
  EXPECT_EQ(rows[0].not_finalized, 1U) << "one coroutine, though it left two calls";
  EXPECT_EQ(rows[0].peers, (std::vector<PeerId>{1, 2}));
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
  const auto quorums = Latest().quorums;
  ASSERT_EQ(quorums.size(), 1U);
  EXPECT_EQ(quorums[0].coroutine, "round");
  EXPECT_EQ(quorums[0].event, "quorum");
  EXPECT_EQ(quorums[0].needed, 2);
  EXPECT_EQ(quorums[0].total, 3);
  EXPECT_EQ(quorums[0].ready, 3U);
  ASSERT_EQ(quorums[0].voters.size(), 2U);
  EXPECT_EQ(quorums[0].voters[0].peer, 1);
  EXPECT_EQ(quorums[0].voters[0].counted, 2U);
  EXPECT_EQ(quorums[0].voters[1].peer, 2);
  EXPECT_EQ(quorums[0].voters[1].counted, 1U) << "a late vote does not count";
}

TEST(FactCollector, AMalformedReportIsRefused) {
  EXPECT_FALSE(FactCollector::Read("").has_value());
  EXPECT_FALSE(FactCollector::Read("\x91\x01").has_value());
}

TEST(FactCollector, AReportWithImpossibleNumbersIsRefused) {
  const auto packed = [](const WindowFacts& facts) {
    std::string bytes;
    frame_internal::StringSink sink(bytes);
    msgpack::pack(sink, std::vector<WindowFacts>{facts});
    return bytes;
  };
  WindowFacts facts;
  facts.waits = {{.coroutine = "round", .event = "quorum", .needed = 2, .total = 3}};
  EXPECT_TRUE(FactCollector::Read(packed(facts)).has_value());
  WindowFacts negative = facts;
  negative.waits[0].ended = {1, -1, 0};
  EXPECT_FALSE(FactCollector::Read(packed(negative)).has_value());
  WindowFacts long_ago = facts;
  long_ago.clients = {{kFirstClient, {1, 0, std::int64_t{1} << 60}}};
  EXPECT_FALSE(FactCollector::Read(packed(long_ago)).has_value());
  WindowFacts crowd = facts;
  crowd.quorums = {{"round", "quorum", 2, 1 << 30, 0, {}}};
  EXPECT_FALSE(FactCollector::Read(packed(crowd)).has_value());
}

TEST(FactCollector, AWindowIsHandedOverOnceItIsOver) {
  std::vector<WindowFacts> windows;
  FactCollector facts([&](const WindowFacts& window) { windows.push_back(window); });
  RuntimeOptions options;
  options.self = 1;
  options.replicas = 3;
  options.probes = {&facts};
  Replica replica(options);
  replica.host.now = 2s;
  replica.runtime.Start([] {});
  replica.Go([&] {
    replica.runtime.Sleep(2s);
    replica.runtime.Sleep(9s);
    replica.runtime.Sleep(1s);
  });
  replica.Advance(12s);
  ASSERT_EQ(windows.size(), 1U) << "the next event after it came at 13 s";
  EXPECT_EQ(windows[0].replica, 1);
  EXPECT_EQ(windows[0].replicas, 3);
  EXPECT_EQ(windows[0].begin_ns, 2'000'000'000);
  EXPECT_EQ(windows[0].end_ns, 5'000'000'000);
  ASSERT_EQ(windows[0].waits.size(), 1U);
  EXPECT_EQ(windows[0].waits[0].ended.count, 1U);
  const auto rest = FactCollector::Read(facts.Report(replica.runtime)).value();
  ASSERT_EQ(rest.size(), 1U) << "what was handed over is not kept";
  EXPECT_EQ(rest[0].begin_ns, 10'000'000'000);
}

}  // namespace
}  // namespace depfast
