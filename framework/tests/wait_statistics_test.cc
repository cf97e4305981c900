// Wait statistics: the figures that the probe derives from the waits.
#include "depfast/verify/wait_statistics.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "depfast/compound_event.h"
#include "depfast/rpc.h"
#include "depfast/value_event.h"
#include "depfast/verify/probes.h"
#include "support/echo.h"
#include "test_support.h"

namespace depfast {
namespace {

using testing::Fields;
using testing::Replica;

class WaitStatisticsTest : public ::testing::Test {
 protected:
  std::vector<WaitRow> Rows() const { return waits_.Rows(replica_.runtime.Now()); }

  WaitStatistics waits_;
  Replica replica_{RuntimeOptions{.replicas = 4, .probes = {&waits_}}};
};

// With clients' requests, which a test answers as it likes.
class WaitPathTest : public WaitStatisticsTest {
 protected:
  WaitPathTest() {
    replica_.In([&] {
      replica_.runtime.rpc().HandleInline<Echo>(
          [&](const Echo&, const Responder<TextReply>& responder) {
            responders_.insert_or_assign(responder.dependency().id, responder);
          });
    });
  }

  void Request(std::uint64_t id) {
    const FrameHeader header{FrameKind::kRequest, Echo::kMethod, ++last_call_,
                             Dependency::Client(id)};
    replica_.runtime.DeliverFrame(kFirstClient, EncodeFrame(header, Echo{}));
    replica_.Run();
  }
  void Answer(std::uint64_t id) { responders_.at(id).Send({}); }

  // The only one of the coroutine and, if given, of the event.
  WaitRow RowOf(const std::string& coroutine, const std::string& event = "") const {
    std::vector<WaitRow> found;
    for (const WaitRow& row : Rows()) {
      if (row.coroutine == coroutine && (event.empty() || row.event == event)) found.push_back(row);
    }
    EXPECT_EQ(found.size(), 1U) << coroutine << " " << event;
    return found.empty() ? WaitRow{} : found.front();
  }

 private:
  CallId last_call_ = 0;
  std::map<std::uint64_t, Responder<TextReply>> responders_;
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
  replica_.Do([&] { event->Set(1); });
  replica_.Advance(21ms);
  // At 25 ms the sleeper has slept for 10, and now for 15: the wait that has not ended counts. One
  // voter waited for 4 ms until the event was ready, and one for 2 ms until a timeout.
  EXPECT_EQ(Fields(Rows()), R"([["sleeper","timeout",1,1,[],2,25000000,15000000,false,0],)"
                            R"(["voter","votes",1,1,[],2,6000000,4000000,false,0]])");
}

TEST_F(WaitStatisticsTest, NameThePeersOfAWait) {
  replica_.Spawn("asks one", [&] { replica_.runtime.rpc().Call(2, Echo{})->Wait(5ms); });
  replica_.Spawn("asks all", [&] {
    const auto calls = replica_.runtime.rpc().CallAll({3, 1, 2}, Echo{});
    AndEvent::Of({calls[0], calls[1], calls[2]})->Wait();
  });
  replica_.Run();
  replica_.Advance(9ms);
  EXPECT_EQ(Fields(Rows()), R"([["asks all","and",3,3,[1,2,3],1,9000000,9000000,false,0],)"
                            R"(["asks one","Echo",1,1,[2],1,5000000,5000000,false,0]])");
}

TEST_F(WaitPathTest, AWaitThatLedToTheAnswerIsOnTheClientsPath) {
  replica_.Spawn("works", [&] {
    replica_.runtime.Sleep(4ms);
    replica_.runtime.Sleep(4ms);
    Answer(7);
    replica_.runtime.Sleep(4ms);
  });
  replica_.Run();
  replica_.Advance(1ms);
  Request(7);
  replica_.Advance(20ms);
  EXPECT_EQ(RowOf("works").total_ns, 12'000'000);
  EXPECT_EQ(RowOf("works").path_ns, 7'000'000) << "from the request to the answer";
}

// Its second sleep stands for a wait for stragglers, after the decision.
TEST_F(WaitPathTest, SoIsAWaitOfACoroutineThatEndedSuchAWait) {
  const auto applied = replica_.Make<IntEvent>("applied", 1);
  replica_.Spawn("replicates", [&] {
    replica_.runtime.Sleep(3ms);
    applied->Set(1);
    replica_.runtime.Sleep(9ms);
  });
  replica_.Spawn("serves", [&] {
    applied->Wait();
    replica_.runtime.Sleep(1ms);
    Answer(7);
  });
  Request(7);
  replica_.Advance(20ms);
  EXPECT_EQ(RowOf("serves", "applied").path_ns, 3'000'000);
  EXPECT_EQ(RowOf("serves", "timeout").path_ns, 1'000'000);
  EXPECT_EQ(RowOf("replicates").total_ns, 12'000'000);
  EXPECT_EQ(RowOf("replicates").path_ns, 3'000'000);
}

TEST_F(WaitPathTest, SoIsAWaitOfTheCoroutineThatMadeTheOther) {
  replica_.Spawn("makes", [&] {
    replica_.runtime.Sleep(3ms);
    replica_.Spawn("answers", [&] { Answer(7); });
    replica_.runtime.Sleep(9ms);
  });
  Request(7);
  replica_.Advance(20ms);
  EXPECT_EQ(RowOf("makes").path_ns, 3'000'000);
}

// The waker's waits before the other one began did not hold it up.
TEST_F(WaitPathTest, AWakerIsFollowedToTheBeginOfTheWait) {
  const auto done = replica_.Make<IntEvent>("done", 1);
  replica_.Spawn("wakes", [&] {
    replica_.runtime.Sleep(5ms);
    replica_.runtime.Sleep(5ms);
    done->Set(1);
  });
  replica_.Spawn("answers", [&] {
    replica_.runtime.Sleep(8ms);
    done->Wait();
    Answer(7);
  });
  Request(7);
  replica_.Advance(20ms);
  EXPECT_EQ(RowOf("answers", "timeout").path_ns, 8'000'000);
  EXPECT_EQ(RowOf("answers", "done").path_ns, 2'000'000);
  EXPECT_EQ(RowOf("wakes").path_ns, 2'000'000);
}

TEST_F(WaitPathTest, AWaitForManyClientsCountsOnce) {
  replica_.Spawn("serves all", [&] {
    replica_.runtime.Sleep(6ms);
    for (const std::uint64_t id : {8U, 7U, 9U}) Answer(id);
  });
  for (const std::uint64_t id : {7U, 8U, 9U}) {
    Request(id);
    replica_.Advance(2ms);
  }
  replica_.Advance(20ms);
  EXPECT_EQ(RowOf("serves all").path_ns, 6'000'000) << "since the first request";
}

TEST_F(WaitPathTest, ARepeatedRequestWaitsSinceTheFirst) {
  replica_.Spawn("works", [&] {
    replica_.runtime.Sleep(6ms);
    Answer(7);
  });
  Request(7);
  replica_.Advance(4ms);
  Request(7);
  replica_.Advance(20ms);
  EXPECT_EQ(RowOf("works").path_ns, 6'000'000);
}

TEST_F(WaitPathTest, WithoutAnAnswerTheWaitsOfWhoeverWorksForTheClientCount) {
  replica_.Spawn("works", [&] {
    replica_.runtime.set_dependency(Dependency::Client(7));
    replica_.runtime.Sleep(4ms);
    replica_.runtime.Sleep(1h);
  });
  replica_.Spawn("repairs", [&] { replica_.runtime.Sleep(1h); });
  replica_.Spawn("beats", [&] {
    replica_.runtime.set_dependency(Dependency::Heartbeat());
    replica_.runtime.Sleep(1h);
  });
  Request(7);
  replica_.Advance(5ms);
  EXPECT_EQ(RowOf("works").path_ns, 5'000'000);
  EXPECT_EQ(RowOf("works").path_ns, 5'000'000) << "to look changes nothing";
  EXPECT_TRUE(RowOf("works").has_dependency);
  EXPECT_EQ(RowOf("repairs").path_ns, 0);
  EXPECT_FALSE(RowOf("repairs").has_dependency);
  EXPECT_EQ(RowOf("beats").path_ns, 0);
  EXPECT_TRUE(RowOf("beats").has_dependency);
}

TEST_F(WaitPathTest, OldWaitsAreForgotten) {
  replica_.Spawn("works", [&] {
    replica_.runtime.Sleep(1s);
    replica_.runtime.Sleep(6s);
    Answer(7);
  });
  Request(7);
  replica_.Advance(1s);
  replica_.Advance(6s);
  EXPECT_EQ(RowOf("works").total_ns, 7'000'000'000);
  EXPECT_EQ(RowOf("works").path_ns, 6'000'000'000);
}

TEST_F(WaitPathTest, AReportHoldsEveryFieldOfTheRows) {
  Request(7);
  replica_.Spawn("asks", [&] {
    replica_.runtime.set_dependency(Dependency::Client(7));
    replica_.runtime.rpc().Call(1, Echo{})->Wait();
  });
  replica_.Run();
  replica_.Advance(3ms);
  const auto read = WaitStatistics::Read(waits_.Report(replica_.runtime));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(Fields(*read), R"([["asks","Echo",1,1,[1],1,3000000,3000000,true,3000000]])");
}

TEST_F(WaitStatisticsTest, AMalformedReportIsRefused) {
  for (const char* bytes : {"", "\x93\x01\x02", "nonsense"}) {
    EXPECT_FALSE(WaitStatistics::Read(bytes).has_value()) << bytes;
  }
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
