// The reference Raft as three processes with sockets and disks: the code that the simulator grades
// is the code that runs.
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "depfast/frame.h"
#include "process.h"
#include "raft_messages.h"
#include "raft_wal.h"
#include "real/client.h"
#include "support.h"

namespace depfast::raft {
namespace {

constexpr int kReplicas = 3;

class RealRaft : public testing::Test {
 protected:
  RealRaft() {
    for (int id = 0; id < kReplicas; ++id) {
      auto [socket, where] = real::ListenAnywhere();
      // Without close-on-exec: the port stays ours while a replica is down.
      listeners_[Index(id)] = real::Descriptor(dup(socket.get()));
      endpoints_[Index(id)] = where;
      peers_ += (id > 0 ? "," : "") + ToString(where);
    }
    for (int id = 0; id < kReplicas; ++id) Start(id);
  }

  void Start(int id) {
    processes_[Index(id)].emplace(
        LAB2_REAL,
        std::vector<std::string>{"--id", std::to_string(id), "--peers", peers_, "--data", Data(id),
                                 "--listen-fd", std::to_string(listeners_[Index(id)].get())},
        temp_ / ("log" + std::to_string(id)));
  }

  void Kill(int id) {
    processes_[Index(id)]->Signal(SIGKILL);
    processes_[Index(id)].reset();
  }

  // Submits a new command until a leader has committed one. Returns that leader.
  int Commit() {
    int leader = 0;
    EXPECT_TRUE(real::Eventually([&] {
      leader = (leader + 1) % kReplicas;
      return TryOn(leader, "command " + std::to_string(++submitted_));
    })) << "no replica commits a command";
    return leader;
  }

  bool TryOn(int id, const std::string& command) {
    constexpr Duration kPatience = 500ms;
    if (!processes_[Index(id)]) return false;
    try {
      real::Client client(endpoints_[Index(id)], kNobody, kPatience);
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

  // What a replica has on its disk that was acknowledged.
  std::size_t AcknowledgedOnDiskOf(int id) const {
    WalState log;
    log.Read(real::Contents(Data(id) + "/" + kWalFile));
    std::set<std::string> found;
    for (const LogEntry& entry : log.entries) {
      if (acknowledged_.contains(entry.command)) found.insert(entry.command);
    }
    return found.size();
  }

  const std::set<std::string>& acknowledged() const { return acknowledged_; }

 private:
  static std::size_t Index(int id) { return static_cast<std::size_t>(id); }
  std::string Data(int id) const { return temp_ / ("data" + std::to_string(id)); }

  real::TempDir temp_;
  std::string peers_;
  std::array<real::Descriptor, kReplicas> listeners_;
  std::array<real::Endpoint, kReplicas> endpoints_;
  std::array<std::optional<real::Process>, kReplicas> processes_;
  int submitted_ = 0;
  std::set<std::string> acknowledged_;
};

TEST_F(RealRaft, CommitsAndSurvivesTheDeathOfItsLeader) {
  int leader = 0;
  for (int i = 0; i < 10; ++i) leader = Commit();
  Kill(leader);
  for (int i = 0; i < 10; ++i) EXPECT_NE(Commit(), leader);
  Start(leader);
  Commit();
  for (int id = 0; id < kReplicas; ++id) {
    EXPECT_TRUE(real::Eventually([&] { return AcknowledgedOnDiskOf(id) == acknowledged().size(); }))
        << "replica " << id << " has " << AcknowledgedOnDiskOf(id) << " of "
        << acknowledged().size() << " acknowledged commands on its disk";
  }
}

}  // namespace
}  // namespace depfast::raft
