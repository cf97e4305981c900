// Operations of several threads on one slow disk, on a clock of the test's own.
#include "real/slow_disk.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "injection.h"
#include "support.h"

namespace depfast::real {
namespace {

using faults::FaultKind;

class SlowDiskTest : public ::testing::Test {
 protected:
  // The time from `began` to the end of an operation, by the bytes that it has moved.
  Duration Finish(Time began, std::int64_t bytes) {
    disk_.Finish(began, bytes);
    return now_ - began;
  }

  TempDir temp_;
  const std::string faults_ = temp_ / "faults";
  Time now_{1s};
  Time heal_at_ = kEver;
  SlowDisk disk_{std::make_shared<const FaultFile>(faults_),
                 DiskClock{[this] { return now_; },
                           [this](Duration time) {
                             now_ += time;
                             if (now_ >= heal_at_) Heal(faults_, FaultKind::kDiskSlow);
                           }}};
};

TEST_F(SlowDiskTest, ItMovesTheBytesOfOneThreadAfterThoseOfAnother) {
  Inject(faults_, FaultKind::kDiskSlow, 1'000'000);
  const Time began = now_;
  EXPECT_EQ(Finish(began, 50'000), 50ms);
  EXPECT_EQ(Finish(began, 50'000), 100ms);
}

TEST_F(SlowDiskTest, AHealedDiskHasNothingLeftToMove) {
  Inject(faults_, FaultKind::kDiskSlow, 1);
  heal_at_ = now_ + 30ms;
  EXPECT_EQ(Finish(now_, 3600), 30ms);
  Inject(faults_, FaultKind::kDiskSlow, 1'000'000);
  heal_at_ = kEver;
  EXPECT_EQ(Finish(now_, 50'000), 50ms);
}

}  // namespace
}  // namespace depfast::real
