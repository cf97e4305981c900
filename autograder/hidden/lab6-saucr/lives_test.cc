// Hidden tests: lives, which say whether the memory that has acknowledged an entry is still there.
#include <gtest/gtest.h>

#include "safety.h"
#include "stage.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

// W8. The crashed replica hears of its LLE from the late one alone, which lacks the entry. Returns
// whether it did: a replica that asks one after the other may wait for the leader first.
bool AsksTheLateOne(std::uint64_t number) {
  SaucrWorld world({.replicas = 3, .seed = number});
  if (!world.BeginFast(5)) {
    ADD_FAILURE() << "nothing is committed in fast mode";
    return false;
  }
  const PeerId leader = world.Leader();
  const auto followers = world.Followers();
  const PeerId crashes = followers[number % 2], late = followers[1 - number % 2];
  world.cluster.Begin(faults::LinkSlow({leader}, {late}, 16ms));
  world.cluster.RunFor(100ms);
  EXPECT_TRUE(world.WaitForMode(Mode::kFast, 1ms)) << "it answers within a beat";
  world.cluster.Begin(faults::FsDelay({leader}, 400ms));
  const EntryId before = world.LastCommitted();
  world.SubmitOne();
  world.cluster.RunFor(2ms);
  world.cluster.Begin(faults::CutFault({crashes}, {leader}));
  world.cluster.Crash(crashes);
  world.cluster.Restart(crashes);
  if (!world.cluster.RunUntil([&] { return world.HasRecovered(crashes); }, 12ms)) return false;
  world.cluster.RunFor(50ms);
  EXPECT_EQ(world.LastCommitted(), before)
      << Unsafe(Safety::kAcknowledgedIsKept)
      << "the memory of one of three is gone, and one disk has the entry at most";
  EXPECT_TRUE(world.ServesAgain());
  return true;
}

GRADED_TEST(Lives, AnOldAcknowledgementDoesNotCount, "6c", 2,
            "An entry that was acknowledged in an earlier life needs a new answer.") {
  bool is_asked = false;
  for (std::uint64_t number = 751; number < 783 && !is_asked && !HasFailure(); ++number) {
    is_asked = AsksTheLateOne(number);
  }
  EXPECT_TRUE(is_asked) << "in 32 worlds no replica is back 12 ms after its restart";
}

GRADED_TEST(Lives, AreDurableBeforeTheAnswer, "6c", 2,
            "An answer to a query leaves when the asking replica's life is on the disk.") {
  Stage stage(752);
  stage.cluster.Begin(faults::FsDelay({0}, 10ms));
  for (Life life = 1; life <= 3; ++life) {
    Lives lives(3);
    lives[1] = life;
    // A second query comes while the life is on its way to the disk.
    stage.Send(0, LleQuery{life, lives});
    const auto answer = stage.Ask(0, LleQuery{life, lives});
    ASSERT_TRUE(answer && answer->recovered && answer->lives.size() == 3);
    EXPECT_GE(answer->lives[1], life)
        << Unsafe(Safety::kAcknowledgedIsKept) << "the answer does not name it";
    EXPECT_GE(stage.checker.disk(0).LifeOf(1), life)
        << Unsafe(Safety::kDurablePromise) << "its disk does not have it";
    stage.CrashAndStart(0);
    stage.cluster.RunFor(50ms);
    const auto later = stage.Ask(0, LleQuery{1, Lives(3)});
    ASSERT_TRUE(later && later->lives.size() == 3);
    EXPECT_GE(later->lives[1], life) << Unsafe(Safety::kDurablePromise) << "it has forgotten it";
  }
}

}  // namespace
}  // namespace depfast::saucr
