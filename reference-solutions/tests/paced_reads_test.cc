// Many reads of large values at once: a replica answers them over many steps, and serves others
// meanwhile.
#include "paced_reads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kv_world.h"
#include "testkit/client.h"

namespace depfast::kv {
namespace {

constexpr int kReads = 100;
constexpr std::size_t kLarge = kArgumentBytesMax;
// The bytes of a step: the last answer may begin just below the limit.
constexpr std::size_t kStepMax = PacedReads::kBytesPerStepMax + kLarge + 4096;

// The most bytes that a replica sends in a step, and the order of the answers.
class StepBytes : public sim::Observer {
 public:
  void OnOutputsLeave(PeerId, Time, const std::vector<sim::Output>& outputs) override {
    std::size_t bytes = 0;
    for (const sim::Output& one : outputs) {
      if (const auto* sent = std::get_if<sim::SendFrame>(&one)) bytes += sent->bytes->size();
    }
    most = std::max(most, bytes);
  }

  std::size_t most = 0;
};

// A client asks the replica for a large value kReads times at once, and another client for a small
// one. Returns the number of large answers that came before the small one.
int LargeAnswersBefore(KvWorld& world, PeerId replica) {
  testkit::Client greedy(world.cluster.simulator());
  testkit::Client modest(world.cluster.simulator());
  int large = 0;
  std::optional<int> before;
  for (int i = 0; i < kReads; ++i) {
    greedy.Call(replica, KvRequest{Words("GET large"), 0}, 10s,
                [&](const std::optional<Reply>& reply) {
                  large += reply && reply->text.size() == kLarge ? 1 : 0;
                });
  }
  modest.Call(replica, KvRequest{Words("GET small"), 0}, 10s,
              [&](const std::optional<Reply>& reply) {
                EXPECT_EQ(reply, Reply::String("1"));
                before = large;
              });
  world.cluster.RunUntil([&] { return large == kReads && before; }, 10s);
  EXPECT_EQ(large, kReads);
  return before.value_or(kReads);
}

TEST(PacedReads, AStepSendsABoundedNumberOfBytesAndClientsTakeTurns) {
  KvWorld world({.replicas = 3, .seed = 42});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_EQ(world.Do({"SET", "large", std::string(kLarge, 'v')}), Reply::Ok());
  ASSERT_EQ(world.Do("SET small 1"), Reply::Ok());
  world.cluster.RunFor(1s);
  StepBytes sent;
  world.cluster.simulator().AddObserver(&sent);
  EXPECT_LE(LargeAnswersBefore(world, leader), kReads / 10);
  EXPECT_LE(sent.most, kStepMax);
  EXPECT_EQ(world.WaitForProposer(), leader) << "the leader was deposed";
  EXPECT_TRUE(world.AllInvariantsHold());
}

TEST(PacedReads, OfAFollowersClientsToo) {
  KvWorld world({.replicas = 3, .seed = 43});
  const PeerId leader = world.WaitForProposer();
  ASSERT_NE(leader, kNobody);
  ASSERT_EQ(world.Do({"SET", "large", std::string(kLarge, 'v')}), Reply::Ok());
  world.cluster.RunFor(1s);
  StepBytes sent;
  world.cluster.simulator().AddObserver(&sent);
  testkit::Client client(world.cluster.simulator());
  int answers = 0;
  for (int i = 0; i < 20; ++i) {
    client.Call(world.Others(leader)[0], KvRequest{Words("GET large"), 0}, 10s,
                [&](const std::optional<Reply>& reply) { answers += reply ? 1 : 0; });
  }
  world.cluster.RunUntil([&] { return answers == 20; }, 10s);
  EXPECT_EQ(answers, 20);
  EXPECT_LE(sent.most, kStepMax);
  EXPECT_TRUE(world.AllInvariantsHold());
}

}  // namespace
}  // namespace depfast::kv
