// Quota alone: the moments at which work stops and goes on, and the work that stops.
#include "faults/quota.h"

#include <gtest/gtest.h>

namespace depfast::faults {
namespace {

TEST(Quota, WorkWithinTheShareIsNotSlowed) {
  Quota quota;
  EXPECT_EQ(quota.Spend(3ms, 4ms, 10), 4ms);
  EXPECT_EQ(quota.Spend(50ms, 6ms, 10), 6ms) << "the rest of the share, unused until now";
}

TEST(Quota, WorkBeyondTheShareWaitsForTheNextPeriod) {
  Quota quota;
  EXPECT_EQ(quota.Spend(3ms, 10ms, 10), 10ms);
  EXPECT_EQ(quota.Spend(13ms, 1ms, 10), 87ms + 1ms) << "stopped until 100 ms";
  EXPECT_EQ(quota.Spend(101ms, 10ms, 10), 99ms + 1ms) << "9 ms at once, 1 ms from 200 ms on";
}

TEST(Quota, LongWorkIsStoppedInEveryPeriod) {
  Quota quota;
  EXPECT_EQ(quota.Spend(0ms, 35ms, 10), 305ms);
}

TEST(Quota, WhatAPeriodHasLeftIsNotKept) {
  Quota quota;
  EXPECT_EQ(quota.Spend(950ms, 11ms, 10), 50ms + 1ms);
  EXPECT_EQ(quota.Spend(2095ms, 15ms, 10), 15ms) << "5 ms before 2.1 s, and 10 ms after it";
  EXPECT_EQ(quota.Spend(2110ms, 1ms, 10), 90ms + 1ms);
}

TEST(Quota, IsOneForAllThreads) {
  Quota quota;
  EXPECT_EQ(quota.Spend(0ms, 15ms, 10), 105ms);
  EXPECT_EQ(quota.Spend(1ms, 6ms, 10), 99ms + 100ms + 1ms)
      << "of the second period 5 ms are left: the sixth waits for the third";
}

TEST(Quota, AFullShareStopsNothingAndSpendsNothing) {
  Quota quota;
  EXPECT_EQ(quota.Spend(0ms, 1s, 100), 1s);
  EXPECT_EQ(quota.Spend(0ms, 10ms, 10), 10ms);
  EXPECT_EQ(quota.Spend(20ms, 1ms, 5), 81ms) << "a smaller share is spent already";
}

}  // namespace
}  // namespace depfast::faults
