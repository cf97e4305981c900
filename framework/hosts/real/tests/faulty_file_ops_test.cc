// A disk that is slow for a while, on a clock of the test's own.
#include "real/slow_file_ops.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "support.h"

namespace depfast::real {
namespace {

constexpr std::int64_t kEver = INT64_MAX;

class SlowFileOpsTest : public ::testing::Test {
 protected:
  // As an injector writes them: until, delay, rate, share.
  void Inject(std::array<std::int64_t, 4> words) const {
    const Descriptor file = Checked(open(faults_.c_str(), O_WRONLY), "open");
    ASSERT_EQ(pwrite(file.get(), words.data(), sizeof words, 0), ssize_t{sizeof words});
  }

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

  TempDir temp_;
  const std::string faults_ = temp_ / "faults";
  Time now_{1s};  // the beginning of a period of 100 ms
  int sleeps_ = 0;
  int heal_at_sleep_ = 0;
  SlowFileOps ops_{OpenDataDirectory(temp_ / "data"), std::make_unique<DiskFaultFile>(faults_),
                   DiskClock{[this] { return now_; },
                             [this](Duration time) {
                               now_ += time;
                               if (++sleeps_ == heal_at_sleep_) Inject({});
                             }}};
  const int fd_ = ops_.Open("log", true);
};

TEST_F(SlowFileOpsTest, WithoutAFaultNothingWaits) {
  EXPECT_EQ(Append(1 << 20), 0ms);
  EXPECT_EQ(Sync(), 0ms);
}

TEST_F(SlowFileOpsTest, ADelayIsAddedToEachOperation) {
  Inject({kEver, Duration(40ms).count(), 0, 0});
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

TEST_F(SlowFileOpsTest, ARateLastsAsLongAsItsBytes) {
  Inject({kEver, 0, 128'000, 0});
  EXPECT_EQ(Append(32'000), 250ms);
  EXPECT_EQ(Sync(), 0ms) << "it moves no bytes of its own";
  std::string read(1000, ' ');
  EXPECT_EQ(Of([&] { EXPECT_EQ(ops_.Read(fd_, read.data(), 64'000, 31'360), 640); }), 5ms);
}

TEST_F(SlowFileOpsTest, AShareStopsTheDiskForTheRestOfEachPeriod) {
  Inject({kEver, 0, 1'000'000, 4});
  EXPECT_EQ(Append(3000), 3ms) << "of 4 ms";
  EXPECT_EQ(Append(3000), 99ms) << "1 ms is left, and 2 ms are in the next period";
  EXPECT_EQ(Append(10'000), 202ms) << "2 ms now, and the shares of two more periods";
}

TEST_F(SlowFileOpsTest, AFaultIsOverAtItsEnd) {
  Inject({Time(now_ + 25ms).count(), Duration(40ms).count(), 0, 0});
  EXPECT_EQ(Sync(), 30ms) << "it looks every 10 ms";
  EXPECT_EQ(Sync(), 0ms);
}

TEST_F(SlowFileOpsTest, AWaitThatIsHealedEnds) {
  Inject({kEver, Duration(1s).count(), 0, 0});
  heal_at_sleep_ = 3;
  EXPECT_EQ(Sync(), 3 * SlowFileOps::kPatience);
  EXPECT_EQ(Sync(), 0ms);
}

TEST_F(SlowFileOpsTest, AmountsOutsideTheirBoundsLeaveTheDiskAsItIs) {
  Inject({kEver, -1, -1, -1});
  EXPECT_EQ(Append(1000), 0ms);
  Inject({kEver, INT64_MAX, 0, 101});
  EXPECT_EQ(Append(1000), 0ms);
  std::filesystem::resize_file(faults_, 31);
  EXPECT_EQ(Append(1000), 0ms);
}

TEST_F(SlowFileOpsTest, ANewReplicaInheritsNoFault) {
  Inject({kEver, Duration(1s).count(), 0, 0});
  const DiskFaultFile mine(faults_);
  EXPECT_FALSE(mine.At(now_));
}

TEST_F(SlowFileOpsTest, AFileThatCannotBeMadeIsOneLine) {
  try {
    const DiskFaultFile file(temp_ / "no/such");
    FAIL() << "it was made";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("no/such': No such file"), std::string::npos);
  }
}

}  // namespace
}  // namespace depfast::real
