// The wires of a replica with faults of the network, on a clock of the test's own.
#include "real/faulty_links.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace depfast::real {
namespace {

using faults::FaultKind;

constexpr std::int64_t kMsInNs = 1'000'000;
constexpr PeerId kClient = kFirstClient;

class FaultyLinksTest : public ::testing::Test {
 protected:
  using Arrivals = std::vector<std::pair<PeerId, std::string>>;

  void Set(FaultKind kind, std::int64_t amount, std::uint64_t receivers = 0) {
    faults_.Add(kind, amount, receivers);
    links_.Set(faults_);
  }
  void HealAll() { links_.Set(faults_ = {}); }
  FrameId Send(PeerId to, const std::string& text) {
    EXPECT_TRUE(links_.Carries(to));
    links_.Send(to, ++last_, MakeBytes(text));
    return last_;
  }
  // All that has arrived by `now`, since the last call.
  Arrivals At(Time now) {
    dropped_ += links_.Advance(now);
    return std::exchange(arrivals_, {});
  }

  InjectedFaults faults_;
  FrameId last_ = 0;
  Arrivals arrivals_;
  std::size_t dropped_ = 0;
  FaultyLinks links_{3, std::size_t{1} << 20, RandomStream(1),
                     [this](PeerId to, const Bytes& frame) { arrivals_.emplace_back(to, *frame); }};
};

TEST_F(FaultyLinksTest, WithoutAFaultOfTheNetworkNoLinkCarries) {
  EXPECT_FALSE(links_.Carries(1));
  Set(FaultKind::kFsDelay, 40 * kMsInNs);
  EXPECT_FALSE(links_.Carries(1));
  EXPECT_EQ(links_.NextDeadline(), kNever);
}

TEST_F(FaultyLinksTest, ADelayHitsEachFrameToReplicasAndClients) {
  Set(FaultKind::kNetSlow, 40 * kMsInNs);
  Send(1, "a");
  Send(kClient, "b");
  for (const Time early : {Time(1s), Time(1s + 39ms)}) EXPECT_EQ(At(early), Arrivals{});
  EXPECT_EQ(At(1s + 40ms).size(), 2U);
  EXPECT_EQ(links_.NextDeadline(), kNever);
}

TEST_F(FaultyLinksTest, TheDeadlineIsTheNextArrival) {
  Set(FaultKind::kNetSlow, 4 * kMsInNs);
  Send(1, "a");
  At(1s);
  EXPECT_EQ(links_.NextDeadline(), 1s + 4ms);
  Set(FaultKind::kNetSlow, 40 * kMsInNs);
  At(1s + 4ms);
  Send(1, "b");
  At(1s + 5ms);
  EXPECT_EQ(links_.NextDeadline(), 1s + 5ms + FaultyLinks::kPatience) << "it may be healed by then";
}

TEST_F(FaultyLinksTest, FramesKeepTheirOrder) {
  Set(FaultKind::kNetJitter, 40 * kMsInNs);
  Arrivals sent;
  Arrivals arrived;
  for (int i = 0; i < 100; ++i) {
    sent.emplace_back(1, std::to_string(i));
    Send(1, sent.back().second);
    for (auto& each : At(1s + i * 1ms)) arrived.push_back(std::move(each));
  }
  for (auto& each : At(2s)) arrived.push_back(std::move(each));
  EXPECT_EQ(arrived, sent);
}

TEST_F(FaultyLinksTest, JitterStaysBelowItsAmount) {
  Set(FaultKind::kNetJitter, 40 * kMsInNs);
  std::size_t early = 0;
  for (int i = 0; i < 1000; ++i) {
    const Time now = Time(1s) + i * 100ms;
    Send(1, "x");
    early += At(now).size() + At(now + 20ms).size();
    At(now + 40ms);
    EXPECT_EQ(links_.NextDeadline(), kNever) << "all have arrived";
  }
  EXPECT_NEAR(static_cast<double>(early), 500, 80);
}

TEST_F(FaultyLinksTest, TheWindowHoldsTheRest) {
  Set(FaultKind::kNetSlow, 40 * kMsInNs);
  const std::string frame(FaultyLinks::kWindowBytes / 2, 'x');
  for (int i = 0; i < 4; ++i) Send(1, frame);
  At(1s);
  EXPECT_EQ(links_.HeldBytes(1), 2 * frame.size()) << "two are on the wire";
  EXPECT_FALSE(links_.Release(1, 1)) << "it is on the wire";
  EXPECT_TRUE(links_.Release(1, 3));
  EXPECT_EQ(links_.HeldBytes(1), frame.size());
  EXPECT_EQ(At(1s + 40ms).size(), 2U);
  EXPECT_EQ(links_.HeldBytes(1), 0U);
  EXPECT_EQ(At(1s + 79ms).size(), 0U);
  EXPECT_EQ(At(1s + 80ms).size(), 1U);
}

TEST_F(FaultyLinksTest, AFrameLargerThanTheWindowTravelsAloneAndAClientHasNoWindow) {
  Set(FaultKind::kNetSlow, 40 * kMsInNs);
  Send(1, std::string(2 * FaultyLinks::kWindowBytes, 'x'));
  Send(1, "y");
  for (int i = 0; i < 4; ++i) Send(kClient, std::string(FaultyLinks::kWindowBytes, 'x'));
  At(1s);
  EXPECT_EQ(links_.HeldBytes(1), 1U);
  EXPECT_EQ(links_.HeldBytes(kClient), 0U);
  EXPECT_EQ(At(1s + 40ms).size(), 1U + 4U);
  EXPECT_EQ(At(1s + 80ms), (Arrivals{{1, "y"}}));
}

TEST_F(FaultyLinksTest, TheOldestHeldFramesAreDroppedAboveTheLimit) {
  Set(FaultKind::kNetSlow, 40 * kMsInNs);
  for (int i = 0; i < 8; ++i) Send(1, std::string(FaultyLinks::kWindowBytes, 'x'));
  At(1s);
  EXPECT_EQ(dropped_, 3U) << "one is on the wire, four are held";
  EXPECT_EQ(links_.HeldBytes(1), std::size_t{1} << 20);
}

TEST_F(FaultyLinksTest, AllArrivesAtOnceWhenNoFaultIsLeft) {
  Set(FaultKind::kNetSlow, 3600 * 1000 * kMsInNs);
  const std::string frame(FaultyLinks::kWindowBytes, 'x');
  Send(1, frame);
  Send(1, "y");
  EXPECT_EQ(At(1s), Arrivals{});
  HealAll();
  EXPECT_TRUE(links_.Carries(1)) << "younger frames must not overtake these";
  Send(1, "z");
  EXPECT_EQ(At(2s), (Arrivals{{1, frame}, {1, "y"}, {1, "z"}}));
  EXPECT_FALSE(links_.Carries(1));
}

TEST_F(FaultyLinksTest, LostPacketsAreSentAgain) {
  Set(FaultKind::kPacketLoss, 500);
  std::size_t at_once = 0;
  std::size_t after_200ms = 0;
  for (int i = 0; i < 1000; ++i) {
    const Time now = Time(1s) + i * 2000s;
    Send(1, "x");
    at_once += At(now).size();
    after_200ms += At(now + 200ms).size();
    At(now + 1999s);
    EXPECT_EQ(links_.NextDeadline(), kNever) << "none is lost for ever";
  }
  EXPECT_NEAR(static_cast<double>(at_once), 500, 80);
  EXPECT_NEAR(static_cast<double>(after_200ms), 250, 70);
}

TEST_F(FaultyLinksTest, OneSlowLinkLeavesTheOthers) {
  Set(FaultKind::kLinkSlow, 40 * kMsInNs, 0b010);
  Send(1, "slow");
  Send(2, "fast");
  EXPECT_EQ(At(1s), (Arrivals{{2, "fast"}}));
  EXPECT_EQ(At(1s + 40ms), (Arrivals{{1, "slow"}}));
}

TEST_F(FaultyLinksTest, ACutAndAPartitionLoseFramesToTheirReceivers) {
  for (const FaultKind kind : {FaultKind::kCut, FaultKind::kPartition}) {
    HealAll();
    Set(kind, 0, 0b010);
    Send(1, "lost");
    Send(2, "heard");
    Send(kClient, "answer");
    EXPECT_EQ(At(1s).size(), 2U);
    EXPECT_EQ(links_.NextDeadline(), kNever);
  }
}

TEST_F(FaultyLinksTest, DropAndDuplicateHitTheirShareOfTheFramesToReplicas) {
  for (const auto& [kind, expected] :
       {std::pair(FaultKind::kDrop, 800), {FaultKind::kDuplicate, 1200}}) {
    HealAll();
    Set(kind, 200);
    std::size_t arrived = 0;
    std::size_t answers = 0;
    for (int i = 0; i < 1000; ++i) {
      Send(1, "x");
      arrived += At(1s).size();
      Send(kClient, "x");
      answers += At(1s).size();
    }
    EXPECT_NEAR(static_cast<double>(arrived), expected, 60);
    EXPECT_EQ(answers, 1000U);
  }
}

TEST_F(FaultyLinksTest, LateFramesAreOvertaken) {
  Set(FaultKind::kLate, 40 * kMsInNs, 0b010);
  Send(1, "late");
  At(1s);
  HealAll();
  Set(FaultKind::kNetSlow, 10 * kMsInNs);
  Send(1, "young");
  At(1s);
  EXPECT_EQ(At(1s + 10ms), (Arrivals{{1, "young"}}));
  EXPECT_EQ(At(1s + 40ms), (Arrivals{{1, "late"}}));
}

TEST_F(FaultyLinksTest, ReorderMakesItsShareLate) {
  Set(FaultKind::kReorder, 200);
  std::size_t in_time = 0;
  for (int i = 0; i < 1000; ++i) {
    const Time now = Time(1s) + i * 1s;
    Send(1, "x");
    in_time += At(now).size();
    At(now + faults::kReorderDelayMax);
    EXPECT_EQ(links_.NextDeadline(), kNever);
  }
  EXPECT_NEAR(static_cast<double>(in_time), 800, 60);
}

}  // namespace
}  // namespace depfast::real
