// Waiting, timeouts and late votes, thoroughly.
#include "quorum_model.h"
#include "script_runner.h"

namespace depfast::lab1 {
namespace {

GRADED_TEST(QuorumWaits, EveryWaiterIsWoken, "time", 3,
            "Any number of coroutines can wait: each returns at the decision or at its own "
            "timeout, whichever is first") {
  Script script;
  const Id quorum = script.Quorum(2, 3);
  script.In("first").WaitsFor(quorum).Until(Result::kReady, 20ms);
  script.In("hasty").WaitsFor(quorum, 10ms).Until(Result::kTimedOut, 10ms);
  script.In("second").At(1ms).WaitsFor(quorum, 100ms).Until(Result::kReady, 20ms);
  script.In("nearly").At(2ms).WaitsFor(quorum, 17ms).Until(Result::kTimedOut, 19ms);
  script.In("third").At(15ms).WaitsFor(quorum).Until(Result::kReady, 20ms);
  script.In("after").At(40ms).WaitsFor(quorum, 1ms).Until(Result::kReady, 40ms);
  auto replies = script.In("replies");
  replies.At(5ms).Yes(quorum, 1);
  replies.At(20ms).Yes(quorum, 2);
  ExpectPasses(script);
}

GRADED_TEST(QuorumWaits, AnEarlierWaiterIsLeftAlone, "time", 2,
            "Late votes are counted without resuming a coroutine that now waits for another "
            "event") {
  Script script;
  const Id old_term = script.Quorum(2, 3);
  const Id new_term = script.Quorum(2, 3);
  auto leader = script.In("leader");
  leader.WaitsFor(old_term, 10ms).Until(Result::kTimedOut, 10ms);
  leader.WaitsFor(new_term, 100ms).Until(Result::kReady, 60ms);
  leader.Sees(old_term, {.ready = true, .timed_out = false, .yes = 3, .no = 0});
  auto replies = script.In("replies");
  replies.At(20ms).Yes(old_term, 0);
  replies.At(21ms).Yes(old_term, 1);
  replies.At(22ms).Yes(old_term, 2);
  replies.At(30ms).Yes(new_term, 0);
  replies.At(60ms).Yes(new_term, 1);
  ExpectPasses(script);
}

GRADED_TEST(
    QuorumWaits, VotingDoesNotSwitch, "time", 2,
    "Scheduling is lazy: a coroutine that casts the deciding vote runs until it waits; then "
    "the waiters run, first come, first served") {
  Script script;
  const Id quorum = script.Quorum(1, 2);
  auto first = script.In("first");
  auto second = script.In("second");
  first.WaitsFor(quorum).Until(Result::kReady, 5ms);
  second.WaitsFor(quorum).Until(Result::kReady, 5ms);
  auto voter = script.In("voter");
  voter.At(5ms).Yes(quorum, 0);
  const auto vote = voter.step();
  voter.Sees(quorum, {.ready = true, .yes = 1});
  voter.Yes(quorum, 1);
  voter.Notes();
  script.ExpectOrder({vote, voter.step(), first.step(), second.step()});
  ExpectPasses(script);
}

GRADED_TEST(QuorumWaits, WaitingForADecisionIsFree, "time", 2,
            "A wait for a decided event returns at once, without running another coroutine") {
  Script script;
  const Id won = script.Quorum(1, 1);
  const Id lost = script.Quorum(1, 1);
  script.In("setup").Yes(won, 0);
  script.In("setup").No(lost, 0);
  auto leader = script.In("leader");
  leader.At(5ms).WaitsFor(won).Until(Result::kReady, 5ms);
  leader.WaitsFor(lost, 0ms).Until(Result::kFailed, 5ms);
  leader.WaitsFor(won, 0ms).Until(Result::kReady, 5ms);
  auto next = script.In("next");
  auto wakes_next = script.In("wakes next");
  const Id signal = script.Promise();
  next.WaitsFor(signal).Until(Result::kReady, 10ms);
  wakes_next.At(10ms).Keeps(signal);
  wakes_next.WaitsFor(won).Until(Result::kReady, 10ms);
  wakes_next.WaitsFor(lost).Until(Result::kFailed, 10ms);
  script.ExpectOrder({wakes_next.step(), next.step()});
  ExpectPasses(script);
}

GRADED_TEST(QuorumWaits, AWaitOfZeroTimesOut, "time", 2,
            "A wait of zero for an undecided event lets the runnable coroutines run; it times out "
            "at once unless they decide the event") {
  Script script;
  const Id undecided = script.Quorum(1, 1);
  const Id close = script.Quorum(1, 1);
  const Id signal = script.Promise();
  script.In("voter").WaitsFor(signal).Until(Result::kReady, 10ms);
  script.In("voter").Yes(close, 0);
  auto poller = script.In("poller");
  poller.At(5ms).WaitsFor(undecided, 0ms).Until(Result::kTimedOut, 5ms);
  poller.Sees(undecided, {.ready = false, .fail = false, .timed_out = true});
  poller.At(10ms).Keeps(signal);
  poller.WaitsFor(close, 0ms).Until(Result::kReady, 10ms);
  poller.Sees(close, {.ready = true, .timed_out = false});
  poller.WaitsFor(undecided, 0ms).Until(Result::kTimedOut, 10ms);
  poller.Yes(undecided, 0);
  poller.WaitsFor(undecided, 0ms).Until(Result::kReady, 10ms);
  poller.Sees(undecided, {.ready = true, .timed_out = false});
  ExpectPasses(script);
}

GRADED_TEST(QuorumWaits, AWaitKeepsTheEventAlive, "time", 2,
            "An event whose last holder lets go of it lives until its waits have ended, and not "
            "longer") {
  Script script;
  const Id decided = script.Quorum(1, 2);
  const Id silent = script.Quorum(1, 1);
  script.In("setup").Adds(decided, script.Timer(10ms));
  for (const char* name : {"first", "second"}) {
    script.In(name).WaitsFor(decided, 50ms).Until(Result::kReady, 10ms);
  }
  auto patient = script.In("patient");
  patient.WaitsFor(silent, 20ms).Until(Result::kTimedOut, 20ms);
  auto holder = script.In("holder");
  holder.At(5ms).Drops(decided).IsFreed(false);
  holder.Drops(silent).IsFreed(false);
  holder.At(11ms).SeesFreed(decided);
  holder.SeesAlive(silent);
  patient.SeesFreed(silent);
  ExpectPasses(script);
}

GRADED_TEST(QuorumWaits, RandomWaits, "time", 2,
            "For any votes and any waits, every wait ends with the outcome and at the time of the "
            "model") {
  EXPECT_TRUE(RandomScriptsPass(300, 5));
}

}  // namespace
}  // namespace depfast::lab1
