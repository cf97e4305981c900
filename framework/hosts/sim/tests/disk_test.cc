// SimDisk alone: batches, their effects, and the bytes that a crash leaves.
#include "sim/disk.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string>
#include <vector>

#include "world.h"

namespace depfast::sim {
namespace {

using Kind = IoRequest::Kind;

class DiskTest : public testing::Test {
 protected:
  std::uint64_t Submit(Kind kind, const std::string& file, const std::string& data = "",
                       bool sync = false, std::uint64_t length = IoRequest::kToTheEnd,
                       const std::string& to = "", std::uint64_t offset = 0) {
    const Bytes bytes = kind == Kind::kAppend ? MakeBytes(data) : nullptr;
    disk_.Submit({++last_id_, kind, sync, file, to, offset, length, bytes});
    return last_id_;
  }
  void Append(const std::string& file, const std::string& data, bool sync = false) {
    Submit(Kind::kAppend, file, data, sync);
  }

  // Does everything submitted as one batch.
  std::vector<IoCompletion> Batch() {
    took_ = disk_.StartBatch(0).total;
    return disk_.FinishBatch();
  }

  // "log=abc|ab": the bytes of each file, and the durable ones.
  std::string Files() const {
    std::string out;
    for (const auto& [name, file] : disk_.files()) {
      out += (out.empty() ? "" : " ") + name + "=" + file.data + "|" +
             file.data.substr(0, file.durable_bytes);
    }
    return out;
  }

  SimDisk disk_{Exact().disk, RandomStream(1), RandomStream(2)};
  std::uint64_t last_id_ = 0;
  Duration took_{0};
};

TEST_F(DiskTest, QueuedRequestsGoInOneBatchInOrder) {
  EXPECT_TRUE(disk_.idle());
  EXPECT_FALSE(disk_.has_work());
  Append("log", "aa", true);
  Append("log", "bbb", true);
  Append("other", "c");
  EXPECT_EQ(disk_.queued_bytes(), 6U);
  const Duration took = disk_.StartBatch(0).total;
  EXPECT_EQ(took, 20us + 6ns + 500us) << "one sync for all";
  EXPECT_FALSE(disk_.idle());
  Append("log", "dddd", true);
  EXPECT_EQ(disk_.queued_bytes(), 10U);
  EXPECT_EQ(Files(), "") << "nothing takes effect before the batch ends";
  const auto done = disk_.FinishBatch();
  ASSERT_EQ(done.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(done[i].id, i + 1);
    EXPECT_EQ(done[i].error, 0);
  }
  EXPECT_EQ(Files(), "log=aabbb|aabbb other=c|");
  EXPECT_EQ(disk_.queued_bytes(), 4U);
  EXPECT_TRUE(disk_.has_work());
  Batch();
  EXPECT_EQ(Files(), "log=aabbbdddd|aabbbdddd other=c|c") << "a sync is of everything before it";
  EXPECT_EQ(disk_.queued_bytes(), 0U);
}

TEST_F(DiskTest, AtARewriteIsDurableWhatWasSyncedBefore) {
  Append("log", "a", true);
  Append("log", "b");
  Submit(Kind::kRename, "log", "", false, 0, "old");
  Append("log", "c", true);
  Submit(Kind::kTruncate, "log", "", false, 0);
  Submit(Kind::kRemove, "old");
  Submit(Kind::kRemove, "nothing");
  Append("log", "d");
  disk_.StartBatch(0);
  std::vector<std::string> seen;
  disk_.FinishBatch({}, [&] { seen.push_back(Files()); });
  EXPECT_EQ(seen, (std::vector<std::string>{"old=ab|a", "log=| old=ab|ab", "log=|"}));
}

TEST_F(DiskTest, TimeIsOfTheBytesAndTheSync) {
  Append("log", std::string(1000, 'x'));
  Batch();
  EXPECT_EQ(took_, 20us + 1000ns);
  Append("log", "x", true);
  Batch();
  EXPECT_EQ(took_, 20us + 1ns + 500us);
  Submit(Kind::kRead, "log");
  Batch();
  EXPECT_EQ(took_, 20us + 1001ns) << "a read moves the whole file";
  Submit(Kind::kRead, "log", "", false, 300, "", 900);
  Batch();
  EXPECT_EQ(took_, 20us + 101ns) << "a part of a file costs its own bytes";
  Submit(Kind::kTruncate, "log", "", true, 5);
  Batch();
  EXPECT_EQ(took_, 20us + 500us);
  Append("log", std::string(1000, 'x'));
  EXPECT_EQ(disk_.StartBatch(1000).total, 20us + 1s) << "a slow disk";
}

TEST_F(DiskTest, HoweverMuchIsReadTimeDoesNotOverflow) {
  Append("log", std::string(16 << 20, 'x'));
  Batch();
  constexpr int kReads = 1000;
  for (int i = 0; i < kReads; ++i) Submit(Kind::kRead, "log");
  // 16 GiB at one byte a microsecond.
  EXPECT_EQ(disk_.StartBatch(1'000'000).total, 20us + kReads * Duration(1us) * (16 << 20));
}

TEST_F(DiskTest, SyncJitterVaries) {
  DiskModel model = Exact().disk;
  model.sync_jitter = {100, 0, 1};
  SimDisk disk(model, RandomStream(1), RandomStream(2));
  Duration least = 1h;
  Duration most{0};
  for (int i = 0; i < 200; ++i) {
    IoRequest request;
    request.sync = true;
    request.file = "log";
    request.data = MakeBytes("");
    disk.Submit(std::move(request));
    const Duration took = disk.StartBatch(0).total - 20us;
    disk.FinishBatch();
    least = std::min(least, took);
    most = std::max(most, took);
  }
  EXPECT_GE(least, 450us);
  EXPECT_LE(most, 550us);
  EXPECT_LT(least, 460us);
  EXPECT_GT(most, 540us);
}

TEST_F(DiskTest, ReadsSeeWhatCameBeforeThemInTheBatch) {
  Append("log", "before");
  Submit(Kind::kRead, "log");
  Append("log", " after");
  const auto done = Batch();
  ASSERT_NE(done[1].data, nullptr);
  EXPECT_EQ(*done[1].data, "before");
  EXPECT_EQ(done[0].data, nullptr);
}

TEST_F(DiskTest, APartOfAFileIsRead) {
  Append("log", "0123456789");
  const auto read = [&](std::uint64_t offset, std::uint64_t length) {
    Submit(Kind::kRead, "log", "", false, length, "", offset);
    return *Batch().back().data;
  };
  EXPECT_EQ(read(2, 3), "234");
  EXPECT_EQ(read(0, 0), "");
  EXPECT_EQ(read(7, 4), "789") << "up to the end";
  EXPECT_EQ(read(3, IoRequest::kToTheEnd), "3456789");
  EXPECT_EQ(read(10, 1), "");
  EXPECT_EQ(read(IoRequest::kToTheEnd, IoRequest::kToTheEnd), "") << "behind the end";
}

TEST_F(DiskTest, OfAMissingFileOnlyAppendsSucceed) {
  for (const Kind kind : {Kind::kRead, Kind::kTruncate, Kind::kRename, Kind::kRemove}) {
    Submit(kind, "none", "", false, 0, "other");
    const auto done = Batch();
    EXPECT_EQ(done[0].error, ENOENT);
    EXPECT_EQ(done[0].data, nullptr);
  }
  EXPECT_EQ(Files(), "");
  Append("none", "");
  EXPECT_EQ(Batch()[0].error, 0);
  EXPECT_EQ(Files(), "none=|");
}

TEST_F(DiskTest, TruncateRenameAndRemove) {
  Append("log", "abcdef", true);
  Submit(Kind::kTruncate, "log", "", false, 4);
  Batch();
  EXPECT_EQ(Files(), "log=abcd|abcd");
  Submit(Kind::kTruncate, "log", "", false, 100);
  Batch();
  EXPECT_EQ(Files(), "log=abcd|abcd") << "a file does not grow by it";
  Append("new", "xy", true);
  Submit(Kind::kRename, "new", "", false, 0, "log");
  Batch();
  EXPECT_EQ(Files(), "log=xy|xy");
  Submit(Kind::kRename, "log", "", false, 0, "log");
  Batch();
  EXPECT_EQ(Files(), "log=xy|xy");
  Submit(Kind::kRemove, "log");
  Batch();
  EXPECT_EQ(Files(), "");
}

TEST_F(DiskTest, OnlyWhatASyncCoversSurvives) {
  Append("log", "synced ", true);
  Append("log", "unsynced");
  Append("other", "unsynced");
  Batch();
  EXPECT_EQ(Files(), "log=synced unsynced|synced  other=unsynced|");
  Append("log", " queued", true);
  disk_.Crash();
  EXPECT_EQ(Files(), "log=synced |synced  other=|");
  EXPECT_TRUE(disk_.idle());
  EXPECT_FALSE(disk_.has_work());
  EXPECT_EQ(disk_.queued_bytes(), 0U);
}

TEST_F(DiskTest, ACrashLeavesSomeFirstBytesOfTheBatchInFlight) {
  std::set<std::string> left;
  for (int i = 0; i < 200; ++i) {
    Append("log", "ab", true);
    Submit(Kind::kRename, "log", "", true, 0, "old");
    Append("log", "c", true);
    disk_.StartBatch(0);
    disk_.Crash();
    left.insert(Files());
    for (const char* file : {"log", "old"}) Submit(Kind::kRemove, file);
    Batch();
  }
  EXPECT_EQ(left, (std::set<std::string>{"", "log=a|a", "old=ab|ab", "log=c|c old=ab|ab"}));
}

TEST_F(DiskTest, ATornTailAfterTruncateIsNotDurable) {
  Append("log", "abcdef", true);
  Batch();
  Submit(Kind::kTruncate, "log", "", false, 2);
  Append("log", "XY");
  Batch();
  EXPECT_EQ(Files(), "log=abXY|ab");
  disk_.Crash();
  EXPECT_EQ(Files(), "log=ab|ab");
}

TEST_F(DiskTest, GenerationsTellIncrementalReadersToStartAnew) {
  const auto generation = [&] { return disk_.files().at("log").generation; };
  Append("log", "abc", true);
  Batch();
  const auto first = generation();
  Append("log", "def", true);
  Batch();
  EXPECT_EQ(generation(), first) << "an append is no new generation";
  Submit(Kind::kTruncate, "log", "", false, 1);
  Batch();
  const auto truncated = generation();
  EXPECT_GT(truncated, first);
  disk_.Crash();
  const auto crashed = generation();
  EXPECT_GT(crashed, truncated);
  Submit(Kind::kRemove, "log");
  Append("log", "new");
  Batch();
  EXPECT_GT(generation(), crashed) << "another file of the same name";
}

// In the simulator: the next batch begins when the last has ended.
TEST(DiskInSimulator, CommitsInGroups) {
  World world(
      [](Turn& turn) {
        if (turn.first) {
          turn.Append("log", "a", true);
          turn.WakeAt(50us);
        } else if (turn.input.now < 100us) {
          turn.Append("log", "b", true);
          turn.Append("log", "c", true);
        }
      },
      1);
  world.sim.Start();
  world.sim.RunUntil(10ms);
  const auto steps = world.StepsOf(0);
  ASSERT_EQ(steps.size(), 4U);
  const Time first_left = 10us + 3us + 2ns;
  EXPECT_EQ(steps[2].at, first_left + 20us + 1ns + 500us);
  EXPECT_EQ(steps[2].completions.size(), 1U);
  EXPECT_EQ(steps[3].at, steps[2].at + 20us + 2ns + 500us);
  EXPECT_EQ(steps[3].completions.size(), 2U);
  EXPECT_EQ(world.sim.disk(0).files().at("log").data, "abc");
}

}  // namespace
}  // namespace depfast::sim
