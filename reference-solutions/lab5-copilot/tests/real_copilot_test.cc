// The reference Copilot as three processes with sockets and disks: the code that the simulator runs
// is the code that runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_memory.h"
#include "depfast/host/frame.h"
#include "real/client.h"
#include "replica_cluster.h"
#include "submit.h"
#include "support.h"

namespace depfast::copilot {
namespace {

constexpr Duration kPatience = 300ms;

// Sends each command to all replicas; those that are no pilots refuse it.
class RealClient {
 public:
  RealClient(const real::ReplicaCluster& cluster, std::uint64_t number)
      : cluster_(cluster), name_(number << kRequestBits) {}

  // True if a replica has answered in time that the command is committed.
  bool Submit(const std::string& command) {
    ++name_;
    std::vector<std::unique_ptr<real::Client>> asked;
    for (int id = 0; id < cluster_.size(); ++id) {
      if (!cluster_.Runs(id)) continue;
      try {
        auto connection = std::make_unique<real::Client>(cluster_.endpoint(id), kNobody, kPatience);
        const FrameHeader header{FrameKind::kRequest, depfast::Submit::kMethod, 1,
                                 Dependency::Client(name_)};
        connection->Send(EncodeFrame(header, depfast::Submit{command}));
        asked.push_back(std::move(connection));
      } catch (const std::exception&) {  // it is starting, dying, or stopped
      }
    }
    return std::ranges::any_of(asked, [](const auto& each) { return HasCommitted(*each); });
  }

 private:
  static bool HasCommitted(real::Client& replica) {
    try {
      std::string error;
      const auto bytes = replica.Receive(kPatience);
      const auto frame = bytes ? DecodeFrame(*bytes, error) : std::nullopt;
      const auto reply = frame ? DecodeBody<SubmitReply>(frame->body, error) : std::nullopt;
      return reply && reply->status == SubmitStatus::kCommitted;
    } catch (const std::exception&) {
      return false;
    }
  }

  const real::ReplicaCluster& cluster_;
  std::uint64_t name_;
};

// Commits `count` commands, each in several attempts if need be: the pilots may change.
void CommitMany(RealClient& client, int count, const std::string& text) {
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(real::Eventually([&] { return client.Submit(text + " " + std::to_string(i)); }))
        << "no pilot commits a command";
  }
}

TEST(RealCopilot, SurvivesTheDeathOfEachReplicaInTurn) {
  real::ReplicaCluster cluster(LAB5_TALLY_REAL, {});
  RealClient client(cluster, 2);
  for (const int dead : {0, 1, 2, 0}) {
    CommitMany(client, 10, "before " + std::to_string(dead));
    cluster.Kill({dead});
    CommitMany(client, 10, "without " + std::to_string(dead));
    cluster.Start(dead);
  }
  cluster.Kill({0, 1, 2});
  for (const int id : {0, 1, 2}) cluster.Start(id);
  CommitMany(client, 10, "after all have died");
}

TEST(RealCopilot, ALogInMemoryDoesNotStartTwice) {
  setenv("COPILOT_LOG", "in-memory", 1);
  real::ReplicaCluster cluster(LAB5_TALLY_REAL, {});
  RealClient client(cluster, 3);
  CommitMany(client, 5, "before");
  cluster.Kill({2});
  cluster.Start(2);
  unsetenv("COPILOT_LOG");
  EXPECT_NE(cluster.AwaitEnd(2), 0);
  EXPECT_NE(cluster.LogOf(2).find("must not vote again"), std::string::npos) << cluster.LogOf(2);
  CommitMany(client, 5, "after");
}

TEST(RealCopilot, AWordThatSaysNeitherIsRefused) {
  setenv("COPILOT_LOG", "in memory", 1);
  real::ReplicaCluster cluster(LAB5_TALLY_REAL, {});
  unsetenv("COPILOT_LOG");
  for (const int id : {0, 1, 2}) {
    EXPECT_EQ(cluster.AwaitEnd(id), 2);
    EXPECT_NE(cluster.LogOf(id).find("COPILOT_LOG is 'in memory'"), std::string::npos);
  }
}

}  // namespace
}  // namespace depfast::copilot
