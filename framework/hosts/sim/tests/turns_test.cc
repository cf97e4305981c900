// The order of turns: on a device (WaitingLine) and on a core (FairCore).
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "sim/fair_core.h"
#include "sim/waiting_line.h"

namespace depfast::sim {
namespace {

using Those = std::vector<int>;

TEST(WaitingLine, ServesInTheOrderOfArrival) {
  WaitingLine<int> line(1);
  EXPECT_TRUE(line.Enter(7));
  EXPECT_FALSE(line.Enter(3));
  EXPECT_FALSE(line.Enter(5));
  EXPECT_EQ(line.Leave(7), Those{3});
  EXPECT_FALSE(line.Enter(7)) << "back at the end";
  EXPECT_EQ(line.Leave(3), Those{5});
  EXPECT_EQ(line.Leave(5), Those{7});
  EXPECT_EQ(line.Leave(7), Those{});
  EXPECT_TRUE(line.Enter(3)) << "nobody is left";
}

TEST(WaitingLine, HasSoManyPlaces) {
  WaitingLine<int> line(2);
  EXPECT_TRUE(line.Enter(1));
  EXPECT_TRUE(line.Enter(2));
  EXPECT_FALSE(line.Enter(3));
  EXPECT_EQ(line.Leave(2), Those{3});
  EXPECT_EQ(line.Leave(1), Those{});
  EXPECT_TRUE(line.Enter(4)) << "one is free";
  EXPECT_FALSE(line.Enter(5)) << "and only one";
}

TEST(WaitingLine, ALoneClientIsNotJoined) {
  WaitingLine<int> line(3);
  EXPECT_TRUE(line.Enter(1));
  EXPECT_TRUE(line.Enter(2, /*alone=*/true)) << "it may join";
  EXPECT_FALSE(line.Enter(3));
  EXPECT_FALSE(line.Enter(4, /*alone=*/true));
  EXPECT_FALSE(line.Enter(5));
  EXPECT_EQ(line.Leave(1), Those{});
  EXPECT_EQ(line.Leave(2), (Those{3, 4})) << "and 5 must not join 4";
  EXPECT_EQ(line.Leave(3), Those{});
  EXPECT_EQ(line.Leave(4), Those{5});
}

TEST(WaitingLine, AClientThatGivesUpLeavesNoGap) {
  WaitingLine<int> line(1);
  line.Enter(1);
  line.Enter(2);
  line.Enter(3);
  EXPECT_EQ(line.Leave(2), Those{});
  EXPECT_EQ(line.Leave(9), Those{}) << "it was never here";
  EXPECT_EQ(line.Leave(1), Those{3});
}

// ---- whose turn it is on a core ----

TEST(FairCore, TurnsToWhoComes) {
  FairCore core;
  EXPECT_FALSE(core.running());
  EXPECT_TRUE(core.Enter(4, 0us));
  EXPECT_EQ(core.running(), 4U);
  EXPECT_FALSE(core.Leave(4, 3us));
  EXPECT_FALSE(core.running());
}

TEST(FairCore, ServesEqualsInTheOrderOfArrival) {
  FairCore core;
  core.Enter(2, 0us);
  EXPECT_FALSE(core.Enter(7, 0us));
  EXPECT_FALSE(core.Enter(1, 0us));
  EXPECT_TRUE(core.Leave(2, 5us));
  EXPECT_EQ(core.running(), 7U);
  EXPECT_TRUE(core.Leave(7, 6us));
  EXPECT_EQ(core.running(), 1U);
}

TEST(FairCore, PrefersWhoHasUsedItLeast) {
  FairCore core;
  for (const auto& [who, use] : {std::pair{0U, 10us}, {1U, 4us}}) {
    core.Enter(who, 0us);
    core.Begin(0us, use);
    core.Leave(who, use);
  }
  core.Enter(2, 20us);
  core.Enter(0, 20us);
  core.Enter(1, 20us);
  EXPECT_TRUE(core.Leave(2, 20us));
  EXPECT_EQ(core.running(), 1U);
}

TEST(FairCore, InterruptsWhoHasUsedMoreThanWhoComes) {
  FairCore core;
  core.Enter(0, 0us);
  core.Begin(0us, 10us);
  EXPECT_TRUE(core.Enter(1, 3us));
  EXPECT_EQ(core.running(), 1U);
  EXPECT_EQ(core.left(0), 7us);
  core.Begin(3us, 5us);
  EXPECT_TRUE(core.Leave(1, 8us));
  EXPECT_EQ(core.running(), 0U);
  core.Begin(8us, core.left(0));
  EXPECT_FALSE(core.Enter(1, 9us)) << "it has used 5 us, and the other 4";
  EXPECT_TRUE(core.Leave(0, 15us));
  EXPECT_EQ(core.left(0), 0us);
  EXPECT_EQ(core.running(), 1U);
}

TEST(FairCore, DoesNotInterruptWorkThatHasNotBegunOrIsDone) {
  FairCore core;
  core.Enter(0, 0us);
  EXPECT_FALSE(core.Enter(1, 1us)) << "it has no work yet";
  core.Begin(5us, 10us);
  EXPECT_FALSE(core.Enter(2, 5us)) << "it begins";
  EXPECT_FALSE(core.Enter(3, 15us)) << "it ends";
  EXPECT_EQ(core.running(), 0U);
  EXPECT_EQ(core.left(1), 0us);
}

TEST(FairCore, GivesASleeperNoClaimToWhatItDidNotUse) {
  FairCore core;
  for (const Time from : {0us, 100us}) {
    core.Enter(0, from);
    core.Begin(from, 100us);
    core.Leave(0, from + 100us);
  }
  // 0 has used 200 us, and was last chosen when it had used 100.
  core.Enter(1, 200us);
  core.Begin(200us, 150us);
  EXPECT_FALSE(core.Enter(0, 300us)) << "both have used 200 us";
  EXPECT_TRUE(core.Leave(1, 350us));
  core.Begin(350us, 10us);
  EXPECT_FALSE(core.Enter(1, 355us)) << "250 us against 205";
}

TEST(FairCore, ForgetsTheWorkOfWhoGoesAway) {
  FairCore core;
  core.Enter(0, 0us);
  core.Begin(0us, 10us);
  core.Enter(1, 3us);
  EXPECT_FALSE(core.Leave(0, 4us)) << "it was waiting";
  EXPECT_EQ(core.left(0), 0us);
  EXPECT_FALSE(core.Leave(0, 4us)) << "it was away";
  EXPECT_FALSE(core.Leave(9, 4us)) << "it was never here";
  EXPECT_FALSE(core.Leave(1, 5us)) << "nobody waits";
}

}  // namespace
}  // namespace depfast::sim
