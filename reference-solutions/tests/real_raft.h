// RealRaft: three replicas of the reference Raft as processes, and the commands that they have
// acknowledged.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <optional>
#include <set>
#include <string>

#include "depfast/host/frame.h"
#include "raft_cluster.h"
#include "raft_messages.h"
#include "raft_wal.h"
#include "real/client.h"
#include "submit.h"
#include "support.h"

namespace depfast::raft {

class RealRaft : public testing::Test {
 protected:
  // Submits a new command, with `padding`, until a leader has committed one. Returns that leader.
  int Commit(const std::string& padding = "") {
    int leader = 0;
    EXPECT_TRUE(real::Eventually([&] {
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

}  // namespace depfast::raft
