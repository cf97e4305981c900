// The handbook's example of a student's own test. Copy it to labs/lab2-raft/tests/mine_test.cc.
#include "testkit/chaos.h"

#include "faults/random_plan.h"
#include "raft_world.h"
#include "testkit/own_test.h"

namespace depfast::raft {

// --8<-- [start:chaos]
OWN_TEST(Mine, SurvivesFaults, "After random faults, three replicas commit again.") {
  RandomStream random(testkit::SeedOf(1), 1);
  const faults::FaultPlan plan = faults::RandomPlan(random, {.replicas = 3});
  testkit::RunChaos({.replicas = 3, .plan = plan}, [](testkit::Chaos& chaos) {
    RaftWorld world({.replicas = chaos.replicas(), .seed = 1});
    world.cluster.Schedule(chaos.plan());
    for (; world.cluster.now() < 5s; world.cluster.RunFor(25ms)) {
      if (chaos.MayStartCommand()) world.SubmitOne();
    }
    world.cluster.Heal();
    ASSERT_TRUE(world.Commit(10, 6s)) << "no progress after the last fault";
    ASSERT_TRUE(world.AllInvariantsHold());
  });
}
// --8<-- [end:chaos]

}  // namespace depfast::raft
