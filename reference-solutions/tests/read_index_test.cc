// Messages that confirm reads: for which client's request they travel, and how many there are.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "depfast/host/frame.h"
#include "kv_world.h"
#include "raft_messages.h"

namespace depfast::kv {
namespace {

// Counts the AppendEntries that replicas send on behalf of a client.
class ClientsAppends : public sim::Observer {
 public:
  void OnOutputsLeave(PeerId, Time, const std::vector<sim::Output>& outputs) override {
    for (const sim::Output& one : outputs) {
      const auto* sent = std::get_if<sim::SendFrame>(&one);
      if (sent == nullptr) continue;
      std::string error;
      const auto frame = DecodeFrame(*sent->bytes, error);
      if (frame && frame->header.kind == FrameKind::kRequest &&
          frame->header.method == raft::AppendEntries::kMethod &&
          frame->header.dependency.kind == Dependency::Kind::kClient) {
        ++count;
      }
    }
  }

  int count = 0;
};

TEST(ReadIndex, ItsMessagesCarryTheClientsDependency) {
  KvWorld world({.replicas = 3, .seed = 41});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_EQ(world.Do("SET x 1"), Reply::Ok());
  world.cluster.RunFor(100ms);
  ClientsAppends appends;
  world.cluster.simulator().AddObserver(&appends);
  EXPECT_EQ(world.DoAt(leader, Words("GET x")), Reply::String("1"));
  EXPECT_EQ(appends.count, 2) << "a read asks both followers, and writes nothing";
}

// A matter of speed, so that no test of the lab looks at it.
TEST(ReadIndex, ReadersThatWereAnsweredShareTheNextConfirmation) {
  constexpr int kClients = 16;
  constexpr int kReads = 1600;
  KvWorld world({.replicas = 3, .seed = 911});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  world.client.set_first(leader);
  ClientsAppends appends;
  world.cluster.simulator().AddObserver(&appends);
  int sent = 0;
  int answered = 0;
  // Each client sends its next read when it has the answer.
  const std::function<void()> next = [&] {
    if (sent == kReads) return;
    ++sent;
    world.client.Execute(Words("GET x"), [&](const KvOutcome& outcome) {
      answered += outcome.is_known() ? 1 : 0;
      next();
    });
  };
  for (int i = 0; i < kClients; ++i) next();
  ASSERT_TRUE(world.cluster.RunUntil([&] { return answered == kReads; }, 60s));
  EXPECT_LE(appends.count / 2, kReads / (kClients - kClients / 4))
      << "a confirmation serves most of the clients";
}

}  // namespace
}  // namespace depfast::kv
