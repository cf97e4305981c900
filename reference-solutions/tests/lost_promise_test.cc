// A replica that has lost what it had promised does not start, whatever is left of its disk.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "depfast/host/frame.h"
#include "raft_messages.h"
#include "raft_wal.h"
#include "real/client.h"
#include "real/main.h"
#include "real/manifest.h"
#include "replica_cluster.h"
#include "submit.h"
#include "support.h"

namespace depfast::raft {
namespace {

namespace fs = std::filesystem;
using real::Eventually;

void Write(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << contents;
}

class LostPromises : public testing::Test {
 protected:
  // Submits a new command, with `padding`, until a leader has committed one. Returns that leader.
  int Commit(const std::string& padding = "") {
    int leader = 0;
    EXPECT_TRUE(Eventually([&] {
      leader = (leader + 1) % cluster_.size();
      return TryOn(leader, "command " + std::to_string(++submitted_) + padding);
    })) << "no replica commits a command";
    return leader;
  }

  bool TryOn(int id, const std::string& command) {
    constexpr Duration kPatience = 500ms;
    if (!cluster_.Runs(id)) return false;
    try {
      real::Client client(cluster_.endpoint(id), kNobody, kPatience);
      const FrameHeader header{FrameKind::kRequest, Submit::kMethod, 1, Dependency::Client(1)};
      client.Send(EncodeFrame(header, Submit{command}));
      const auto bytes = client.Receive(kPatience);
      std::string error;
      const auto frame = bytes ? DecodeFrame(*bytes, error) : std::nullopt;
      const auto reply = frame ? DecodeBody<SubmitReply>(frame->body, error) : std::nullopt;
      if (!reply || reply->status != SubmitStatus::kCommitted) return false;
    } catch (const std::exception&) {  // it is starting, or dying
      return false;
    }
    acknowledged_.insert(command);
    return true;
  }

  // The acknowledged commands on a replica's disk.
  std::size_t AcknowledgedOnDiskOf(int id) const {
    WalState wal;
    wal.Read(real::Contents(WalOf(id)));
    std::set<std::string> found;
    for (std::uint64_t index = 1; index <= wal.log.last_index(); ++index) {
      const std::string& command = wal.log.At(index).command;
      if (acknowledged_.contains(command)) found.insert(command);
    }
    return found.size();
  }

  // All three have acknowledged some commands; then `victim_` dies.
  void KillAfterSomeCommands() {
    for (int i = 0; i < 10; ++i) Commit();
    ASSERT_TRUE(Eventually([&] { return HasAll(victim_) && IsPromised(kWalFile); }));
    cluster_.Kill({victim_});
  }

  // The victim's disk has answered for the whole file. Before that, a loss is a crash.
  bool IsPromised(const char* file) const {
    real::Manifest manifest;
    std::ignore = manifest.Read(real::Contents(Manifest()));
    const auto told = manifest.files.find(file);
    return told != manifest.files.end() &&
           told->second.holds.back().length ==
               fs::file_size(cluster_.DataPath(victim_) + "/" + file);
  }

  bool HasAll(int id) const { return AcknowledgedOnDiskOf(id) == acknowledged_.size(); }

  // The victim ends at once, and says why; the others go on.
  void ExpectRefusal(const std::string& why) {
    cluster_.Start(victim_);
    EXPECT_EQ(cluster_.AwaitEnd(victim_), real::kLostPromise);
    const std::string said = cluster_.LogOf(victim_);
    EXPECT_NE(said.find(": " + why), std::string::npos) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    EXPECT_NE(Commit(), victim_);
  }

  std::string WalOf(int id) const { return cluster_.DataPath(id) + "/" + kWalFile; }
  std::string Wal() const { return WalOf(victim_); }
  std::string Manifest() const { return cluster_.DataPath(victim_) + "/" + real::kManifestFile; }

  real::ReplicaCluster cluster_{LAB2_REAL, {}};
  int submitted_ = 0;
  std::set<std::string> acknowledged_;
  int victim_ = 1;
};

const std::string kLost = "the disk has lost what this replica had promised: raft.wal ";

// A flipped bit in the last record looks like one that a crash has torn.
TEST_F(LostPromises, ADiskThatHasLostSomethingIsRefusedAndNotChanged) {
  KillAfterSomeCommands();
  const std::string log = real::Contents(Wal());
  std::string flipped = log;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {log.substr(0, log.size() - 1), "has only " + std::to_string(log.size() - 1) + " of the " +
                                          std::to_string(log.size()) + " bytes that were synced"},
      {"", "has only 0 of the "},
      {flipped, "is damaged: some of its first "}};
  for (const auto& [left, why] : cases) {
    Write(Wal(), left);
    ExpectRefusal(kLost + why);
    EXPECT_EQ(real::Contents(Wal()), left) << "what may have been acknowledged was changed";
  }
  fs::remove_all(cluster_.DataPath(victim_));
  const std::string why = "the data directory has no identity: replica.manifest is missing";
  ExpectRefusal(why);
  fs::create_directory(cluster_.DataPath(victim_));
  ExpectRefusal(why);
}

// Without the log, the snapshot alone would make a replica that has forgotten terms and votes.
TEST_F(LostPromises, ALogBesideANewerSnapshotIsRefused) {
  KillAfterSomeCommands();
  const std::string earlier = real::Contents(Wal());
  cluster_.Start(victim_);
  const std::string snapshot = cluster_.DataPath(victim_) + "/" + kSnapshotFile;
  const std::string padding(64 * 1024, '.');
  ASSERT_TRUE(Eventually([&] {
    Commit(padding);
    return fs::exists(snapshot);
  }));
  ASSERT_TRUE(Eventually([&] { return IsPromised(kSnapshotFile) && IsPromised(kWalFile); }));
  cluster_.Kill({victim_});
  const std::string log = real::Contents(Wal());
  Write(Wal(), earlier);
  ExpectRefusal(kLost);
  fs::remove(Wal());
  ExpectRefusal(kLost + "is missing");
  Write(Wal(), log);
  Write(snapshot, real::Contents(snapshot).substr(1));
  ExpectRefusal("the disk has lost what this replica had promised: raft.snapshot has only ");
}

TEST_F(LostPromises, ATornWriteThatNobodyWasPromisedIsACrash) {
  KillAfterSomeCommands();
  RaftLog log;
  log.Append({1, "never acknowledged"});
  const std::string record = EncodeEntries(log, 1);
  Write(Wal(), real::Contents(Wal()) + record.substr(0, record.size() / 2));
  cluster_.Start(victim_);
  Commit();
  EXPECT_TRUE(Eventually([&] { return HasAll(victim_); }));
}

// One replica lags, and the two others acknowledge commands. One of the two is wiped, and the other
// dies. If the wiped one voted, the lagging one could lead, and the commands would be gone.
TEST_F(LostPromises, AWipedReplicaDoesNotHelpALaggingOneToLead) {
  const int lagging = (Commit() + 1) % cluster_.size();
  victim_ = (lagging + 1) % cluster_.size();
  const int other = (lagging + 2) % cluster_.size();
  cluster_.Signal(lagging, SIGSTOP);
  for (int i = 0; i < 10; ++i) Commit();
  cluster_.Kill({victim_});
  fs::remove_all(cluster_.DataPath(victim_));
  cluster_.Start(victim_);
  EXPECT_EQ(cluster_.AwaitEnd(victim_), real::kLostPromise);
  cluster_.Kill({other});
  EXPECT_FALSE(HasAll(lagging)) << "it does not lag";
  cluster_.Signal(lagging, SIGCONT);
  cluster_.Start(other);
  Commit();
  EXPECT_TRUE(Eventually([&] { return HasAll(lagging) && HasAll(other); }));
}

}  // namespace
}  // namespace depfast::raft
