// Changes of files that fail: what is left of them, what the replica is told, and its repair.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/disk.h"
#include "world.h"

namespace depfast::sim {
namespace {

using Kind = IoRequest::Kind;

constexpr DiskTrouble kAllFail{.error_permille = 1000};
constexpr DiskTrouble Capacity(std::int64_t bytes) { return {.capacity_bytes = bytes}; }

IoRequest Request(Kind kind, const std::string& file, const std::string& data = "") {
  IoRequest request;
  request.kind = kind;
  request.sync = true;
  request.file = file;
  if (kind == Kind::kAppend) request.data = MakeBytes(data);
  if (kind == Kind::kRename) request.to = data;
  if (kind == Kind::kRead) request.length = IoRequest::kToTheEnd;
  return request;
}

class BrokenDisk : public testing::Test {
 protected:
  // The errors of the requests, done as one batch.
  std::vector<int> Errors(const DiskTrouble& trouble, const std::vector<IoRequest>& requests) {
    for (const IoRequest& request : requests) disk_.Submit(request);
    disk_.StartBatch(0);
    std::vector<int> errors;
    for (const IoCompletion& done : disk_.FinishBatch(trouble)) errors.push_back(done.error);
    return errors;
  }

  // "log=abc", durable or not.
  std::string Files() const {
    std::string out;
    for (const auto& [name, file] : disk_.files()) {
      out += (out.empty() ? "" : " ") + name + "=" + file.data;
    }
    return out;
  }

  SimDisk disk_{Exact().disk, RandomStream(1), RandomStream(2)};
};

TEST_F(BrokenDisk, AFailedAppendLeavesAnyFirstPart) {
  std::set<std::string> left;
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(Errors(kAllFail, {Request(Kind::kAppend, "log", "abc")}), std::vector<int>{EIO});
    disk_.Crash();
    left.insert(Files());
    Errors({}, {Request(Kind::kRemove, "log")});
  }
  EXPECT_EQ(left, (std::set<std::string>{"", "log=a", "log=ab", "log=abc"}));
}

TEST_F(BrokenDisk, ChangesBeforeTheFailureAreThereAndLaterOnesFail) {
  EXPECT_EQ(Errors(Capacity(5),
                   {Request(Kind::kAppend, "log", "abc"), Request(Kind::kAppend, "log", "defg"),
                    Request(Kind::kRename, "log", "old"), Request(Kind::kAppend, "log", "h"),
                    Request(Kind::kRead, "log")}),
            (std::vector<int>{0, ENOSPC, ENOSPC, ENOSPC, ENOSPC}));
  EXPECT_TRUE(disk_.has_failed());
  EXPECT_EQ(Errors({}, {Request(Kind::kRemove, "log")}), std::vector<int>{ENOSPC})
      << "also when the trouble is over";
  disk_.Crash();
  EXPECT_EQ(Files(), "log=abcde");
  EXPECT_FALSE(disk_.has_failed());
  EXPECT_EQ(Errors({}, {Request(Kind::kRename, "log", "old")}), std::vector<int>{0});
}

TEST_F(BrokenDisk, ACrashAddsNothingBehindAFailedWrite) {
  for (int i = 0; i < 20; ++i) {
    Errors(Capacity(2), {Request(Kind::kAppend, "log", "abc")});
    disk_.Submit(Request(Kind::kAppend, "log", "defghi"));
    disk_.StartBatch(0);
    disk_.Crash();
    EXPECT_EQ(Files(), "log=ab");
    Errors({}, {Request(Kind::kRemove, "log")});
  }
}

TEST_F(BrokenDisk, AFullDiskStillRemovesAndTruncates) {
  Errors({}, {Request(Kind::kAppend, "log", "abc"), Request(Kind::kAppend, "old", "def")});
  EXPECT_EQ(Errors(Capacity(5), {Request(Kind::kRemove, "old"), Request(Kind::kTruncate, "log"),
                                 Request(Kind::kAppend, "log", "abcde")}),
            (std::vector<int>{0, 0, 0}));
}

TEST_F(BrokenDisk, EveryKindOfChangeFails) {
  for (const Kind kind : {Kind::kAppend, Kind::kTruncate, Kind::kRename, Kind::kRemove}) {
    Errors({}, {Request(Kind::kAppend, "log", "abc")});
    EXPECT_EQ(Errors(kAllFail, {Request(kind, "log", "")}), std::vector<int>{EIO});
    disk_.Crash();
    EXPECT_EQ(Files().substr(0, 7), "log=abc");
  }
}

TEST_F(BrokenDisk, TheNextChangeOfItsKindFails) {
  disk_.FailNext({.kind = Kind::kRename, .file = "old"});
  EXPECT_EQ(Errors({}, {Request(Kind::kAppend, "old", "a"), Request(Kind::kAppend, "log", "bc"),
                        Request(Kind::kRename, "log", "new"), Request(Kind::kRename, "new", "old"),
                        Request(Kind::kAppend, "old", "d")}),
            (std::vector<int>{0, 0, 0, EIO, EIO}));
  disk_.Crash();
  EXPECT_EQ(Files(), "new=bc old=a");
  EXPECT_EQ(Errors({}, {Request(Kind::kRename, "new", "old")}), std::vector<int>{0}) << "only once";
}

TEST_F(BrokenDisk, AShortAppendLeavesNotAllAndOneWithoutItsSyncLeavesAll) {
  for (int i = 0; i < 50; ++i) {
    const bool is_short = i % 2 == 0;
    const int error = std::array{EIO, ENOSPC, EROFS}[static_cast<std::size_t>(i % 3)];
    disk_.FailNext({.file = "log", .is_short = is_short, .error = error});
    EXPECT_EQ(Errors({}, {Request(Kind::kAppend, "log", "abc")}), std::vector<int>{error});
    disk_.Crash();
    EXPECT_EQ(Files() != "log=abc", is_short);
    Errors({}, {Request(Kind::kRemove, "log")});
  }
}

TEST_F(BrokenDisk, TheShareIsThatOfTheChanges) {
  int failed = 0;
  for (int i = 0; i < 2000; ++i) {
    failed += Errors({.error_permille = 250}, {Request(Kind::kAppend, "log", "")})[0] != 0 ? 1 : 0;
    disk_.Crash();
  }
  EXPECT_NEAR(failed, 500, 100);
}

TEST_F(BrokenDisk, AFlippedBitIsDamageThatStays) {
  Errors({}, {Request(Kind::kAppend, "log", "abc"), Request(Kind::kAppend, "old", "abc")});
  const auto generation = disk_.files().at("log").generation;
  EXPECT_FALSE(disk_.is_damaged());
  disk_.FlipBit("log", 1);
  EXPECT_EQ(Files(), "log=acc old=abc");
  EXPECT_GT(disk_.files().at("log").generation, generation);
  Errors({}, {Request(Kind::kRename, "log", "old")});
  EXPECT_TRUE(disk_.is_damaged());
  Errors({}, {Request(Kind::kRemove, "old")});
  EXPECT_FALSE(disk_.is_damaged()) << "the damaged file is gone";
}

// ---- in the simulator ----

// Appends "x" at the start and every millisecond; dies of an error.
void WriteOrDie(Turn& turn) {
  const auto& done = turn.input.completions;
  if (std::any_of(done.begin(), done.end(), [](const auto& one) { return one.error != 0; })) {
    turn.output.death = "a write failed";
  }
  turn.Append("log", "x", true);
  turn.WakeAt(turn.input.now + 1ms);
}

TEST(BrokenDiskInSimulator, AReplicaMayDieOfItAndIsRestartedWhenTheFaultEnds) {
  World world(WriteOrDie);
  world.sim.Start();
  world.sim.Schedule({DiskError({0}, 1000).From(10ms).For(20ms)});
  world.sim.RunUntil(20ms);
  EXPECT_FALSE(world.sim.IsUp(0));
  EXPECT_TRUE(world.sim.IsUp(1));
  EXPECT_EQ(world.sim.first_death(), "");
  world.sim.RunUntil(40ms);
  EXPECT_TRUE(world.sim.IsUp(0));
}

TEST(BrokenDiskInSimulator, AReplicaThatBearsItIsRestartedToo) {
  World world([](Turn& turn) {
    turn.Append("log", "x", true);
    turn.WakeAt(turn.input.now + 1ms);
  });
  world.sim.Start();
  world.sim.Begin(DiskFull({0}, 0));
  world.sim.RunUntil(10ms);
  EXPECT_TRUE(world.sim.IsUp(0));
  EXPECT_TRUE(world.sim.disk(0).has_failed());
  world.sim.End(DiskFull({0}, 0));
  EXPECT_TRUE(world.sim.IsUp(0));
  world.sim.RunFor(10ms);
  EXPECT_FALSE(world.sim.disk(0).has_failed());
  EXPECT_GT(world.sim.disk(0).files().at("log").data.size(), 1U);
}

TEST(BrokenDiskInSimulator, ItsEndLeavesOtherReplicasAlone) {
  World world(WriteOrDie);
  world.sim.Start();
  world.sim.Begin(DiskFull({0, 1}, 1 << 20));
  world.sim.RunUntil(10ms);
  world.sim.Crash(1);
  world.sim.End(DiskFull({0, 1}, 1 << 20));
  EXPECT_FALSE(world.sim.IsUp(1)) << "it did not die of its disk";
  EXPECT_EQ(world.told.back(), "ends: disk-full 1 MB on replicas 0 1 from 0.000 s")
      << "no write of replica 0 has failed";
}

TEST(BrokenDiskInSimulator, AReplicaMayDieOfADamagedFileOnly) {
  const Script die_after_restart = [](Turn& turn) {
    if (turn.input.now > 10ms) turn.output.death = "damage";
    if (turn.first) turn.Append("log", "abcde", true);
  };
  for (const bool damage : {true, false}) {
    World world(die_after_restart, 1);
    world.sim.Start();
    world.sim.RunUntil(20ms);
    if (damage) world.sim.Begin(BitFlip({0}, 500));
    EXPECT_EQ(world.sim.disk(0).files().at("log").data, damage ? "abbde" : "abcde");
    world.sim.Crash(0);
    world.sim.Restart(0);
    world.sim.RunUntil(30ms);
    EXPECT_FALSE(world.sim.IsUp(0));
    EXPECT_EQ(world.sim.first_death(), damage ? "" : "replica 0 died: damage");
  }
}

}  // namespace
}  // namespace depfast::sim
