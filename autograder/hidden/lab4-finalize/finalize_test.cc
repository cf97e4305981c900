// Hidden tests of Finalize alone: the moment at which the grace begins, the calls that it holds
// for, and what is left afterwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "depfast/host/random.h"
#include "fan_out_runner.h"
#include "testkit/environment.h"
#include "testkit/told.h"

namespace depfast::lab4 {
namespace {

using Answer = PeerPlan::Answer;
using End = CallReport::End;

// Ready at 60 ms. The third answer comes after 120 ms: later than a grace from the call of
// Finalize, or from the broadcast.
GRADED_TEST(FinalizeGrace, BeginsWhenTheQuorumIsReady, "4a", 2,
            "The grace begins when the quorum is ready, also if Finalize was called before.") {
  FanOutRunner runner({.replicas = 5, .seed = 410});
  for (const bool first : {true, false}) {
    const auto report = runner.Run({{.needed = 2,
                                     .plan = {{}, After(60ms), After(120ms), kSilent},
                                     .finalize_first = first,
                                     .wait_ns = Ns(1s),
                                     .grace_ns = Ns(100ms)}},
                                   300ms)[0];
    EXPECT_EQ(report.returned_ns, report.called_ns);
    EXPECT_TRUE(IsAt(report.waited_ns, 60ms)) << "(the wait for the quorum ends)";
    EXPECT_TRUE(Ended(report.calls[2], End::kAnswered, 120ms));
    EXPECT_TRUE(Ended(report.calls[3], End::kReleased, 160ms));
    EXPECT_TRUE(IsAt(report.ended_ns, 160ms)) << "(the event of Finalize is ready)";
    EXPECT_EQ(report.yes, 3);
  }
}

// Two of four say no: three of four is impossible at 30 ms.
GRADED_TEST(FinalizeGrace, BeginsWhenTheQuorumFails, "4a", 2,
            "The grace begins when the quorum fails: answers after that count, too.") {
  FanOutRunner runner({.replicas = 5, .seed = 411});
  for (const bool first : {true, false}) {
    const auto report = runner.Run(
        {{.needed = 3,
          .plan = {After(5ms, Answer::kNo), After(30ms, Answer::kError), After(110ms), kSilent},
          .finalize_first = first,
          .wait_ns = Ns(1s),
          .grace_ns = Ns(100ms)}},
        300ms)[0];
    EXPECT_TRUE(IsAt(report.waited_ns, 30ms)) << "(the wait for the quorum ends)";
    EXPECT_TRUE(Ended(report.calls[2], End::kAnswered, 110ms));
    EXPECT_TRUE(Ended(report.calls[3], End::kReleased, 130ms));
    EXPECT_TRUE(IsAt(report.ended_ns, 130ms)) << "(the event of Finalize is ready)";
    EXPECT_EQ(report.yes, 1);
    EXPECT_EQ(report.no, 1);
  }
}

GRADED_TEST(FinalizeGrace, BeginsAtOnceAfterATimeout, "4a", 2,
            "The grace begins at once if the Wait on the quorum has timed out, and the quorum may "
            "still become ready.") {
  FanOutRunner runner({.replicas = 5, .seed = 412});
  const FanOut undecided{.needed = 3,
                         .plan = {{}, After(80ms), kSilent, kSilent},
                         .wait_ns = Ns(50ms),
                         .grace_ns = Ns(100ms)};
  FanOut late = undecided;
  late.plan[2] = After(120ms);
  const auto reports = runner.Run({undecided, late}, 400ms);
  for (const FanOutReport& report : reports) {
    EXPECT_TRUE(IsAt(report.waited_ns, 50ms)) << "(the wait for the quorum ends)";
    EXPECT_EQ(report.returned_ns, report.called_ns);
    EXPECT_TRUE(Ended(report.calls[1], End::kAnswered, 80ms));
    EXPECT_TRUE(Ended(report.calls[3], End::kReleased, 150ms));
    EXPECT_TRUE(IsAt(report.ended_ns, 150ms)) << "(the event of Finalize is ready)";
  }
  EXPECT_EQ(reports[0].yes, 2);
  EXPECT_EQ(reports[1].yes, 3) << "the quorum became ready at 120 ms";
}

GRADED_TEST(FinalizeGrace, IsWholeForEachCall, "4a", 2,
            "Each call has the whole grace: neither an answer nor a failure of another call ends "
            "or extends it.") {
  FanOutRunner runner({.replicas = 7, .seed = 413});
  const auto report = runner.Run(
      {{.needed = 2,
        .plan = {{}, {}, After(20ms, Answer::kError), After(50ms), After(90ms), After(140ms)},
        .wait_ns = Ns(1s),
        .grace_ns = Ns(100ms)}},
      300ms)[0];
  EXPECT_TRUE(Ended(report.calls[2], End::kFailed, 20ms));
  EXPECT_TRUE(Ended(report.calls[3], End::kAnswered, 50ms));
  EXPECT_TRUE(Ended(report.calls[4], End::kAnswered, 90ms));
  EXPECT_TRUE(Ended(report.calls[5], End::kReleased, 100ms));
  EXPECT_TRUE(IsAt(report.ended_ns, 100ms)) << "(the event of Finalize is ready)";
  EXPECT_FALSE(report.failed) << "the event of Finalize does not fail";
  EXPECT_EQ(report.yes, 4);
  EXPECT_EQ(report.lost, 2);
}

// The three overlap, to the same peers. The last one still waits for its quorum when the first
// one's grace ends.
GRADED_TEST(FinalizeGrace, BelongsToOneFanOut, "4a", 2,
            "Each fan-out has a grace of its own, and its end touches no call of another.") {
  FanOutRunner runner({.replicas = 4, .seed = 414});
  const auto reports = runner.Run(
      {{.needed = 2, .plan = {{}, {}, kSilent}, .wait_ns = Ns(1s), .grace_ns = Ns(100ms)},
       {.at_ns = Ns(40ms),
        .needed = 1,
        .plan = {{}, After(90ms), kSilent},
        .wait_ns = Ns(1s),
        .grace_ns = Ns(200ms)},
       {.at_ns = Ns(60ms),
        .needed = 3,
        .plan = {{}, {}, After(140ms)},
        .wait_ns = Ns(1s),
        .grace_ns = Ns(10ms)}},
      400ms);
  EXPECT_TRUE(Ended(reports[0].calls[2], End::kReleased, 100ms));
  EXPECT_TRUE(IsAt(reports[0].ended_ns, 100ms)) << "(the event of Finalize is ready)";
  EXPECT_TRUE(Ended(reports[1].calls[1], End::kAnswered, 130ms));
  EXPECT_TRUE(Ended(reports[1].calls[2], End::kReleased, 240ms));
  EXPECT_TRUE(IsAt(reports[1].ended_ns, 240ms)) << "(the event of Finalize is ready)";
  EXPECT_TRUE(Ended(reports[2].calls[2], End::kAnswered, 200ms));
  EXPECT_TRUE(IsAt(reports[2].waited_ns, 200ms)) << "(the wait for the quorum ends)";
  EXPECT_TRUE(IsAt(reports[2].ended_ns, 200ms)) << "(the event of Finalize is ready)";
}

GRADED_TEST(FinalizeGrace, HoldsIfTheCallerForgets, "4a", 1,
            "Until the grace is over late answers vote in the quorum, also if the caller keeps "
            "neither the quorum nor the event.") {
  FanOutRunner runner({.replicas = 4, .seed = 419});
  for (const bool first : {true, false}) {
    const auto report = runner.Run({{.needed = 1,
                                     .plan = {{}, After(50ms), After(150ms)},
                                     .finalize_first = first,
                                     .forgets = true,
                                     .wait_ns = Ns(1s),
                                     .grace_ns = Ns(100ms)}},
                                   300ms)[0];
    EXPECT_TRUE(Ended(report.calls[1], End::kAnswered, 50ms));
    EXPECT_TRUE(Ended(report.calls[2], End::kReleased, 100ms));
    EXPECT_EQ(report.asked, 2) << "of three answers two come within the grace";
    EXPECT_FALSE(report.is_kept) << "the grace is over, and the quorum lives";
  }
}

// A fan-out's end by the rules. Moments of different kinds are at least 5 ms apart: answers
// come at multiples of 20 ms, a Wait ends 10 ms after one, and a grace adds 5 ms.
struct Expected {
  explicit Expected(const FanOut& fan_out) {
    int yes = 0, others = 0;
    std::vector<PeerPlan> plan = fan_out.plan;
    std::ranges::sort(plan, {}, &PeerPlan::delay_ns);
    for (const PeerPlan& peer : plan) {
      if (peer.answer == Answer::kNothing) continue;
      ++(peer.answer == Answer::kYes ? yes : others);
      const int left = static_cast<int>(plan.size()) - others;
      if (decided_ns == kNeverNs && (yes >= fan_out.needed || left < fan_out.needed)) {
        decided_ns = peer.delay_ns;
      }
    }
    const bool times_out = decided_ns == kNeverNs || decided_ns > fan_out.wait_ns;
    waited_ns = times_out ? fan_out.wait_ns : decided_ns;
    const std::int64_t from_ns = fan_out.finalize_first ? decided_ns : waited_ns;
    if (from_ns != kNeverNs) released_ns = from_ns + fan_out.grace_ns;
  }

  void Check(const FanOut& fan_out, const FanOutReport& report) const {
    EXPECT_TRUE(IsAt(report.waited_ns, Duration(fan_out.at_ns + waited_ns)))
        << "(the wait for the quorum ends)";
    EXPECT_EQ(report.returned_ns, report.called_ns);
    int yes = 0;
    std::int64_t ended_ns = 0;
    for (std::size_t i = 0; i < fan_out.plan.size(); ++i) {
      SCOPED_TRACE("call " + std::to_string(i));
      const PeerPlan& peer = fan_out.plan[i];
      const bool answers = peer.answer != Answer::kNothing &&
                           (released_ns == kNeverNs || peer.delay_ns < released_ns);
      const std::int64_t at_ns = answers ? peer.delay_ns : released_ns;
      const End failed = answers ? End::kFailed : End::kReleased;
      const bool is_answer = answers && peer.answer != Answer::kError;
      if (at_ns == kNeverNs) {
        EXPECT_EQ(report.calls[i].end, End::kNone) << "no grace has begun";
        ended_ns = kNeverNs;
      } else {
        EXPECT_TRUE(Ended(report.calls[i], is_answer ? End::kAnswered : failed,
                          Duration(fan_out.at_ns + at_ns)));
        if (ended_ns != kNeverNs) ended_ns = std::max(ended_ns, at_ns);
      }
      yes += is_answer && peer.answer == Answer::kYes ? 1 : 0;
    }
    EXPECT_EQ(report.yes, yes);
    if (ended_ns == kNeverNs) {
      EXPECT_EQ(report.ended_ns, kNeverNs);
    } else {
      const std::int64_t called_ns = fan_out.finalize_first ? 0 : waited_ns;
      EXPECT_TRUE(IsAt(report.ended_ns, Duration(fan_out.at_ns + std::max(ended_ns, called_ns))))
          << "(the event of Finalize is ready)";
    }
  }

  std::int64_t decided_ns = kNeverNs;  // by answers alone
  std::int64_t waited_ns = 0;
  std::int64_t released_ns = kNeverNs;  // the end of the grace
};

GRADED_TEST(FinalizeGrace, FollowsItsRules, "4a", 1,
            "Any answers, failures and silences, with Finalize before or after the Wait, give the "
            "ends that the rules determine.") {
  FanOutRunner runner({.replicas = 6, .seed = 418});
  RandomStream random(runner.cluster.simulator().options().seed, 418);
  constexpr Answer kAnswers[] = {Answer::kYes, Answer::kYes, Answer::kNo, Answer::kError,
                                 Answer::kNothing};
  const auto draw = [&](std::uint64_t below) {
    return Ns(20ms) * static_cast<std::int64_t>(random.Below(below));
  };
  std::vector<FanOut> fan_outs;
  for (int i = 0; i < 60; ++i) {
    FanOut next{.at_ns = Ns(7ms) * i, .needed = 1 + static_cast<int>(random.Below(5))};
    for (int peer = 0; peer < 5; ++peer) {
      next.plan.push_back({kAnswers[random.Below(5)], Ns(20ms) + draw(12)});
    }
    next.finalize_first = i % 2 == 0;
    next.wait_ns = Ns(10ms) + draw(12);
    next.grace_ns = Ns(5ms) + draw(8);
    fan_outs.push_back(next);
  }
  const auto reports = runner.Run(fan_outs, 2s);
  for (std::size_t i = 0; i < fan_outs.size(); ++i) {
    SCOPED_TRACE("fan-out " + std::to_string(i));
    Expected(fan_outs[i]).Check(fan_outs[i], reports[i]);
    if (HasFailure()) return;
  }
}

GRADED_TEST(FinalizeEnd, ComesWithTheLastCall, "4a", 1,
            "The event is ready as soon as no call is left: at once if none is left when Finalize "
            "is called. Then no coroutine is left, either.") {
  FanOutRunner runner({.replicas = 3, .seed = 416});
  const auto reports = runner.Run({{.needed = 2, .wait_ns = Ns(1s), .grace_ns = Ns(100ms)},
                                   {.needed = 1,
                                    .plan = {{}, After(30ms, Answer::kError)},
                                    .wait_ns = Ns(1s),
                                    .grace_ns = Ns(100ms)},
                                   {.needed = 1,
                                    .plan = {After(20ms, Answer::kError), kSilent},
                                    .wait_ns = Ns(10ms),
                                    .grace_ns = Ns(100ms)}},
                                  300ms);
  EXPECT_EQ(reports[0].ended_ns, reports[0].returned_ns) << "every call was answered before";
  EXPECT_FALSE(reports[0].is_kept) << "nothing is left, and the quorum lives";
  EXPECT_NE(reports[0].ended_ns, kNeverNs);
  EXPECT_TRUE(IsAt(reports[1].ended_ns, 30ms)) << "(the event of Finalize is ready)";
  EXPECT_FALSE(reports[1].failed) << "a call failed, and the event with it";
  EXPECT_TRUE(IsAt(reports[2].ended_ns, 110ms)) << "(the event of Finalize is ready)";
  EXPECT_FALSE(reports[2].failed) << "no call was answered, and the event failed";
  constexpr int kFanOuts = 50;
  const FanOut prompt{
      .needed = 1, .plan = {{}, After(30ms)}, .wait_ns = Ns(1s), .grace_ns = Ns(1h)};
  runner.Run(std::vector<FanOut>(kFanOuts, prompt), 100ms);
  EXPECT_LT(runner.coroutines(), kFanOuts / 10) << "every call has ended, and coroutines have not";
}

GRADED_TEST(FinalizeEnd, IsFinal, "4a", 1, "An answer after the grace changes nothing.") {
  FanOutRunner runner({.replicas = 4, .seed = 417});
  const auto report = runner.Run({{.needed = 1,
                                   .plan = {{}, After(150ms), After(200ms, Answer::kNo)},
                                   .wait_ns = Ns(1s),
                                   .grace_ns = Ns(100ms)}},
                                 400ms)[0];
  EXPECT_TRUE(Ended(report.calls[1], End::kReleased, 100ms));
  EXPECT_TRUE(Ended(report.calls[2], End::kReleased, 100ms));
  EXPECT_TRUE(IsAt(report.ended_ns, 100ms)) << "(the event of Finalize is ready)";
  EXPECT_EQ(report.yes, 1);
  EXPECT_EQ(report.no, 0);
  EXPECT_EQ(report.lost, 2);
}

// 200 fan-outs in 200 ms; the last peer takes a second for each message. The connection takes 256
// KiB, the rest of 1.6 MB waits at replica 0.
GRADED_TEST(FinalizeEnd, LeavesNothingForAVerySlowPeer, "4a", 2,
            "When a peer takes a second for a message, no call, frame, coroutine or memory is left "
            "of fan-outs whose grace is over, even if the caller has forgotten them.") {
  constexpr int kFanOuts = 200;
  constexpr std::uint32_t kPayload = 8 * 1024;
  FanOutRunner runner({.replicas = 4, .seed = 418});
  runner.cluster.Begin(faults::LinkSlow({0}, {3}, 1s));
  std::vector<FanOut> fan_outs;
  for (int i = 0; i < kFanOuts; ++i) {
    fan_outs.push_back({.at_ns = Ns(i * 1ms),
                        .needed = 2,
                        .payload = kPayload,
                        .finalize_first = i % 2 == 0,
                        .forgets = i % 3 != 0,
                        .wait_ns = Ns(1s),
                        .grace_ns = Ns(100ms)});
  }
  const auto reports = runner.Run(fan_outs, 400ms);
  std::size_t kept = 0;
  for (int i = 0; i < kFanOuts; ++i) {
    const FanOutReport& report = reports[static_cast<std::size_t>(i)];
    ASSERT_TRUE(Ended(report.calls[2], End::kReleased, i * 1ms + 100ms)) << "fan-out " << i;
    kept += report.is_kept ? 1 : 0;
  }
  EXPECT_EQ(kept, 0u) << "quorums are alive after their end";
  EXPECT_EQ(runner.outstanding_calls(), 0u);
  if (runner.frames_released() == 0) {
    testkit::CouldNotBuild("no frame waits for a slow link at a release: were all calls given up?");
  }
  // A vote of an early election may wait, too. It takes less than one of these frames.
  EXPECT_LT(runner.cluster.simulator().HeldBytes(0, 3), kPayload);
  EXPECT_LT(runner.coroutines(), kFanOuts / 10) << "coroutines that have not ended";
  // Run once more: whatever is kept of a fan-out that is over, the heap grows by it. A call takes
  // more than 100 bytes. A table that grows now and then may take less than that for all.
  const std::uint64_t heap = runner.heap_bytes();
  runner.Run(fan_outs, 400ms);
  EXPECT_LE(runner.heap_bytes(), heap + kFanOuts * 3 * 100) << "memory of calls that are over";
}

}  // namespace
}  // namespace depfast::lab4
