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

class PacedReadsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(leader_, kNobody);
    ASSERT_EQ(world_.Do({"SET", "large", std::string(kLarge, 'v')}), Reply::Ok());
    ASSERT_EQ(world_.Do("SET small 1"), Reply::Ok());
    world_.cluster.RunFor(1s);
    world_.cluster.simulator().AddObserver(&sent_);
  }

  // A client asks the replica for a large value kReads times at once, and another client for a
  // small one. Expects all answers. Returns the number of large ones that came before the small
  // one.
  int LargeAnswersBefore(PeerId replica) {
    testkit::Client greedy(world_.cluster.simulator());
    testkit::Client modest(world_.cluster.simulator());
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
    world_.cluster.RunUntil([&] { return large == kReads && before; }, 10s);
    EXPECT_EQ(large, kReads);
    EXPECT_LE(sent_.most, kStepMax);
    EXPECT_TRUE(world_.AllInvariantsHold());
    return before.value_or(kReads);
  }

  KvWorld world_{{.replicas = 3, .seed = 42}};
  const PeerId leader_ = world_.WaitForProposer();
  StepBytes sent_;
};

TEST_F(PacedReadsTest, AStepSendsABoundedNumberOfBytesAndClientsTakeTurns) {
  EXPECT_LE(LargeAnswersBefore(leader_), kReads / 10);
  EXPECT_EQ(world_.WaitForProposer(), leader_) << "the leader was deposed";
}

TEST_F(PacedReadsTest, OfAFollowersClientsToo) { LargeAnswersBefore(world_.Others(leader_)[0]); }

}  // namespace
}  // namespace depfast::kv
