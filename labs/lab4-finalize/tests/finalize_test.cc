// The public tests of Finalize alone: students see, run and replay them.
#include <gtest/gtest.h>

#include "fan_out_runner.h"
#include "testkit/environment.h"

namespace depfast::lab4 {
namespace {

using Answer = PeerPlan::Answer;
using End = CallReport::End;

// Four peers, of which two make a quorum at once.
GRADED_TEST(Finalize, LateAnswersCountWithinTheGrace, "4a", 3,
            "An answer within the grace counts like any other, and the event is ready once all "
            "calls are decided.") {
  FanOutRunner runner({.replicas = 5, .seed = 401});
  const auto report = runner.Run({{.needed = 2,
                                   .plan = {{}, {}, After(40ms), After(60ms, Answer::kNo)},
                                   .wait_ns = Ns(1s),
                                   .grace_ns = Ns(100ms)}},
                                 300ms)[0];
  EXPECT_TRUE(IsAt(report.waited_ns, 0ms)) << "(the wait for the quorum ends)";
  EXPECT_TRUE(Ended(report.calls[2], End::kAnswered, 40ms));
  EXPECT_TRUE(Ended(report.calls[3], End::kAnswered, 60ms));
  EXPECT_TRUE(IsAt(report.ended_ns, 60ms)) << "(the event of Finalize is ready)";
  EXPECT_EQ(report.yes, 3);
  EXPECT_EQ(report.no, 1);
  EXPECT_EQ(report.lost, 0);
}

GRADED_TEST(Finalize, WhatIsLeftIsReleased, "4a", 3,
            "The calls that have no answer at the end of the grace are released, and nothing of "
            "the fan-out is left.") {
  FanOutRunner runner({.replicas = 5, .seed = 402});
  const auto report = runner.Run({{.needed = 2,
                                   .plan = {{}, {}, After(40ms), kSilent},
                                   .wait_ns = Ns(1s),
                                   .grace_ns = Ns(100ms)}},
                                 300ms)[0];
  EXPECT_TRUE(Ended(report.calls[2], End::kAnswered, 40ms));
  EXPECT_TRUE(Ended(report.calls[3], End::kReleased, 100ms));
  EXPECT_TRUE(IsAt(report.ended_ns, 100ms)) << "(the event of Finalize is ready)";
  EXPECT_EQ(report.yes, 3);
  EXPECT_EQ(report.lost, 1) << "a released call votes lost";
  EXPECT_FALSE(report.is_kept) << "the quorum is alive after its end";
  EXPECT_EQ(runner.outstanding_calls(), 0u);
}

GRADED_TEST(Finalize, ReturnsAtOnce, "4a", 2,
            "Finalize returns at once, so the caller's reply does not wait for the slow peer.") {
  FanOutRunner runner({.replicas = 3, .seed = 403});
  const auto report = runner.Run(
      {{.needed = 1, .plan = {{}, After(60ms)}, .wait_ns = Ns(1s), .grace_ns = Ns(100ms)}},
      300ms)[0];
  EXPECT_TRUE(IsAt(report.called_ns, 0ms)) << "(Finalize is called)";
  EXPECT_EQ(report.returned_ns, report.called_ns);
  EXPECT_TRUE(IsAt(report.ended_ns, 60ms)) << "(the event of Finalize is ready)";
}

GRADED_TEST(FinalizeGrace, MayBeZero, "4a", 1,
            "Without a grace the rest is released as soon as the quorum is decided, and Finalize "
            "does not wait either.") {
  FanOutRunner runner({.replicas = 4, .seed = 415});
  for (const bool first : {true, false}) {
    const auto report = runner.Run({{.needed = 1,
                                     .plan = {After(20ms), After(40ms), kSilent},
                                     .finalize_first = first,
                                     .wait_ns = Ns(1s),
                                     .grace_ns = 0}},
                                   200ms)[0];
    EXPECT_EQ(report.returned_ns, report.called_ns);
    EXPECT_TRUE(Ended(report.calls[1], End::kReleased, 20ms));
    EXPECT_TRUE(Ended(report.calls[2], End::kReleased, 20ms));
    EXPECT_TRUE(IsAt(report.ended_ns, 20ms)) << "(the event of Finalize is ready)";
  }
}

}  // namespace
}  // namespace depfast::lab4
