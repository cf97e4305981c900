// A lane's log of lab 5: when its replica heard of an entry.
#include <gtest/gtest.h>

#include "lane_log.h"

namespace depfast::copilot {
namespace {

constexpr Time kNever{-1};

TEST(LaneLogHears, OfAnEntryOnce) {
  LaneLog log;
  log.Hear(3, 10ms);
  log.Hear(3, 20ms);
  EXPECT_EQ(log.HeardAt(3, kNever), 10ms);
  EXPECT_EQ(log.HeardAt(4, kNever), kNever);
  EXPECT_EQ(log.latest_known(), 3U);
}

TEST(LaneLogHears, OfEarlierEntriesByALaterOne) {
  LaneLog log;
  log.Hear(2, 10ms);
  log.Hear(5, 20ms);
  log.Hear(4, 30ms);
  EXPECT_EQ(log.HeardAt(1, kNever), 10ms);
  EXPECT_EQ(log.HeardAt(3, kNever), 20ms);
  EXPECT_EQ(log.HeardAt(4, kNever), 20ms);
}

TEST(LaneLogHears, OfNothingThatIsThrownAway) {
  LaneLog log;
  for (EntryIndex index = 1; index <= 3; ++index) {
    log.Hear(index, Time(index));
    log.Set(index, {.kind = Record::Kind::kCommitted});
  }
  log.TruncateUpTo(2);
  EXPECT_EQ(log.HeardAt(1, kNever), Time(3));
  log.Reset(7, 7);
  log.Hear(7, 40ms);
  EXPECT_EQ(log.HeardAt(1, kNever), kNever);
}

}  // namespace
}  // namespace depfast::copilot
