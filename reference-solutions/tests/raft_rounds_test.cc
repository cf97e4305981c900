// Commands that share a round of the tuned Raft: a matter of speed, so no test of the lab looks at
// it.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "raft_wal.h"
#include "raft_world.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

// Counts the writes to the log of one replica: one for each round of a leader.
class RoundCount : private sim::Observer {
 public:
  RoundCount(RaftWorld& world, PeerId leader) : leader_(leader) {
    world.cluster.simulator().AddObserver(this);
  }

  int rounds() const { return rounds_; }

 private:
  void OnDisk(PeerId replica, Time, const sim::SimDisk& disk) override {
    if (replica != leader_) return;
    const auto file = disk.files().find(kWalFile);
    const std::size_t bytes = file == disk.files().end() ? 0 : file->second.data.size();
    if (bytes > bytes_) ++rounds_;
    bytes_ = bytes;
  }

  PeerId leader_;
  std::size_t bytes_ = 0;
  int rounds_ = 0;
};

TEST(RaftRounds, ClientsThatWereAnsweredShareTheNextRound) {
  constexpr int kClients = 16;
  constexpr int kCommands = 1600;
  RaftWorld world({.replicas = 3, .seed = 911});
  const PeerId leader = world.WaitForLeader();
  ASSERT_NE(leader, kNobody);
  const RoundCount count(world, leader);
  int sent = 0;
  int committed = 0;
  // Each client sends its next command when it has the answer.
  const std::function<void(bool)> next = [&](bool was_committed) {
    committed += was_committed ? 1 : 0;
    if (sent == kCommands) return;
    world.client.Submit("command " + std::to_string(++sent), next);
  };
  for (int i = 0; i < kClients; ++i) next(false);
  ASSERT_TRUE(world.cluster.RunUntil([&] { return committed == kCommands; }, 60s));
  EXPECT_LE(count.rounds(), kCommands / (kClients - kClients / 4))
      << "a round carries most of the clients";
}

}  // namespace
}  // namespace depfast::raft
