// Chaos: a scenario of a test under a plan of faults. A plan that fails is shown as short as can
// be.
//
//   RunChaos({.replicas = 5, .plan = plan}, [](Chaos& chaos) {
//     World world({.replicas = chaos.replicas(), .seed = 7});
//     world.cluster.Schedule(chaos.plan());
//     while (world.cluster.now() < 4s) {
//       if (chaos.MayStartCommand()) world.SubmitOne();
//       ...
//     }
//     ASSERT_TRUE(world.AllInvariantsHold());
//   });
//
// Without --shrink the scenario runs once. With --shrink=N a dry run comes first. A dry run
// leaves no trace: neither failures, nor histories, nor recordings. It has a process of its own, so
// a crash is a failure like any other. If the first dry run fails, Shrink looks for a shorter
// schedule in up to N more, and the scenario runs with the shortest.
#pragma once

#include <cstdint>
#include <functional>

#include "testkit/shrink.h"

namespace depfast::testkit {

// The schedule of one run, as its scenario sees it.
class Chaos {
 public:
  // Counts the commands in `commands_started`. Both outlive this object.
  Chaos(const Schedule& schedule, std::int64_t& commands_started)
      : schedule_(schedule), started_(commands_started) {}

  int replicas() const { return schedule_.replicas; }
  const faults::FaultPlan& plan() const { return schedule_.plan; }
  // Asked before each command of the clients that the schedule may leave out.
  bool MayStartCommand();

 private:
  const Schedule& schedule_;
  std::int64_t& started_;
};

// A scenario makes its own world from `chaos`, and keeps nothing from one run to the next. It may
// use the assertions of GoogleTest.
using Scenario = std::function<void(Chaos& chaos)>;

void RunChaos(const Schedule& schedule, const Scenario& scenario);

}  // namespace depfast::testkit
