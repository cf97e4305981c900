// Hidden tests: the calls and coroutines that are left when the work is done.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "copilot_world.h"
#include "depfast/verify/unfinished_work.h"
#include "frame_counter.h"
#include "stage.h"
#include "testkit/client.h"
#include "testkit/environment.h"
#include "unfinished.h"

namespace depfast::copilot {
namespace {

testkit::ClusterOptions Counted(int replicas, std::uint64_t seed) {
  testkit::ClusterOptions options{.replicas = replicas, .seed = seed};
  options.probes.push_back(UnfinishedWork::kName);
  return options;
}

class CountedWorld : public CopilotWorld {
 public:
  CountedWorld(int replicas, std::uint64_t seed) : CopilotWorld(Counted(replicas, seed)) {}

  // Both pilots serve, and some commands are committed.
  void Begin() {
    ASSERT_TRUE(WaitForPilots());
    ASSERT_TRUE(Commit(20)) << "nothing is committed without a fault";
    cluster.RunFor(500ms);
    coroutines_ = Coroutines();
  }

  // No live pilot has a call of this kind, or more coroutines than before.
  template <typename Request>
  void ExpectNothingLeft() {
    constexpr std::uint64_t kCoroutines = 40;
    for (const PeerId pilot : {0, 1}) {
      if (!cluster.simulator().IsUp(pilot)) continue;
      EXPECT_EQ(OutstandingCallsOf(cluster.simulator(), pilot, Request::kMethod), 0U)
          << "calls of " << Request::kName << " that replica " << pilot << " has left behind";
    }
    EXPECT_LE(Coroutines(), coroutines_ + kCoroutines) << "of the pilots";
  }

 private:
  std::uint64_t Coroutines() {
    std::uint64_t count = 0;
    for (const PeerId pilot : {0, 1}) {
      if (cluster.simulator().IsUp(pilot)) {
        count += UnfinishedCoroutines(cluster.simulator(), pilot);
      }
    }
    return count;
  }

  std::uint64_t coroutines_ = 0;
};

// Nobody answers the pilot's proposal, and another replica has decided the entry meanwhile.
void LostProposalsAreReleased() {
  testkit::Cluster cluster(Counted(3, 615));
  cluster.Start();
  cluster.Partition({0});
  cluster.RunFor(30ms);
  const SentRequests<FastAccept> proposals(cluster);
  testkit::Client client(cluster.simulator());
  SubmitTo(client, 0, 1);
  ASSERT_TRUE(cluster.RunUntil([&] { return !proposals.all().empty(); }, 500ms))
      << "the pilot does not propose the command";
  EXPECT_TRUE(AskOne(cluster, client, 0, Commit{Lane::kPilot, 1, true, 0, kPilots}).known);
  cluster.RunFor(4s);
  EXPECT_EQ(OutstandingCallsOf(cluster.simulator(), 0, FastAccept::kMethod), 0U)
      << "calls of a proposal whose entry another replica has decided";
}

GRADED_TEST(CopilotCalls, OfProposalsAreReleased, "5a", 1,
            "The calls of a proposal are released a while after its decision, whoever decides it, "
            "or after the wait for a majority that does not come: none is left for a dead "
            "replica.") {
  ASSERT_NO_FATAL_FAILURE(LostProposalsAreReleased());
  CountedWorld world(3, 611);
  ASSERT_NO_FATAL_FAILURE(world.Begin());
  world.cluster.Crash(kFollower);
  world.SubmitEvery(5ms, 200);
  world.cluster.RunFor(500ms);
  ASSERT_NO_FATAL_FAILURE(world.ExpectNothingLeft<FastAccept>());
  world.cluster.Partition({0});
  world.SubmitEvery(5ms, 20);
  world.cluster.RunFor(4s);
  world.ExpectNothingLeft<FastAccept>();
}

// The follower is dead. A pilot's Accepts find nobody, or the other pilot has promised more.
void LostAcceptsAreReleased(bool are_refused) {
  CountedWorld world(3, 613);
  ASSERT_NO_FATAL_FAILURE(world.Begin());
  const SentRequests<Accept> accepts(world.cluster);
  world.cluster.Crash(kFollower);
  world.cluster.Begin(faults::LinkSlow({0}, {1}, 20ms));
  world.cluster.Begin(faults::LinkSlow({1}, {0}, 20ms));
  testkit::Client client(world.cluster.simulator());
  SubmitTo(client, 0, 1);
  SubmitTo(client, 1, 2);
  ASSERT_TRUE(world.cluster.RunUntil([&] { return !accepts.all().empty(); }, 1s))
      << "crossing proposals do not take the slow path";
  if (are_refused) {
    const auto first = accepts.all().front();
    const Prepare promise{first.request.lane, first.request.ballot + 1000, first.request.index,
                          false, 0};
    EXPECT_TRUE(AskOne(world.cluster, client, 1 - first.from, promise).promised);
  } else {
    world.cluster.Partition({0});
  }
  world.cluster.RunFor(4s);
  world.ExpectNothingLeft<Accept>();
}

GRADED_TEST(CopilotCalls, OfAcceptsAreReleased, "5b", 1,
            "The calls of an Accept are released a while after its majority, or after the wait for "
            "a majority that does not come, also if the Accept is refused.") {
  ASSERT_NO_FATAL_FAILURE(LostAcceptsAreReleased(/*are_refused=*/false));
  ASSERT_NO_FATAL_FAILURE(LostAcceptsAreReleased(/*are_refused=*/true));
  CountedWorld world(7, 612);
  ASSERT_NO_FATAL_FAILURE(world.Begin());
  for (const PeerId dead : {4, 5, 6}) world.cluster.Crash(dead);
  FrameCounter counter(world.cluster);
  world.SubmitEvery(20ms, 50);
  EXPECT_GT(counter.requests<Accept>(), 50U) << "four of seven replicas are no fast quorum";
  world.cluster.RunFor(500ms);
  world.ExpectNothingLeft<Accept>();
}

GRADED_TEST(CopilotCalls, OfPreparesAreReleased, "5d", 1,
            "The calls of a Prepare are released after the wait for promises, also if there is no "
            "majority.") {
  CountedWorld world(3, 614);
  ASSERT_NO_FATAL_FAILURE(world.Begin());
  FrameCounter counter(world.cluster);
  world.cluster.Begin(faults::NetSlow({0}, 400ms));
  for (std::uint64_t i = 0; i < 5; ++i) {
    world.SubmitEvery(5ms, 20);
    world.cluster.RunFor(1s);
  }
  EXPECT_GT(counter.requests<Prepare>(), 0U) << "no entry of the slow pilot is taken over";
  world.cluster.Crash(0);
  world.SubmitEvery(5ms, 20);
  world.cluster.RunFor(500ms);
  ASSERT_NO_FATAL_FAILURE(world.ExpectNothingLeft<Prepare>());
  world.cluster.Crash(kFollower);
  testkit::Client client(world.cluster.simulator());
  SubmitTo(client, 1, 1);
  world.cluster.RunFor(10s);
  EXPECT_LE(OutstandingCallsOf(world.cluster.simulator(), 1, Prepare::kMethod), 4U)
      << "calls of more than one try, of a taker that is alone";
}

}  // namespace
}  // namespace depfast::copilot
