// A disk says at the start what it has lost, and takes no crash for a loss.
#include "real/promised_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "depfast/host/random.h"
#include "memory_files.h"
#include "real/disk_files.h"

namespace depfast::real {
namespace {

using Kind = IoRequest::Kind;

const Identity kSelf{"abc", 1, 3};

IoRequest Request(Kind kind, const std::string& file, const std::string& text = "",
                  const std::string& to = "") {
  const bool sync = kind != Kind::kRead;
  return {0, kind, sync, file, to, /*offset=*/0, IoRequest::kToTheEnd, MakeBytes(text)};
}

IoRequest Truncation(const std::string& file, std::uint64_t length) {
  IoRequest request = Request(Kind::kTruncate, file);
  request.length = length;
  return request;
}

class PromisedDisk : public testing::Test {
 protected:
  PromisedDisk() { PromisedFiles::Format(*memory_.Open(), kSelf); }

  // A life of the replica. It ends with the object.
  std::unique_ptr<DiskFiles> Start() {
    return std::make_unique<DiskFiles>(std::make_unique<PromisedFiles>(memory_.Open(), kSelf),
                                       counters_);
  }

  void Run(const std::vector<IoRequest>& batch) {
    const auto done = Start()->Run(batch);
    ASSERT_EQ(done.size(), batch.size());
    for (const IoCompletion& each : done) ASSERT_EQ(each.error, 0);
  }

  // The reason why the replica does not start; empty if it starts.
  std::string Refusal() {
    try {
      const auto disk = Start();
    } catch (const LostPromise& lost) {
      return lost.what();
    }
    return "";
  }

  MemoryFiles memory_;
  DiskCounters counters_;
};

constexpr const char* kLost = "the disk has lost what this replica had promised: ";

TEST_F(PromisedDisk, RefusesEachKindOfLoss) {
  const std::vector<std::pair<std::function<void()>, std::string>> losses = {
      {[&] { memory_.Change("log", "one"); }, "log has only 3 of the 6 bytes that were synced"},
      {[&] { memory_.Change("log", ""); }, "log has only 0 of the 6 bytes that were synced"},
      {[&] { memory_.Change("log", "onetwO"); },
       "log is damaged: some of its first 6 bytes that were synced have changed"},
      {[&] { memory_.Change("log", "another log"); },
       "log is damaged: some of its first 6 bytes that were synced have changed"},
      {[&] { memory_.Lose("log"); }, "log is missing"},
      {[&] { memory_.Lose("snapshot"); }, "snapshot is missing"},
  };
  for (const auto& [lose, why] : losses) {
    memory_.LoseAll();
    PromisedFiles::Format(*memory_.Open(), kSelf);
    Run({Request(Kind::kAppend, "log", "one"), Request(Kind::kAppend, "snapshot", "state")});
    Run({Request(Kind::kAppend, "log", "two")});
    lose();
    EXPECT_EQ(Refusal(), kLost + why);
    EXPECT_EQ(Refusal(), kLost + why) << "the first start has made the loss undone";
  }
}

TEST_F(PromisedDisk, RefusesADirectoryThatWasWipedOrIsAnothers) {
  memory_.Lose(kManifestFile);
  EXPECT_EQ(
      Refusal(),
      "the data directory has no identity: replica.manifest is missing, and with it what this "
      "replica had promised");
  for (const Identity& other :
       {Identity{"abd", 1, 3}, Identity{"abc", 2, 3}, Identity{"abc", 1, 5}}) {
    memory_.LoseAll();
    PromisedFiles::Format(*memory_.Open(), other);
    EXPECT_EQ(Refusal(), "the data directory is that of " + ToString(other) +
                             ", not of replica 1 of 3 of cluster abc");
  }
}

TEST_F(PromisedDisk, RefusesADamagedManifest) {
  Run({Request(Kind::kAppend, "log", "one")});
  std::string manifest = memory_.Contents(kManifestFile);
  manifest[manifest.size() / 2] = static_cast<char>(~manifest[manifest.size() / 2]);
  memory_.Change(kManifestFile, manifest);
  EXPECT_EQ(Refusal(),
            "replica.manifest is damaged, so nothing says what this replica has promised");
}

TEST_F(PromisedDisk, IsNotFormattedTwice) {
  EXPECT_THROW(PromisedFiles::Format(*memory_.Open(), kSelf), std::system_error);
}

// A crash tears writes that nobody has been promised, of the files and of the manifest.
TEST_F(PromisedDisk, TakesATornTailForACrash) {
  Run({Request(Kind::kAppend, "log", "one")});
  memory_.Change("log", "one and a torn recor");
  memory_.Change(kManifestFile, memory_.Contents(kManifestFile) + "torn");
  EXPECT_EQ(Refusal(), "");
  Run({Truncation("log", 3), Request(Kind::kAppend, "log", "two")});
  memory_.Change("log", "one");
  EXPECT_NE(Refusal(), "");
}

TEST_F(PromisedDisk, ForgetsWhatTheReplicaHasGivenUp) {
  Run({Request(Kind::kAppend, "log", "a long old log"), Request(Kind::kAppend, "other", "x")});
  Run({Request(Kind::kAppend, "log.new", "short"), Request(Kind::kRename, "log.new", "", "log"),
       Request(Kind::kRemove, "other")});
  EXPECT_EQ(Refusal(), "");
  Run({Truncation("log", 2)});
  EXPECT_EQ(Refusal(), "");
  Run({Request(Kind::kRemove, "log")});
  EXPECT_EQ(Refusal(), "");
}

TEST_F(PromisedDisk, WritesALargeManifestAnew) {
  const std::string name(100, 'l');  // a long one makes the manifest grow faster
  constexpr std::size_t kWrites = 4000;
  std::size_t largest = 0;
  {
    const auto disk = Start();
    for (std::size_t i = 0; i < kWrites; ++i) {
      const auto done = disk->Run(std::vector{Request(Kind::kAppend, name, "x")});
      ASSERT_EQ(done.front().error, 0);
      largest = std::max(largest, memory_.Contents(kManifestFile).size());
    }
  }
  EXPECT_GT(largest, PromisedFiles::kManifestBytesMax / 2);
  EXPECT_LE(largest, PromisedFiles::kManifestBytesMax);
  EXPECT_EQ(Refusal(), "");
  memory_.Change(name, std::string(kWrites - 1, 'x'));
  EXPECT_NE(Refusal(), "");
}

// ---- power cuts ----

class PowerCutOfADisk : public PromisedDisk {
 protected:
  void CutPower() { PromisedFiles::LoseUnsynced(*memory_.Open(), memory_.Names()); }

  // Its files, without the manifest.
  std::map<std::string, std::string> Left() const {
    std::map<std::string, std::string> left;
    for (const std::string& name : memory_.Names()) {
      if (name != kManifestFile) left[name] = memory_.Contents(name);
    }
    return left;
  }
};

IoRequest Unsynced(IoRequest request) {
  request.sync = false;
  return request;
}

TEST_F(PowerCutOfADisk, TakesWhatWasNotSyncedAndNothingElse) {
  struct Case {
    std::string name;
    std::vector<IoRequest> unsynced;
    std::map<std::string, std::string> left;
  };
  const auto more = [](const std::string& file) {
    return Unsynced(Request(Kind::kAppend, file, "unsynced"));
  };
  const auto renamed = [](const std::string& from, const std::string& to) {
    return Unsynced(Request(Kind::kRename, from, "", to));
  };
  const std::vector<Case> cases = {
      {"a longer file", {more("log")}, {{"log", "one"}, {"state", "s"}}},
      {"a new file", {more("new")}, {{"log", "one"}, {"state", "s"}}},
      {"a shorter file that grows",
       {Unsynced(Truncation("log", 2)), more("log")},
       {{"log", "on"}, {"state", "s"}}},
      {"a replaced file that grows", {renamed("log", "state"), more("state")}, {{"state", "one"}}},
      {"a renamed file that grows",
       {renamed("log", "new"), more("new")},
       {{"new", "one"}, {"state", "s"}}},
      {"a new file in the place of a renamed one",
       {renamed("log", "old"), more("log")},
       {{"log", ""}, {"old", "one"}, {"state", "s"}}},
      {"a removed file", {Unsynced(Request(Kind::kRemove, "log"))}, {{"state", "s"}}},
  };
  for (const auto& [name, unsynced, left] : cases) {
    SCOPED_TRACE(name);
    memory_.LoseAll();
    PromisedFiles::Format(*memory_.Open(), kSelf);
    {
      const auto disk = Start();
      std::ignore = disk->Run(
          std::vector{Request(Kind::kAppend, "log", "one"), Request(Kind::kAppend, "state", "s")});
      const auto done = disk->Run(unsynced);
      ASSERT_EQ(done.size(), unsynced.size());
      for (const IoCompletion& each : done) ASSERT_EQ(each.error, 0);
    }
    CutPower();
    EXPECT_EQ(Left(), left);
    CutPower();
    EXPECT_EQ(Left(), left);
    EXPECT_EQ(Refusal(), "");
  }
}

TEST_F(PowerCutOfADisk, LeavesSyncedChanges) {
  Run({Request(Kind::kAppend, "log", "a long log"), Request(Kind::kAppend, "other", "x")});
  Run({Request(Kind::kAppend, "log.new", "short"), Request(Kind::kRename, "log.new", "", "log"),
       Request(Kind::kRename, "other", "", "another"), Request(Kind::kAppend, "another", "y")});
  Run({Truncation("log", 3)});
  CutPower();
  EXPECT_EQ(Left(), (std::map<std::string, std::string>{{"log", "sho"}, {"another", "xy"}}));
}

TEST_F(PowerCutOfADisk, IsRefusedBeforeItTakesAnythingIfAPromiseIsLost) {
  Run({Request(Kind::kAppend, "log", "one"), Request(Kind::kAppend, "state", "s")});
  memory_.Change("log", "one and more");
  memory_.Change("state", "");
  EXPECT_THROW(CutPower(), LostPromise);
  EXPECT_EQ(memory_.Contents("log"), "one and more");
  memory_.Lose(kManifestFile);
  EXPECT_THROW(CutPower(), LostPromise);
  EXPECT_EQ(memory_.Contents("log"), "one and more");
}

// ---- crashes ----

// Random changes of three files, as a log, its successor and a snapshot have them.
std::vector<IoRequest> RandomBatch(RandomStream& random) {
  constexpr std::array<const char*, 3> kNames = {"log", "log.new", "snapshot"};
  std::vector<IoRequest> batch;
  const std::uint64_t count = 1 + random.Below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string file = kNames[random.Below(3)];
    const std::string to = kNames[random.Below(3)];
    const std::string text(1 + random.Below(40), static_cast<char>('a' + random.Below(26)));
    switch (random.Below(8)) {
      case 0:
        batch.push_back(Request(Kind::kRename, file, "", to));
        break;
      case 1:
        batch.push_back(Request(Kind::kRemove, file));
        break;
      case 2:
        batch.push_back(Truncation(file, random.Below(30)));
        break;
      case 3:
        batch.push_back(Request(Kind::kRead, file));
        break;
      default:
        batch.push_back(Request(Kind::kAppend, file, text));
        batch.back().sync = random.Below(3) != 0;
    }
  }
  return batch;
}

// The death of the process at any operation, those of its start included: all that was handed to
// the kernel stays. Or a power cut, after which each file, and the names, are as of their latest
// sync or any later moment. Or a death, after which LoseUnsynced plays the power cut.
TEST(CrashesOfAPromisedDisk, AreNeverTakenForALoss) {
  constexpr std::uint64_t kRuns = 3000;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomStream random(seed);
    MemoryFiles memory;
    PromisedFiles::Format(*memory.Open(), kSelf);
    DiskCounters counters;
    for (int life = 0; life < 4; ++life) {
      memory.StopAfter(random.Below(80));
      try {
        DiskFiles disk(std::make_unique<PromisedFiles>(memory.Open(), kSelf), counters);
        while (!memory.HasStopped()) std::ignore = disk.Run(RandomBatch(random));
      } catch (const LostPromise& lost) {
        FAIL() << "life " << life << ": " << lost.what();
      } catch (const std::system_error&) {  // it died while it started
        ASSERT_TRUE(memory.HasStopped());
      }
      const std::uint64_t end = random.Below(3);
      memory.Restart(/*power_cut=*/end == 0, random);
      if (end == 1) PromisedFiles::LoseUnsynced(*memory.Open(), memory.Names());
    }
  }
}

}  // namespace
}  // namespace depfast::real
