// A disk that is slow or fails for a while, on a clock of the test's own.
#include "real/faulty_file_ops.h"

#include <gtest/gtest.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "injection.h"
#include "support.h"

namespace depfast::real {
namespace {

using faults::FaultKind;

constexpr std::int64_t kMs = 1'000'000;

class FaultyFileOpsTest : public ::testing::Test {
 protected:
  // The time that an operation takes.
  template <typename Operation>
  Duration Of(const Operation& operation) {
    const Time began = now_;
    operation();
    return now_ - began;
  }
  Duration Append(std::size_t bytes) {
    const std::string text(bytes, 'x');
    const iovec piece{const_cast<char*>(text.data()), text.size()};
    return Of([&] { EXPECT_EQ(ops_.Append(fd_, {&piece, 1}), static_cast<ssize_t>(bytes)); });
  }
  Duration Sync() {
    return Of([&] { EXPECT_EQ(ops_.Sync(fd_), 0); });
  }

  // The number of `count` operations that fail with this errno.
  template <typename Operation>
  static int FailuresOf(int count, int error, const Operation& operation) {
    int failures = 0;
    for (int i = 0; i < count; ++i) failures += operation() == -error ? 1 : 0;
    return failures;
  }
  ssize_t AppendOnce(std::size_t bytes) {
    const std::string text(bytes, 'x');
    const iovec piece{const_cast<char*>(text.data()), text.size()};
    return ops_.Append(fd_, {&piece, 1});
  }

  TempDir temp_;
  const std::string faults_ = temp_ / "faults";
  Time now_{1s};  // the beginning of a period of 100 ms
  int sleeps_ = 0;
  int heal_at_sleep_ = 0;
  FaultyFileOps ops_{OpenDataDirectory(temp_ / "data"), temp_ / "data",
                     std::make_shared<const FaultFile>(faults_), RandomStream(1),
                     DiskClock{[this] { return now_; },
                               [this](Duration time) {
                                 now_ += time;
                                 if (++sleeps_ == heal_at_sleep_)
                                   Heal(faults_, FaultKind::kFsDelay);
                               }}};
  const int fd_ = ops_.Open("log", true);
};

TEST_F(FaultyFileOpsTest, WithoutAFaultNothingWaits) {
  EXPECT_EQ(Append(1 << 20), 0ms);
  EXPECT_EQ(Sync(), 0ms);
}

TEST_F(FaultyFileOpsTest, ADelayIsAddedToEachOperation) {
  Inject(faults_, FaultKind::kFsDelay, 40 * kMs);
  EXPECT_EQ(Append(100), 40ms);
  EXPECT_EQ(Sync(), 40ms);
  EXPECT_EQ(Of([&] { EXPECT_EQ(ops_.Size(fd_), 100); }), 40ms);
  std::array<char, 10> read{};
  EXPECT_EQ(Of([&] { EXPECT_EQ(ops_.Read(fd_, read.data(), 10, 0), 10); }), 40ms);
  EXPECT_EQ(Of([&] { EXPECT_EQ(ops_.Truncate(fd_, 5), 0); }), 40ms);
  EXPECT_EQ(Of([&] { EXPECT_EQ(ops_.Rename("log", "old"), 0); }), 40ms);
  EXPECT_EQ(Of([&] { EXPECT_EQ(ops_.Remove("old"), 0); }), 40ms);
  EXPECT_EQ(Of([&] { EXPECT_EQ(ops_.SyncDirectory(), 0); }), 40ms);
  EXPECT_EQ(Of([&] { EXPECT_EQ(ops_.Open("old", false), -ENOENT); }), 40ms) << "errors, too";
}

TEST_F(FaultyFileOpsTest, ARateLastsAsLongAsItsBytes) {
  Inject(faults_, FaultKind::kDiskSlow, 128'000);
  EXPECT_EQ(Append(32'000), 250ms);
  EXPECT_EQ(Sync(), 0ms) << "it moves no bytes of its own";
  std::string read(1000, ' ');
  EXPECT_EQ(Of([&] { EXPECT_EQ(ops_.Read(fd_, read.data(), 64'000, 31'360), 640); }), 5ms);
}

TEST_F(FaultyFileOpsTest, AShareStopsTheDiskForTheRestOfEachPeriod) {
  Inject(faults_, FaultKind::kDiskSlow, 1'000'000);
  Inject(faults_, FaultKind::kDiskContention, 4);
  EXPECT_EQ(Append(3000), 3ms) << "of 4 ms";
  EXPECT_EQ(Append(3000), 99ms) << "1 ms is left, and 2 ms are in the next period";
  EXPECT_EQ(Append(10'000), 202ms) << "2 ms now, and the shares of two more periods";
}

TEST_F(FaultyFileOpsTest, AFaultIsOverAtItsEnd) {
  Inject(faults_, FaultKind::kFsDelay, 40 * kMs, now_ + 25ms);
  EXPECT_EQ(Sync(), 30ms) << "it looks every 10 ms";
  EXPECT_EQ(Sync(), 0ms);
}

TEST_F(FaultyFileOpsTest, AWaitThatIsHealedEnds) {
  Inject(faults_, FaultKind::kFsDelay, 1000 * kMs);
  heal_at_sleep_ = 3;
  EXPECT_EQ(Sync(), 3 * SlowDisk::kPatience);
  EXPECT_EQ(Sync(), 0ms);
}

TEST_F(FaultyFileOpsTest, AmountsOutsideTheirBoundsLeaveTheDiskAsItIs) {
  for (const std::int64_t amount : {std::int64_t{-1}, INT64_MAX}) {
    Inject(faults_, FaultKind::kFsDelay, amount);
    Inject(faults_, FaultKind::kDiskSlow, amount);
    Inject(faults_, FaultKind::kDiskContention, amount);
    Inject(faults_, FaultKind::kDiskError, amount);
    Inject(faults_, FaultKind::kDiskFull, amount);
    EXPECT_EQ(Append(1000), 0ms) << amount;
  }
}

TEST_F(FaultyFileOpsTest, AFileThatIsTooShortHoldsNoFault) {
  Inject(faults_, FaultKind::kFsDelay, 40 * kMs);
  std::filesystem::resize_file(faults_, std::filesystem::file_size(faults_) - 1);
  EXPECT_EQ(Append(1000), 0ms);
}

TEST_F(FaultyFileOpsTest, AnErrorHitsItsShareOfTheChanges) {
  Inject(faults_, FaultKind::kDiskError, 300);
  const int truncates = FailuresOf(1000, EIO, [&] { return ops_.Truncate(fd_, 0); });
  EXPECT_NEAR(truncates, 300, 60);
  // Half of the failures are of the append, and half are of the sync behind it.
  const int appends = FailuresOf(1000, EIO, [&] { return AppendOnce(100); });
  EXPECT_NEAR(appends, 150, 50);
  const int pairs = FailuresOf(1000, EIO, [&] {
    const ssize_t appended = AppendOnce(100);
    return appended < 0 ? static_cast<int>(appended) : ops_.Sync(fd_);
  });
  EXPECT_NEAR(pairs, 300, 60);
  EXPECT_EQ(FailuresOf(1000, EIO, [&] { return ops_.Sync(fd_); }), 0) << "it changes nothing";
}

TEST_F(FaultyFileOpsTest, OfAFailedAppendAnyFirstPartMayBeOnDisk) {
  Inject(faults_, FaultKind::kDiskError, 1000);
  std::int64_t before = 0;
  std::int64_t parts = 0;
  for (int i = 0; i < 200; ++i) {
    const ssize_t appended = AppendOnce(1000);
    const std::int64_t size = ops_.Size(fd_);
    if (appended > 0) {
      EXPECT_EQ(ops_.Sync(fd_), -EIO);
      EXPECT_EQ(size - before, 1000);
    } else {
      EXPECT_EQ(appended, -EIO);
      EXPECT_LE(size - before, 1000);
      parts += size - before > 0 && size - before < 1000 ? 1 : 0;
    }
    before = size;
  }
  EXPECT_GT(parts, 50);
}

TEST_F(FaultyFileOpsTest, AFullDiskHasRoomForItsBytes) {
  const int other = ops_.Open("other", true);
  Inject(faults_, FaultKind::kDiskFull, 1000);
  EXPECT_EQ(AppendOnce(600), 600);
  const iovec piece{const_cast<char*>("0123456789"), 10};
  EXPECT_EQ(ops_.Append(other, {&piece, 1}), 10);
  EXPECT_EQ(AppendOnce(600), -ENOSPC);
  EXPECT_EQ(ops_.Size(fd_), 990) << "the append fills the free room";
  EXPECT_EQ(ops_.Append(other, {&piece, 1}), -ENOSPC);
  Heal(faults_, FaultKind::kDiskFull);
  EXPECT_EQ(AppendOnce(600), 600);
}

TEST_F(FaultyFileOpsTest, ANewReplicaInheritsNoFault) {
  Inject(faults_, FaultKind::kFsDelay, 1000 * kMs);
  const FaultFile mine(faults_);
  EXPECT_TRUE(mine.At(now_).empty());
}

TEST_F(FaultyFileOpsTest, AFileThatCannotBeMadeIsOneLine) {
  try {
    const FaultFile file(temp_ / "no/such");
    FAIL() << "it was made";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("no/such': No such file"), std::string::npos);
  }
}

}  // namespace
}  // namespace depfast::real
