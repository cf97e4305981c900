#include "verify/client_paths.h"

#include <gtest/gtest.h>

#include <chrono>

namespace depfast {
namespace {

using namespace std::chrono_literals;

constexpr PeerId kOne = kFirstClient, kOther = kFirstClient + 1;
constexpr std::uint64_t kTask = 1, kOtherTask = 2;

TEST(ClientPaths, TellsWhenTheAnsweredRequestCame) {
  ClientPaths paths;
  paths.Add(kOne, 7, 1ms);
  paths.Add(kOther, 7, 2ms);
  paths.Add(kOne, 8, 3ms);
  EXPECT_EQ(paths.Answer(kOne, 8, 4ms), Time{3ms});
  EXPECT_EQ(paths.Answer(kOther, 7, 4ms), Time{2ms});
  EXPECT_EQ(paths.Answer(kOne, 7, 4ms), Time{1ms});
}

TEST(ClientPaths, ARepeatedRequestIsAnsweredOldestFirst) {
  ClientPaths paths;
  paths.Add(kOne, 7, 1ms);
  paths.Add(kOne, 7, 2ms);
  EXPECT_EQ(paths.Answer(kOne, 7, 3ms), Time{1ms});
  EXPECT_EQ(paths.Answer(kOne, 7, 3ms), Time{2ms});
  EXPECT_EQ(paths.Answer(kOne, 7, 3ms), kNever);
}

TEST(ClientPaths, AWaitIsOnThePathOfItsOwnRequestOnly) {
  ClientPaths paths;
  paths.Add(kOne, 7, 1ms);
  paths.BeginWait(kTask, 7);
  paths.BeginWait(kOtherTask, 8);
  EXPECT_TRUE(paths.IsOnPath(kTask, 7));
  EXPECT_FALSE(paths.IsOnPath(kOtherTask, 8));
  EXPECT_EQ(paths.EndWait(kTask, 7, 2ms, 5ms), Duration{3ms});
  EXPECT_EQ(paths.EndWait(kOtherTask, 8, 2ms, 5ms), Duration{0ms});
  EXPECT_FALSE(paths.IsOnPath(kTask, 7)) << "it has ended";
}

TEST(ClientPaths, AWaitIsOnAPathUntilTheAnswer) {
  ClientPaths paths;
  paths.Add(kOne, 7, 1ms);
  paths.BeginWait(kTask, 7);
  paths.BeginWait(kOtherTask, 7);
  paths.Answer(kOne, 7, 4ms);
  EXPECT_FALSE(paths.IsOnPath(kTask, 7));
  EXPECT_EQ(paths.EndWait(kTask, 7, 2ms, 9ms), Duration{2ms});
  paths.BeginWait(kTask, 7);
  EXPECT_EQ(paths.EndWait(kTask, 7, 9ms, 10ms), Duration{0ms}) << "it began after the answer";
  EXPECT_EQ(paths.EndWait(kOtherTask, 7, 3ms, 9ms), Duration{1ms});
}

TEST(ClientPaths, TheLastAnswerEndsThePathOfSeveralRequests) {
  for (const PeerId first : {kOne, kOther}) {
    ClientPaths paths;
    paths.Add(kOne, 6, 1ms);
    paths.Add(kOne, 7, 1ms);
    paths.Add(kOther, 7, 2ms);
    paths.BeginWait(kTask, 7);
    paths.Answer(first, 7, 3ms);
    EXPECT_TRUE(paths.IsOnPath(kTask, 7));
    paths.Answer(first == kOne ? kOther : kOne, 7, 5ms);
    EXPECT_FALSE(paths.IsOnPath(kTask, 7)) << "request 6 is open, but another one";
    EXPECT_EQ(paths.EndWait(kTask, 7, 2ms, 9ms), Duration{3ms});
  }
}

TEST(ClientPaths, ARepeatedRequestMakesAnOldWaitPartOfItsPath) {
  ClientPaths paths;
  paths.Add(kOne, 7, 1ms);
  paths.BeginWait(kTask, 7);
  paths.Answer(kOne, 7, 2ms);
  paths.Add(kOther, 7, 3ms);
  paths.BeginWait(kOtherTask, 7);
  EXPECT_EQ(paths.EndWait(kTask, 7, 1ms, 6ms), Duration{5ms});
  paths.Answer(kOther, 7, 7ms);
  EXPECT_EQ(paths.EndWait(kOtherTask, 7, 3ms, 9ms), Duration{4ms});
}

TEST(ClientPaths, AnsweredRequestsBehindAnOpenOneAreDropped) {
  ClientPaths paths;
  paths.Add(kOne, 0, 1ms);
  for (std::uint64_t id = 1; id < 100; ++id) {
    paths.Add(kOther, id, 2ms);
    EXPECT_EQ(paths.Answer(kOther, id, 3ms), Time{2ms});
    EXPECT_LE(paths.size(), 2u);
  }
  EXPECT_EQ(paths.Answer(kOne, 0, 3ms), Time{1ms});
  EXPECT_EQ(paths.size(), 0u);
}

TEST(ClientPaths, ForgetsRequestsThatCameBeforeATime) {
  ClientPaths paths;
  paths.Add(kOne, 7, 1ms);
  paths.Add(kOne, 8, 2ms);
  paths.Add(kOne, 9, 3ms);
  paths.BeginWait(kTask, 7);
  paths.Answer(kOne, 8, 3ms);
  paths.ForgetBefore(3ms);
  EXPECT_FALSE(paths.IsOnPath(kTask, 7));
  EXPECT_EQ(paths.Answer(kOne, 7, 4ms), kNever);
  EXPECT_EQ(paths.EndWait(kTask, 7, 1ms, 9ms), Duration{8ms}) << "it never had an answer";
  EXPECT_EQ(paths.Answer(kOne, 9, 4ms), Time{3ms});
}

}  // namespace
}  // namespace depfast
