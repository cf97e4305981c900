// Hidden tests: the background flush.
#include <gtest/gtest.h>

#include "stage.h"
#include "testkit/environment.h"

namespace depfast::saucr {
namespace {

GRADED_TEST(Flush, InTheBackground, "6b", 2,
            "Without a failure entries are on all disks 150 ms after they were committed, and no "
            "disk says that a crash loses nothing.") {
  SaucrWorld world({.replicas = 5, .seed = 711});
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(world.Commit(5));
    const EntryId last = world.LastCommitted();
    world.cluster.RunFor(150ms);
    for (PeerId id = 0; id < 5; ++id) {
      EXPECT_TRUE(world.HasOnDisk(id, last)) << "replica " << id << " does not flush";
      EXPECT_FALSE(world.SaysAllIsThere(id)) << "replica " << id << " writes a marker";
    }
  }
  EXPECT_EQ(world.checker.coverage().switches, 1U) << "no replica has failed";
}

GRADED_TEST(Fast, ABackgroundFlushDelaysNobody, "6b", 2,
            "With disks that take 5 ms no answer of fast mode waits for one, after the first.") {
  sim::Profile profile = sim::Profile::Lab();
  profile.net.latency_jitter.tail_permille = 0;
  profile.disk.sync = 5ms;
  profile.disk.sync_jitter = {};
  SaucrWorld world({.replicas = 5, .seed = 712, .profile = profile});
  ASSERT_TRUE(world.WaitForMode(Mode::kFast));
  ASSERT_TRUE(world.Commit(1)) << "the first command of fast mode";
  for (const Time end = world.cluster.now() + 500ms; world.cluster.now() < end;) {
    ASSERT_LT(world.SlowestOf(10), 2ms) << "a command waits for a disk";
  }
}

}  // namespace
}  // namespace depfast::saucr
