// The reference Raft as three processes with sockets and disks: the code that the simulator grades
// is the code that runs.
#include <gtest/gtest.h>

#include <exception>
#include <fstream>
#include <optional>
#include <set>
#include <string>

#include "depfast/host/frame.h"
#include "raft_cluster.h"
#include "raft_messages.h"
#include "raft_wal.h"
#include "real/client.h"
#include "support.h"

namespace depfast::raft {
namespace {

class RealRaft : public testing::Test {
 protected:
  // Submits a new command until a leader has committed one. Returns that leader.
  int Commit() {
    int leader = 0;
    EXPECT_TRUE(real::Eventually([&] {
      leader = (leader + 1) % cluster_.size();
      return TryOn(leader, "command " + std::to_string(++submitted_));
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
    wal.Read(real::Contents(cluster_.WalPath(id)));
    std::set<std::string> found;
    for (std::uint64_t index = 1; index <= wal.log.last_index(); ++index) {
      const std::string& command = wal.log.At(index).command;
      if (acknowledged_.contains(command)) found.insert(command);
    }
    return found.size();
  }

  RaftCluster cluster_{3};
  int submitted_ = 0;
  std::set<std::string> acknowledged_;
};

TEST_F(RealRaft, CommitsAndSurvivesTheDeathOfItsLeader) {
  int leader = 0;
  for (int i = 0; i < 10; ++i) leader = Commit();
  cluster_.Kill({leader});
  for (int i = 0; i < 10; ++i) EXPECT_NE(Commit(), leader);
  cluster_.Start(leader);
  Commit();
  for (int id = 0; id < cluster_.size(); ++id) {
    EXPECT_TRUE(real::Eventually([&] { return AcknowledgedOnDiskOf(id) == acknowledged_.size(); }))
        << "replica " << id << " has " << AcknowledgedOnDiskOf(id) << " of " << acknowledged_.size()
        << " acknowledged commands on its disk";
  }
}

TEST_F(RealRaft, DoesNotStartOnADamagedLog) {
  constexpr int kVictim = 1;
  for (int i = 0; i < 10; ++i) Commit();
  ASSERT_TRUE(
      real::Eventually([&] { return AcknowledgedOnDiskOf(kVictim) == acknowledged_.size(); }));
  cluster_.Kill({kVictim});
  const std::string path = cluster_.WalPath(kVictim);
  std::string damaged = real::Contents(path);
  damaged[damaged.size() / 2] = static_cast<char>(~damaged[damaged.size() / 2]);
  std::ofstream(path, std::ios::binary) << damaged;

  cluster_.Start(kVictim);
  EXPECT_EQ(cluster_.AwaitEnd(kVictim), 1);
  const std::string said = cluster_.LogOf(kVictim);
  EXPECT_NE(said.find("the write-ahead log is damaged at byte "), std::string::npos) << said;
  EXPECT_EQ(real::Contents(path), damaged) << "what may have been acknowledged was changed";
  EXPECT_NE(Commit(), kVictim);
}

}  // namespace
}  // namespace depfast::raft
