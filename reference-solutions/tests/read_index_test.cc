// Messages that confirm reads travel for a client's request.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace depfast::kv
