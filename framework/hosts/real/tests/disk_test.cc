#include "real/disk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "depfast/record_log.h"
#include "memory_files.h"
#include "real/reclaimer.h"
#include "support.h"

namespace depfast::real {
namespace {

// Files in memory whose calls are kept, in order, whose reads are short, and whose syncs can be
// blocked.
class WatchedOps final : public FileOps {
 public:
  // Shared with the test, which outlives the disk.
  struct Control {
    MemoryFiles files;
    std::mutex mutex;
    std::condition_variable changed;
    bool hold_syncs = false;
    int syncs_held = 0;                            // syncs that are blocked now
    std::vector<std::string> calls;                // that change the disk
    std::optional<std::size_t> next_append_short;  // bytes taken, once
  };

  explicit WatchedOps(Control& control) : control_(control), ops_(control.files.Open()) {}

  int Open(const std::string& file, bool create) override {
    const int fd = ops_->Open(file, create);
    names_[fd] = file;
    return fd;
  }
  void Close(int fd) override { ops_->Close(fd); }
  std::int64_t Size(int fd) override { return ops_->Size(fd); }
  ssize_t Append(int fd, std::span<const iovec> pieces) override {
    Note("append " + names_.at(fd));
    if (!control_.next_append_short) return ops_->Append(fd, pieces);
    const iovec part = {pieces[0].iov_base,
                        *std::exchange(control_.next_append_short, std::nullopt)};
    return ops_->Append(fd, {&part, 1});
  }
  ssize_t Read(int fd, char* to, std::size_t bytes, std::uint64_t offset) override {
    return ops_->Read(fd, to, std::min<std::size_t>(bytes, 7), offset);
  }
  int Truncate(int fd, std::uint64_t length) override { return ops_->Truncate(fd, length); }
  int Sync(int fd) override {
    Note("sync " + names_.at(fd));
    std::unique_lock lock(control_.mutex);
    ++control_.syncs_held;
    control_.changed.notify_all();
    control_.changed.wait(lock, [&] { return !control_.hold_syncs; });
    --control_.syncs_held;
    return ops_->Sync(fd);
  }
  int Rename(const std::string& from, const std::string& to) override {
    Note("rename " + from + " " + to);
    return ops_->Rename(from, to);
  }
  int Remove(const std::string& file) override { return ops_->Remove(file); }
  int SyncDirectory() override {
    Note("sync directory");
    return ops_->SyncDirectory();
  }

 private:
  void Note(std::string call) {
    const std::lock_guard lock(control_.mutex);
    control_.calls.push_back(std::move(call));
  }

  Control& control_;
  const std::unique_ptr<FileOps> ops_;
  std::map<int, std::string> names_;
};

IoRequest Append(std::uint64_t id, const std::string& file, const std::string& data,
                 bool sync = true) {
  return {.id = id, .sync = sync, .file = file, .to = {}, .data = MakeBytes(data)};
}

IoRequest Operation(std::uint64_t id, IoRequest::Kind kind, const std::string& file,
                    std::uint64_t length = IoRequest::kToTheEnd, const std::string& to = "") {
  const bool sync = kind != IoRequest::Kind::kRead;
  return {id, kind, sync, file, to, /*offset=*/0, length, /*data=*/nullptr};
}

// Waits for `count` completions.
std::vector<IoCompletion> Take(Disk& disk, std::size_t count) {
  std::vector<IoCompletion> all;
  while (all.size() < count) {
    pollfd poller = {disk.completion_fd(), POLLIN, 0};
    if (poll(&poller, 1, 30'000) <= 0) {
      ADD_FAILURE() << "only " << all.size() << " of " << count << " operations completed";
      return all;
    }
    for (auto& completion : disk.TakeCompletions()) all.push_back(std::move(completion));
  }
  return all;
}

std::vector<int> Errors(const std::vector<IoCompletion>& completions) {
  std::vector<int> errors;
  for (const auto& completion : completions) errors.push_back(completion.error);
  return errors;
}

class DiskTest : public testing::Test {
 protected:
  DiskTest() { disk.emplace(std::make_unique<WatchedOps>(control), counters); }

  // Runs the operations as one turn of the loop would submit them. Returns their errors.
  std::vector<int> Do(std::vector<IoRequest> requests) {
    const std::size_t count = requests.size();
    for (auto& request : requests) disk->Submit(std::move(request));
    disk->Flush();
    return Errors(Take(*disk, count));
  }

  void HoldSyncs(bool hold) {
    const std::lock_guard lock(control.mutex);
    control.hold_syncs = hold;
    control.changed.notify_all();
  }

  void AwaitHeldSync() {
    std::unique_lock lock(control.mutex);
    ASSERT_TRUE(control.changed.wait_for(lock, kPatience, [&] { return control.syncs_held > 0; }));
  }

  DiskCounters counters;
  WatchedOps::Control control;
  MemoryFiles& files = control.files;
  std::optional<Disk> disk;
};

using Kind = IoRequest::Kind;

TEST_F(DiskTest, OperationsTakeEffectAndCompleteInOrder) {
  for (auto& request :
       {Append(1, "log", "one "), Append(2, "log", "two "), Operation(3, Kind::kTruncate, "log", 4),
        Append(4, "log", "three"), Operation(5, Kind::kRead, "log")}) {
    disk->Submit(request);
  }
  disk->Flush();
  const auto done = Take(*disk, 5);
  ASSERT_EQ(done.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(done[i].id, i + 1);
  EXPECT_EQ(Errors(done), std::vector<int>(5, 0));
  EXPECT_EQ(*done[4].data, "one three");
}

TEST_F(DiskTest, APartOfAFileIsRead) {
  Do({Append(1, "log", "abcdefghijklmnopqrstuvwxyz")});
  const auto read = [&](std::uint64_t offset, std::uint64_t length) {
    IoRequest request = Operation(2, Kind::kRead, "log", length);
    request.offset = offset;
    disk->Submit(request);
    disk->Flush();
    const auto done = Take(*disk, 1);
    return done.empty() || done[0].data == nullptr ? "nothing" : *done[0].data;
  };
  EXPECT_EQ(read(2, 10), "cdefghijkl") << "in pieces of 7";
  EXPECT_EQ(read(0, 0), "");
  EXPECT_EQ(read(20, 7), "uvwxyz") << "up to the end";
  EXPECT_EQ(read(26, 1), "");
  EXPECT_EQ(read(IoRequest::kToTheEnd, IoRequest::kToTheEnd), "") << "behind the end";
}

TEST_F(DiskTest, RequestsQueuedDuringASyncShareTheNextOne) {
  HoldSyncs(true);
  disk->Submit(Append(1, "log", "first"));
  disk->Flush();
  AwaitHeldSync();
  for (std::uint64_t id = 2; id <= 51; ++id) {
    disk->Submit(Append(id, "log", "x"));
    disk->Flush();
  }
  EXPECT_TRUE(disk->TakeCompletions().empty()) << "the first sync is still under way";
  HoldSyncs(false);
  const auto done = Take(*disk, 51);
  EXPECT_EQ(Errors(done), std::vector<int>(51, 0));
  EXPECT_EQ(counters.syncs.value(), 2u);
  EXPECT_EQ(counters.writes.value(), 2u) << "fifty appends must be one write";
  EXPECT_EQ(counters.batches.value(), 2u);
  EXPECT_EQ(files.AfterPowerCut("log"), "first" + std::string(50, 'x'));
}

TEST_F(DiskTest, ASyncThatSomebodyAskedForCoversWhatCameBeforeInOtherFiles) {
  EXPECT_EQ(Do({Append(1, "a", "early", /*sync=*/false)}), std::vector<int>{0});
  EXPECT_EQ(counters.syncs.value(), 0u) << "nobody has asked";
  Do({Append(2, "b", "late", /*sync=*/true)});
  EXPECT_EQ(files.AfterPowerCut("a"), "early");
  EXPECT_EQ(files.AfterPowerCut("b"), "late");
}

TEST_F(DiskTest, ANewFilesNameIsMadeDurableToo) {
  Do({Append(1, "log", "a")});
  EXPECT_EQ(counters.directory_syncs.value(), 1u);
  Do({Append(2, "log", "b")});
  EXPECT_EQ(counters.directory_syncs.value(), 1u) << "the directory must be synced once only";
  Do({Append(3, "other", "c")});
  EXPECT_EQ(counters.directory_syncs.value(), 2u);
}

TEST_F(DiskTest, ARenamedFileIsSyncedBeforeItsNewNameAndTheDirectoryAfter) {
  Do({Append(1, "new", "state", /*sync=*/false), Operation(2, Kind::kRename, "new", 0, "state")});
  const std::lock_guard lock(control.mutex);
  EXPECT_EQ(control.calls, (std::vector<std::string>{"append new", "sync new", "rename new state",
                                                     "sync directory"}));
}

TEST_F(DiskTest, ARenamedFileIsAppendedToUnderItsNewName) {
  Do({Append(1, "state", "old"), Append(2, "new", "1"),
      Operation(3, Kind::kRename, "new", 0, "state"), Append(4, "state", "2")});
  EXPECT_EQ(files.Names(), std::vector<std::string>{"state"});
  EXPECT_EQ(files.Contents("state"), "12");
}

TEST_F(DiskTest, TheFirstFailureIsKeptInWords) {
  EXPECT_FALSE(disk->failure());
  Do({Operation(1, Kind::kRead, "no"), Append(2, "log", "good")});
  EXPECT_FALSE(disk->failure()) << "a missing file is none";
  files.FailNext(MemoryFiles::Kind::kSync, EIO);
  Do({Append(3, "log", "lost"), Append(4, "other", "behind it")});
  ASSERT_TRUE(disk->failure());
  EXPECT_EQ(ToString(*disk->failure()), "cannot sync log: Input/output error");
}

TEST_F(DiskTest, AMissingFileIsAnErrorAndBreaksNothing) {
  EXPECT_EQ(Do({Operation(1, Kind::kRead, "no"), Operation(2, Kind::kTruncate, "no", 0),
                Operation(3, Kind::kRename, "no", 0, "x"), Operation(4, Kind::kRemove, "no"),
                Append(5, "log", "a")}),
            (std::vector<int>{ENOENT, ENOENT, ENOENT, ENOENT, 0}));
}

TEST_F(DiskTest, AShortWriteIsContinued) {
  control.next_append_short = 3;
  EXPECT_EQ(Do({Append(1, "log", "abcdef"), Append(2, "log", "ghi")}), (std::vector<int>{0, 0}));
  EXPECT_EQ(files.AfterPowerCut("log"), "abcdefghi");
}

TEST_F(DiskTest, AFullDiskFailsTheWriteAndEverythingBehindIt) {
  Do({Append(1, "log", "good")});
  files.FailNext(MemoryFiles::Kind::kShortWrite, ENOSPC);
  EXPECT_EQ(Do({Append(2, "log", "torn")}), std::vector<int>{ENOSPC});
  EXPECT_EQ(Do({Append(3, "log", "behind a torn record")}), std::vector<int>{ENOSPC});
  EXPECT_EQ(Do({Append(4, "other", "vouches for what came before")}), std::vector<int>{ENOSPC});
  EXPECT_EQ(Do({Operation(5, Kind::kTruncate, "log", 4)}), std::vector<int>{ENOSPC});
  EXPECT_EQ(files.Contents("log"), "goodto");
  EXPECT_EQ(files.Names(), std::vector<std::string>{"log"});
}

TEST_F(DiskTest, NoFileIsReplacedBehindAFailedWrite) {
  Do({Append(1, "log", "all"), Append(2, "state.new", "first part")});
  files.FailNext(MemoryFiles::Kind::kWrite, ENOSPC);
  EXPECT_EQ(
      Do({Append(3, "state.new", "the rest"), Operation(4, Kind::kRename, "state.new", 0, "state"),
          Append(5, "log.new", "less"), Operation(6, Kind::kRename, "log.new", 0, "log"),
          Operation(7, Kind::kRemove, "log")}),
      (std::vector<int>{ENOSPC, ENOSPC, ENOSPC, ENOSPC, ENOSPC}));
  EXPECT_EQ(files.Contents("log"), "all");
  EXPECT_EQ(files.Names(), (std::vector<std::string>{"log", "state.new"}));
}

TEST_F(DiskTest, AnInputOutputErrorFailsAllThatSharedTheWrite) {
  files.FailNext(MemoryFiles::Kind::kWrite, EIO);
  EXPECT_EQ(Do({Append(1, "log", "a"), Append(2, "log", "b")}), (std::vector<int>{EIO, EIO}));
  EXPECT_EQ(counters.errors.value(), 2u);
}

TEST_F(DiskTest, AFailedSyncIsNeverRepeatedAndPoisonsTheFiles) {
  Do({Append(1, "log", "good")});
  files.FailNext(MemoryFiles::Kind::kSync, EIO);
  EXPECT_EQ(Do({Append(2, "log", "lost"), Append(3, "log", "lost too")}),
            (std::vector<int>{EIO, EIO}));
  const auto syncs = counters.syncs.value();
  // The next fdatasync would report success although the data is lost.
  EXPECT_EQ(Do({Append(4, "log", "more")}), std::vector<int>{EIO});
  EXPECT_EQ(Do({Operation(5, Kind::kTruncate, "log", 4)}), std::vector<int>{EIO});
  EXPECT_EQ(Do({Operation(6, Kind::kRead, "log")}), std::vector<int>{EIO});
  EXPECT_EQ(counters.syncs.value(), syncs);
  EXPECT_EQ(Do({Append(7, "other", "x")}), std::vector<int>{EIO}) << "the log before it is lost";
  EXPECT_EQ(Do({Operation(8, Kind::kRemove, "log")}), std::vector<int>{EIO});
}

TEST_F(DiskTest, AnUnsyncedAppendThatASyncLosesFailsThatSync) {
  Do({Append(1, "a", "quiet", /*sync=*/false)});
  files.FailNext(MemoryFiles::Kind::kSync, EIO);
  EXPECT_EQ(Do({Append(2, "b", "loud", /*sync=*/true)}), std::vector<int>{EIO});
}

TEST_F(DiskTest, AFailedDirectorySyncIsRemembered) {
  files.FailNext(MemoryFiles::Kind::kSyncDirectory, EIO);
  EXPECT_EQ(Do({Append(1, "log", "a")}), std::vector<int>{EIO});
  EXPECT_EQ(Do({Append(2, "log", "b")}), std::vector<int>{EIO});
}

TEST_F(DiskTest, DataOfAnEarlierLifeIsSyncedBeforeItIsRead) {
  ASSERT_GE(files.Open()->Open("log", /*create=*/true), 0);
  ASSERT_EQ(files.Open()->SyncDirectory(), 0);
  files.Change("log", "written, not synced, killed");
  Do({Operation(1, Kind::kRead, "log")});
  EXPECT_EQ(files.AfterPowerCut("log"), "written, not synced, killed");
}

TEST_F(DiskTest, StopFinishesWhatWasSubmitted) {
  HoldSyncs(true);
  disk->Submit(Append(1, "log", "first "));
  disk->Flush();
  AwaitHeldSync();
  disk->Submit(Append(2, "log", "last"));
  HoldSyncs(false);
  disk->Stop();
  EXPECT_EQ(files.AfterPowerCut("log"), "first last");
}

// --- on a real directory ---

TEST(DataDirectory, IsCreatedWithItsParentsAndHoldsTheFiles) {
  TempDir temp;
  DiskCounters counters;
  Disk disk(OpenDataDirectory(temp / "a/b/"), counters);
  disk.Submit(Append(1, "log", "hello"));
  disk.Submit(Operation(2, Kind::kRename, "log", 0, "state"));
  disk.Submit(Append(3, "state", " world"));
  disk.Submit(Operation(4, Kind::kTruncate, "state", 8));
  disk.Submit(Append(5, "gone", "x"));
  disk.Submit(Operation(6, Kind::kRemove, "gone"));
  disk.Submit(Operation(7, Kind::kRead, "state"));
  disk.Flush();
  const auto done = Take(disk, 7);
  EXPECT_EQ(Errors(done), std::vector<int>(7, 0));
  EXPECT_EQ(*done.back().data, "hello wo");
  EXPECT_EQ(Contents(temp / "a/b/state"), "hello wo");
  EXPECT_FALSE(std::filesystem::exists(temp / "a/b/gone"));
}

// Descriptors of the test's own show what is left of files that have no name any more.
class ReplacedFiles : public testing::Test {
 protected:
  static constexpr off_t kBytes = 3 * Reclaimer::kStepBytes + 1;

  ReplacedFiles() : disk_(OpenDataDirectory(temp_ / "data"), counters_) {}

  Descriptor MakeLarge(const std::string& name) {
    disk_.Submit(Append(1, name, std::string(kBytes, 'x')));
    disk_.Flush();
    EXPECT_EQ(Errors(Take(disk_, 1)), std::vector<int>{0});
    return Checked(open((temp_ / ("data/" + name)).c_str(), O_RDONLY | O_CLOEXEC), name);
  }

  void Replace(const std::string& name, bool sync = true) {
    IoRequest rename = Operation(3, Kind::kRename, "new", 0, name);
    rename.sync = sync;
    disk_.Submit(Append(2, "new", "y", sync));
    disk_.Submit(std::move(rename));
    disk_.Submit(Append(4, name, "z", sync));
    disk_.Flush();
    EXPECT_EQ(Errors(Take(disk_, 3)), std::vector<int>(3, 0));
  }

  static off_t Size(const Descriptor& file) {
    struct stat status = {};
    return fstat(file.get(), &status) == 0 ? status.st_size : -1;
  }

  TempDir temp_;
  DiskCounters counters_;
  Disk disk_;
};

TEST_F(ReplacedFiles, AreFreedInTurn) {
  const Descriptor first = MakeLarge("first");
  const Descriptor second = MakeLarge("second");
  Replace("first");
  Replace("second");
  EXPECT_TRUE(Eventually([&] { return Size(second) == 0; }));
  EXPECT_EQ(Size(first), 0);
  EXPECT_EQ(Contents(temp_ / "data/first"), "yz");
}

TEST_F(ReplacedFiles, AreKeptWhileAPowerCutMayBringThemBack) {
  const Descriptor file = MakeLarge("file");
  Replace("file", /*sync=*/false);
  disk_.Stop();
  EXPECT_EQ(Size(file), kBytes);
}

TEST_F(ReplacedFiles, AreKeptWhileTheyHaveAnotherName) {
  const Descriptor linked = MakeLarge("linked");
  const Descriptor other = MakeLarge("other");
  std::filesystem::create_hard_link(temp_ / "data/linked", temp_ / "data/link");
  Replace("linked");
  Replace("other");
  EXPECT_TRUE(Eventually([&] { return Size(other) == 0; }));
  EXPECT_EQ(Size(linked), kBytes);
}

TEST(DataDirectory, IsLockedWhileInUse) {
  TempDir temp;
  auto first = OpenDataDirectory(temp / "data");
  try {
    std::ignore = OpenDataDirectory(temp / "data");
    FAIL() << "the data directory was not locked";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("is in use by another replica"), std::string::npos);
  }
  first.reset();
  EXPECT_NO_THROW(std::ignore = OpenDataDirectory(temp / "data"));
}

TEST(DataDirectory, ATornTailIsReadTruncatedAndAppendedTo) {
  TempDir temp;
  std::string log;
  AppendRecord(log, [&] { log += "one"; });
  AppendRecord(log, [&] { log += "two"; });
  const std::size_t whole = log.size();
  AppendRecord(log, [&] { log += "three"; });
  log.resize(log.size() - 2);
  std::filesystem::create_directory(temp / "data");
  std::ofstream(temp / "data/log", std::ios::binary) << log;

  DiskCounters counters;
  Disk disk(OpenDataDirectory(temp / "data"), counters);
  disk.Submit(Operation(1, Kind::kRead, "log"));
  disk.Flush();
  const auto read = Take(disk, 1);
  std::vector<std::string> records;
  const auto visit = [&](std::string_view record) { records.emplace_back(record); };
  ASSERT_EQ(ReadRecords(*read.at(0).data, visit), whole);
  std::string next;
  AppendRecord(next, [&] { next += "three again"; });
  disk.Submit(Operation(2, Kind::kTruncate, "log", whole));
  disk.Submit(Append(3, "log", next));
  disk.Flush();
  EXPECT_EQ(Errors(Take(disk, 2)), (std::vector<int>{0, 0}));
  records.clear();
  ReadRecords(Contents(temp / "data/log"), visit);
  EXPECT_EQ(records, (std::vector<std::string>{"one", "two", "three again"}));
}

}  // namespace
}  // namespace depfast::real
