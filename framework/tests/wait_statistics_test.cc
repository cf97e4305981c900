// Wait statistics: the figures that the probe derives from the waits.
#include "depfast/verify/wait_statistics.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "depfast/compound_event.h"
#include "depfast/rpc.h"
#include "depfast/value_event.h"
#include "depfast/verify/probes.h"
#include "support/echo.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Replica;

class WaitStatisticsTest : public ::testing::Test {
 protected:
  static RuntimeOptions With(RuntimeProbe& probe) {
    RuntimeOptions options;
    options.replicas = 4;
    options.probes = {&probe};
    return options;
  }

  std::vector<WaitRow> Rows() const { return waits_.Rows(replica_.runtime.Now()); }

  WaitStatistics waits_;
  Replica replica_{With(waits_)};
};

TEST_F(WaitStatisticsTest, CountWaitsByCoroutineAndEventLongestFirst) {
  const auto event = replica_.Make<IntEvent>("votes", 1);
  replica_.Spawn("voter", [&] { event->Wait(); });
  replica_.Spawn("voter", [&] { event->Wait(2ms); });
  replica_.Spawn("sleeper", [&] {
    replica_.runtime.Sleep(10ms);
    replica_.runtime.Sleep(20ms);
  });
  replica_.Run();
  replica_.Advance(4ms);
  replica_.In([&] { event->Set(1); });
  replica_.Run();
  replica_.Advance(21ms);  // at 25 ms the sleeper has slept for 10, and now for 15
  const auto rows = Rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].coroutine, "sleeper");
  EXPECT_EQ(rows[0].event, "timeout");
  EXPECT_EQ(rows[0].count, 2U);
  EXPECT_EQ(rows[0].total_ns, 25'000'000) << "the wait that has not ended counts";
  EXPECT_EQ(rows[0].max_ns, 15'000'000);
  EXPECT_TRUE(rows[0].peers.empty());
  EXPECT_EQ(rows[1].coroutine, "voter");
  EXPECT_EQ(rows[1].event, "votes");
  EXPECT_EQ(rows[1].needed, 1);
  EXPECT_EQ(rows[1].total, 1);
  EXPECT_EQ(rows[1].count, 2U);
  EXPECT_EQ(rows[1].total_ns, 6'000'000) << "4 ms until it was ready, and 2 ms until a timeout";
  EXPECT_EQ(rows[1].max_ns, 4'000'000);
}

TEST_F(WaitStatisticsTest, NameThePeersOfAWait) {
  replica_.Spawn("asks one", [&] { replica_.runtime.rpc().Call(2, Echo{})->Wait(5ms); });
  replica_.Spawn("asks all", [&] {
    const auto calls = replica_.runtime.rpc().CallAll({3, 1, 2}, Echo{});
    AndEvent::Of({calls[0], calls[1], calls[2]})->Wait();
  });
  replica_.Run();
  replica_.Advance(9ms);
  const auto rows = Rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].coroutine, "asks all");
  EXPECT_EQ(rows[0].needed, 3);
  EXPECT_EQ(rows[0].total, 3);
  EXPECT_EQ(rows[0].peers, (std::vector<PeerId>{1, 2, 3}));
  EXPECT_EQ(rows[1].coroutine, "asks one");
  EXPECT_EQ(rows[1].event, "Echo");
  EXPECT_EQ(rows[1].peers, (std::vector<PeerId>{2}));
  EXPECT_EQ(rows[1].total_ns, 5'000'000);
}

// Works for a client's request: waits before the answer, during it, and after it.
TEST_F(WaitStatisticsTest, AWaitIsOnAClientsPathUntilTheAnswer) {
  std::optional<Responder<TextReply>> answer;
  replica_.In([&] {
    replica_.runtime.rpc().HandleInline<Echo>(
        [&](const Echo&, const Responder<TextReply>& responder) { answer = responder; });
  });
  const FrameHeader header{FrameKind::kRequest, Echo::kMethod, 1, Dependency::Client(7)};
  replica_.runtime.DeliverFrame(kFirstClient, EncodeFrame(header, Echo{}));
  replica_.Spawn("works", [&] {
    replica_.runtime.set_dependency(Dependency::Client(7));
    replica_.runtime.Sleep(4ms);
    replica_.runtime.Sleep(4ms);
    replica_.runtime.Sleep(4ms);
  });
  replica_.Run();
  replica_.Advance(5ms);
  EXPECT_EQ(Rows().front().path_ns, 5'000'000) << "of the wait that has not ended, the part so far";
  replica_.In([&] { answer->Send({}); });
  replica_.Advance(10ms);
  const WaitRow row = Rows().front();
  EXPECT_EQ(row.total_ns, 12'000'000);
  EXPECT_EQ(row.path_ns, 5'000'000);
}

TEST_F(WaitStatisticsTest, OnlyWaitsForAClientAreOnItsPath) {
  replica_.Spawn("repairs", [&] { replica_.runtime.Sleep(4ms); });
  replica_.Spawn("beats", [&] {
    replica_.runtime.set_dependency(Dependency::Heartbeat());
    replica_.runtime.Sleep(3ms);
  });
  replica_.Run();
  replica_.Advance(9ms);
  const auto rows = Rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].path_ns, 0);
  EXPECT_FALSE(rows[0].has_dependency);
  EXPECT_EQ(rows[1].path_ns, 0);
  EXPECT_TRUE(rows[1].has_dependency);
}

TEST_F(WaitStatisticsTest, AReportHoldsEveryFieldOfTheRows) {
  replica_.Spawn("asks", [&] {
    replica_.runtime.set_dependency(Dependency::Client(7));
    replica_.runtime.rpc().Call(1, Echo{})->Wait();
  });
  replica_.Run();
  replica_.Advance(3ms);
  const auto read = WaitStatistics::Read(waits_.Report(replica_.runtime));
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->size(), 1U);
  const WaitRow& row = read->front();
  EXPECT_EQ(row.coroutine, "asks");
  EXPECT_EQ(row.event, "Echo");
  EXPECT_EQ(row.needed, 1);
  EXPECT_EQ(row.total, 1);
  EXPECT_EQ(row.peers, (std::vector<PeerId>{1}));
  EXPECT_EQ(row.count, 1U);
  EXPECT_EQ(row.total_ns, 3'000'000);
  EXPECT_EQ(row.max_ns, 3'000'000);
  EXPECT_TRUE(row.has_dependency);
  EXPECT_EQ(row.path_ns, 3'000'000);
}

TEST_F(WaitStatisticsTest, AMalformedReportIsRefused) {
  EXPECT_EQ(WaitStatistics::Read(""), std::nullopt);
  EXPECT_EQ(WaitStatistics::Read("\x93\x01\x02"), std::nullopt);
  EXPECT_EQ(WaitStatistics::Read("nonsense"), std::nullopt);
}

TEST_F(WaitStatisticsTest, CoroutinesThatTheEndUnwindsHaveNoWaits) {
  replica_.Go([&] { replica_.runtime.Sleep(1h); });
  EXPECT_EQ(Rows().size(), 1U);
  replica_.runtime.Shutdown();
  EXPECT_TRUE(Rows().empty());
}

TEST(Probes, AreMadeByName) {
  EXPECT_NE(dynamic_cast<WaitStatistics*>(MakeProbe(WaitStatistics::kName).get()), nullptr);
  EXPECT_THROW(MakeProbe("horoscope"), std::invalid_argument);
}

}  // namespace
}  // namespace depfast
