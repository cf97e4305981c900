// A replica whose disk fails loses nothing that it has acknowledged, even if its code ignores
// errors.
#include "real/disk_failure.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include "echo_service.h"
#include "memory_files.h"
#include "real/disk_space.h"
#include "running_host.h"
#include "support.h"

namespace depfast::real {
namespace {

using FileCall = MemoryFiles::Kind;

// A log with a snapshot that never looks whether an operation has succeeded, and acknowledges
// everything that the disk has answered.
class CarelessLog final : public Service {
 public:
  explicit CarelessLog(Runtime& runtime) : runtime_(runtime) {}

  void Start() override {
    runtime_.rpc().Handle<Write>([this](PeerId, const Write& request) {
      recovered_->Wait();
      Take(request.text);
      return TextReply{"ok"};
    });
    runtime_.Spawn("recover", [this] {
      std::ignore = runtime_.storage().Remove("snapshot.new");
      state_ = ReadAll("snapshot") + ReadAll("log");
      recovered_->Add();
    });
  }

 private:
  static constexpr int kWritesPerSnapshot = 4;

  std::string ReadAll(const std::string& file) {
    const auto read = runtime_.storage().Read(file);
    return read->Wait() == Outcome::kReady ? read->data() : "";
  }

  void Take(const std::string& text) {
    state_ += text;
    Storage& storage = runtime_.storage();
    auto last = storage.Append("log", text, Storage::Sync::kYes);
    if (++writes_ % kWritesPerSnapshot == 0) {
      std::ignore = storage.Append("snapshot.new", state_, Storage::Sync::kYes);
      std::ignore = storage.Rename("snapshot.new", "snapshot");
      std::ignore = storage.Truncate("log", 0);
      std::ignore = storage.Append("trash", text, Storage::Sync::kNo);
      last = storage.Remove("trash");
    }
    last->Wait();
  }

  Runtime& runtime_;
  std::shared_ptr<IntEvent> recovered_ = std::make_shared<IntEvent>("recovery", 1);
  std::string state_;
  int writes_ = 0;
};

class DiskFailures : public testing::TestWithParam<std::tuple<FileCall, int>> {
 protected:
  RealHostOptions Options() {
    auto [listener, endpoint] = ListenAnywhere();
    RealHostOptions options;
    options.replicas = {endpoint};
    options.listen_fd = dup(listener.get());
    options.data_dir = "in memory";
    options.look_for_room_every = 1ms;
    options.open_files = [this](const std::string&) { return files_.Open(); };
    options.on_log = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      log_ += line + "\n";
    };
    return options;
  }
  static std::unique_ptr<Service> MakeLog(Runtime& runtime) {
    return std::make_unique<CarelessLog>(runtime);
  }

  // Writes a new text until a write has no answer. Fails if `writes_max` writes have one.
  void WriteUntilRefused(const Endpoint& replica, int writes_max) {
    for (int i = 0; i < writes_max; ++i) {
      if (!TryWrite(replica)) return;
    }
    ADD_FAILURE() << writes_max << " writes were acknowledged";
  }

  bool TryWrite(const Endpoint& replica) {
    const std::string text = "[" + std::to_string(++written_) + "]";
    try {
      Client client(replica);
      if (CallText(client, Write{text}) != "ok") return false;
    } catch (const std::system_error&) {  // the replica is out of service
      return false;
    }
    acknowledged_.push_back(text);
    return true;
  }

  void ExpectThatAPowerCutLosesNothing() const {
    const std::string left = files_.AfterPowerCut("snapshot") + files_.AfterPowerCut("log");
    ASSERT_FALSE(acknowledged_.empty());
    for (const std::string& text : acknowledged_) {
      EXPECT_NE(left.find(text), std::string::npos) << text << " is lost; left is " << left;
    }
  }

  std::string Log() const {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  MemoryFiles files_;
  int written_ = 0;
  std::vector<std::string> acknowledged_;
  mutable std::mutex mutex_;
  std::string log_;
};

// So that the names of tests say what fails.
std::string NameOf(const testing::TestParamInfo<std::tuple<FileCall, int>>& info) {
  static const char* const kKinds[] = {"Open", "Create",   "Read",   "Write",  "ShortWrite",
                                       "Sync", "Truncate", "Rename", "Remove", "SyncDirectory"};
  const auto [kind, error] = info.param;
  const char* const word = error == ENOSPC ? "NoSpace" : error == EIO ? "Error" : "ReadOnly";
  return std::string(kKinds[static_cast<int>(kind)]) + word;
}

TEST_P(DiskFailures, LoseNothingThatWasAcknowledged) {
  const auto [kind, error] = GetParam();
  constexpr int kEnough = 20;  // writes, so that each kind of operation happens
  const RealHostOptions options = Options();
  const Endpoint replica = options.replicas[0];
  {
    RunningHost first_life(options, MakeLog);
    for (int i = 0; i < kEnough; ++i) ASSERT_TRUE(TryWrite(replica));
  }
  // A second life: files are opened and read once, at its start.
  auto again = Options();
  const Endpoint now_at = again.replicas[0];
  files_.FailNext(kind, error);
  RunningHost host(std::move(again), MakeLog);
  WriteUntilRefused(now_at, kEnough);
  ASSERT_TRUE(files_.HasFailed());
  ExpectThatAPowerCutLosesNothing();
  EXPECT_NE(Log().find("out of service, because a disk operation failed: cannot "),
            std::string::npos);
  EXPECT_NE(Log().find(std::strerror(error)), std::string::npos) << Log();

  const bool is_sync = kind == FileCall::kSync || kind == FileCall::kSyncDirectory;
  if (error == ENOSPC && !is_sync) {
    EXPECT_TRUE(Eventually([&] { return TryWrite(now_at); })) << "it has not returned to service";
  } else {
    EXPECT_FALSE(TryWrite(now_at));
    EXPECT_EQ(Log().find("has room again"), std::string::npos);
  }
  ExpectThatAPowerCutLosesNothing();
}

INSTANTIATE_TEST_SUITE_P(
    Each, DiskFailures,
    testing::Combine(testing::Values(FileCall::kOpen, FileCall::kCreate, FileCall::kRead,
                                     FileCall::kWrite, FileCall::kShortWrite, FileCall::kSync,
                                     FileCall::kTruncate, FileCall::kRename, FileCall::kRemove,
                                     FileCall::kSyncDirectory),
                     testing::Values(ENOSPC, EIO, EROFS)),
    NameOf);

TEST(DiskFailure, EndsWithRoomUnlessASyncHasFailed) {
  EXPECT_TRUE(EndsWithRoom({DiskOperation::kWrite, "log", ENOSPC}));
  EXPECT_TRUE(EndsWithRoom({DiskOperation::kCreate, "log", EDQUOT}));
  EXPECT_FALSE(EndsWithRoom({DiskOperation::kSync, "log", ENOSPC}));
  EXPECT_FALSE(EndsWithRoom({DiskOperation::kWrite, "log", EIO}));
  EXPECT_FALSE(EndsWithRoom({DiskOperation::kRename, "log", EROFS}));
}

TEST(Room, IsThereOnceAFileCanBeWrittenAndRemoved) {
  MemoryFiles files;
  const auto ops = files.Open();
  for (const FileCall kind :
       {FileCall::kCreate, FileCall::kWrite, FileCall::kShortWrite, FileCall::kRemove}) {
    files.FailNext(kind, ENOSPC);
    EXPECT_FALSE(HasDiskSpace(*ops)) << static_cast<int>(kind);
  }
  EXPECT_TRUE(HasDiskSpace(*ops));
  EXPECT_EQ(ops->Remove("room.trial"), -ENOENT) << "it was left behind";
}

}  // namespace
}  // namespace depfast::real
