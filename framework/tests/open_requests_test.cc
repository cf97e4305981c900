#include "verify/open_requests.h"

#include <gtest/gtest.h>

#include <chrono>

namespace depfast {
namespace {

using namespace std::chrono_literals;

constexpr PeerId kOne = kFirstClient, kOther = kFirstClient + 1;

TEST(OpenRequests, TellsWhenTheAnsweredRequestCame) {
  OpenRequests requests;
  requests.Add(kOne, 7, 1ms);
  requests.Add(kOther, 7, 2ms);
  requests.Add(kOne, 8, 3ms);
  EXPECT_EQ(requests.Answer(kOne, 8), Time{3ms});
  EXPECT_EQ(requests.Answer(kOther, 7), Time{2ms});
  EXPECT_EQ(requests.Answer(kOne, 7), Time{1ms});
}

TEST(OpenRequests, ARepeatedRequestIsAnsweredOldestFirst) {
  OpenRequests requests;
  requests.Add(kOne, 7, 1ms);
  requests.Add(kOne, 7, 2ms);
  EXPECT_EQ(requests.Answer(kOne, 7), Time{1ms});
  EXPECT_EQ(requests.Answer(kOne, 7), Time{2ms});
  EXPECT_EQ(requests.Answer(kOne, 7), std::nullopt);
}

TEST(OpenRequests, HasADependencyUntilItsLastRequestIsAnswered) {
  OpenRequests requests;
  requests.Add(kOne, 6, 1ms);
  requests.Add(kOne, 7, 1ms);
  requests.Add(kOther, 7, 2ms);
  EXPECT_TRUE(requests.Has(7));
  requests.Answer(kOne, 7);
  EXPECT_TRUE(requests.Has(7));
  requests.Answer(kOther, 7);
  EXPECT_FALSE(requests.Has(7)) << "request 6 came first and is still open";
  EXPECT_TRUE(requests.Has(6));
}

TEST(OpenRequests, AnsweredRequestsBehindAnOpenOneAreDropped) {
  OpenRequests requests;
  requests.Add(kOne, 0, 1ms);
  for (std::uint64_t id = 1; id < 100; ++id) {
    requests.Add(kOther, id, 2ms);
    EXPECT_EQ(requests.Answer(kOther, id), Time{2ms});
    EXPECT_LE(requests.size(), 2u);
  }
  EXPECT_EQ(requests.Answer(kOne, 0), Time{1ms});
  EXPECT_EQ(requests.size(), 0u);
}

TEST(OpenRequests, ForgetsRequestsThatCameBeforeATime) {
  OpenRequests requests;
  requests.Add(kOne, 7, 1ms);
  requests.Add(kOne, 8, 2ms);
  requests.Add(kOne, 9, 3ms);
  requests.Answer(kOne, 8);
  requests.ForgetBefore(3ms);
  EXPECT_FALSE(requests.Has(7));
  EXPECT_EQ(requests.Answer(kOne, 7), std::nullopt);
  EXPECT_EQ(requests.Answer(kOne, 9), Time{3ms});
}

}  // namespace
}  // namespace depfast
