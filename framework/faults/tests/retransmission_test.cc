// The delay that lost packets cost a frame.
#include "faults/retransmission.h"

#include <gtest/gtest.h>

#include <map>

namespace depfast::faults {
namespace {

constexpr int kFrames = 2000;

// The number of frames with each delay, of kFrames.
std::map<Duration, int> DelaysOf(std::size_t bytes, int permille) {
  std::map<Duration, int> delays;
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    ++delays[RetransmissionDelay(bytes, permille, RandomStream(1, 0, i))];
  }
  return delays;
}

TEST(RetransmissionDelay, DoublesWithEveryLoss) {
  // Half of the frames, then half of the rest: the standard deviation of 2,000 draws is 22.
  const auto delays = DelaysOf(100, 500);
  EXPECT_NEAR(delays.at(0ms), kFrames / 2.0, 100);
  EXPECT_NEAR(delays.at(200ms), kFrames / 4.0, 100);
  EXPECT_NEAR(delays.at(600ms), kFrames / 8.0, 100);
  EXPECT_NEAR(delays.at(1400ms), kFrames / 16.0, 50);
  EXPECT_GT(delays.at(3000ms), 0);
}

TEST(RetransmissionDelay, ThereIsNoneWithoutLoss) {
  EXPECT_EQ(DelaysOf(1'000'000, 0), (std::map<Duration, int>{{0ms, kFrames}}));
}

TEST(RetransmissionDelay, ALongFrameWaitsForAllOfItsPackets) {
  // A frame of 7 packets is whole at once if none of them is lost: 0.9 to the power of 7 is 0.48.
  EXPECT_NEAR(DelaysOf(6 * 1448 + 1, 100).at(0ms), kFrames * 0.48, 100);
  EXPECT_NEAR(DelaysOf(1448, 100).at(0ms), kFrames * 0.9, 60) << "one packet";
  EXPECT_NEAR(DelaysOf(0, 100).at(0ms), kFrames * 0.9, 60) << "an empty frame is a packet, too";
  // If some are lost, only those are sent again: 0.99 to the power of 7 arrive by then.
  const auto delays = DelaysOf(6 * 1448 + 1, 100);
  EXPECT_NEAR(delays.at(0ms) + delays.at(200ms), kFrames * 0.93, 60);
}

TEST(RetransmissionDelay, IsBoundedIfEverythingIsLost) {
  // 200 ms, doubled nine times, are 204.6 s in all; then five timeouts of 120 s.
  EXPECT_EQ(DelaysOf(100, 1000), (std::map<Duration, int>{{204'600ms + 600s, kFrames}}));
}

}  // namespace
}  // namespace depfast::faults
