// A program whose syncs another process makes: their ends and results, and the process that ends.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "injection.h"
#include "process.h"
#include "support.h"

namespace depfast::real {
namespace {

using faults::FaultKind;

class SlowSyncsTest : public ::testing::Test {
 protected:
  static Descriptor Pipe(const std::string& path) {
    if (mkfifo(path.c_str(), 0644) != 0) ThrowErrno("mkfifo");
    return Checked(open(path.c_str(), O_RDWR | O_CLOEXEC), "open");
  }
  std::vector<std::string> Running(const std::vector<std::string>& program) const {
    std::vector<std::string> words = {"--faults", faults_, "--counts", counts_, "--"};
    words.insert(words.end(), program.begin(), program.end());
    return words;
  }
  std::vector<std::string> Syncing(const std::string& call = "fdatasync") const {
    return Running({SYNCING_CHILD, temp_ / "file", temp_ / "go", temp_ / "healed", call});
  }
  bool HasPrinted(const std::string& text) const {
    return Eventually([&] { return Contents(log_) == text; });
  }
  // Readable when the child has ended.
  static Descriptor ChildOf(const Process& process) {
    const std::string pid = std::to_string(process.pid());
    const std::string children = Contents("/proc/" + pid + "/task/" + pid + "/children");
    return Checked(static_cast<int>(syscall(SYS_pidfd_open, std::stoi(children), 0)), "pidfd_open");
  }
  // Whether a sync has been made, and waits for the rest of its time: its thread sleeps.
  static bool ASyncWaits(const Process& process) {
    const std::string tasks = "/proc/" + std::to_string(process.pid()) + "/task";
    const std::string sleeps = std::to_string(SYS_clock_nanosleep) + " ";
    return std::ranges::any_of(std::filesystem::directory_iterator(tasks), [&](const auto& task) {
      return Contents(task.path() / "syscall").starts_with(sleeps);
    });
  }
  // Expects the number of all syncs, and of those that a fault made longer.
  void ExpectCounts(std::int64_t all, std::int64_t slow) const {
    std::array<std::int64_t, 2> counts{};
    std::ifstream(counts_, std::ios::binary).read(reinterpret_cast<char*>(&counts), sizeof counts);
    EXPECT_EQ(counts, (std::array{all, slow}));
  }
  void Go() const { ASSERT_EQ(write(go_.get(), "x", 1), 1); }
  // One thread's syncs end, and that of the other thread when the fault is healed.
  void OneThreadIsSlow(const std::string& call) const {
    Process process(SLOW_SYNCS, Syncing(call), log_);
    ASSERT_TRUE(HasPrinted("ready\n")) << Contents(log_);
    Inject(faults_, FaultKind::kDiskSlow, 1);
    Go();
    EXPECT_TRUE(HasPrinted("ready\nearly\n")) << Contents(log_);
    // On a busy disk the sync that pays may still be under way.
    EXPECT_TRUE(Eventually([&] { return ASyncWaits(process); }));
    std::ofstream(temp_ / "healed").put('x');
    Heal(faults_, FaultKind::kDiskSlow);
    EXPECT_EQ(process.Wait(), 7);
    EXPECT_EQ(Contents(log_), "ready\nearly\nlate\n");
    ExpectCounts(kSyncs, 1);
  }

  static constexpr std::int64_t kSyncs = 7;  // of a syncing child; one more is of no file
  const TempDir temp_{std::filesystem::current_path()};  // what is in memory is never written
  const std::string faults_ = temp_ / "faults";
  const std::string counts_ = temp_ / "counts";
  const std::string log_ = temp_ / "log";
  const Descriptor go_ = Pipe(temp_ / "go");
};

TEST_F(SlowSyncsTest, WithoutAFaultTheProgramRunsAsEverAndTheCountGoesOnAtEachStart) {
  for (int i = 1; i <= 2; ++i) {
    Process process(SLOW_SYNCS, Syncing(), log_);
    Go();
    EXPECT_EQ(process.Wait(), 7);
    EXPECT_EQ(Contents(log_), "ready\nearly\nearly\n");
    ExpectCounts(i * kSyncs, 0);
  }
}

TEST_F(SlowSyncsTest, ASyncOfAChildIsOfTheChildsOwnFile) {
  const std::string words = std::string(SYNCING_CHILD) + " '" + (temp_ / "file") + "' '" +
                            (temp_ / "go") + "' '" + (temp_ / "healed") + "' fsync; exit $?";
  Process process(SLOW_SYNCS, Running({"/bin/sh", "-c", words}), log_);
  Go();
  EXPECT_EQ(process.Wait(), 7);
  EXPECT_EQ(Contents(log_), "ready\nearly\nearly\n");
  ExpectCounts(kSyncs, 0);
}

TEST_F(SlowSyncsTest, AnFdatasyncPaysForTheBytesAndDelaysNoOtherThread) {
  OneThreadIsSlow("fdatasync");
}
TEST_F(SlowSyncsTest, AnFsyncPaysForTheBytesAndDelaysNoOtherThread) { OneThreadIsSlow("fsync"); }

TEST_F(SlowSyncsTest, TheProgramEndsWithIt) {
  Process process(SLOW_SYNCS, Syncing(), log_);
  ASSERT_TRUE(HasPrinted("ready\n")) << Contents(log_);
  const Descriptor child = ChildOf(process);
  process.Signal(SIGKILL);
  process.Wait();
  pollfd end = {child.get(), POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, std::chrono::milliseconds(kPatience).count()), 1);
}

TEST_F(SlowSyncsTest, ASignalThatEndsTheProgramIsItsStatus) {
  Process process(SLOW_SYNCS, Running({"/bin/sh", "-c", "kill -KILL $$"}), log_);
  EXPECT_EQ(process.Wait(), 128 + SIGKILL);
}

TEST_F(SlowSyncsTest, BadUsageIsOneLine) {
  const std::vector<std::pair<std::vector<std::string>, int>> cases = {
      {{"--faults", faults_}, 2},
      {{"true"}, 2},
      {{"--faults", temp_ / "no/faults", "--", "true"}, 1},
      {Running({temp_ / "no program"}), 127},
  };
  for (const auto& [words, status] : cases) {
    Process process(SLOW_SYNCS, words, log_);
    EXPECT_EQ(process.Wait(), status);
    const std::string said = Contents(log_);
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
}

}  // namespace
}  // namespace depfast::real
