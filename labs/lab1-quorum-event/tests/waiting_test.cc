// Waiting: timeouts, and votes that come late.
#include "script_runner.h"

namespace depfast::lab1 {
namespace {

GRADED_TEST(QuorumEvent, TimeoutLeavesItUsable, "time", 5,
            "A wait that times out leaves the event usable: votes count, and a coroutine can wait "
            "again") {
  Script script;
  const Id quorum = script.Quorum(2, 3);
  auto leader = script.In("leader");
  leader.WaitsFor(quorum, 10ms).Until(Result::kTimedOut, 10ms);
  leader.Sees(quorum, {.ready = false, .fail = false, .timed_out = true, .yes = 1});
  leader.WaitsFor(quorum, 100ms).Until(Result::kReady, 30ms);
  leader.Sees(quorum, {.ready = true, .fail = false, .timed_out = false, .yes = 2});
  auto replies = script.In("replies");
  replies.At(5ms).Yes(quorum, 0);
  replies.At(30ms).Yes(quorum, 1);
  ExpectPasses(script);
}

GRADED_TEST(QuorumEvent, LateVotesAreCounted, "time", 5,
            "Votes after the decision are counted, and do not change the decision") {
  Script script;
  const Id quorum = script.Quorum(2, 5);
  script.In("leader").WaitsFor(quorum).Until(Result::kReady, 2ms);
  auto replies = script.In("replies");
  replies.At(1ms).Yes(quorum, 3);
  replies.At(2ms).Yes(quorum, 1);
  replies.At(3ms).Yes(quorum, 0);
  replies.At(4ms).No(quorum, 2);
  replies.At(5ms).Loses(quorum, 4);
  replies.Sees(quorum, {.ready = true, .fail = false, .yes = 3, .no = 1, .lost = 1});
  ExpectPasses(script);
}

GRADED_TEST(QuorumWaits, LateDecisionIsFoundAtOnce, "time", 2,
            "Votes after a wait's timeout can still decide the quorum, and the next wait returns "
            "the decision at once") {
  Script script;
  const Id won = script.Quorum(2, 3);
  const Id lost = script.Quorum(2, 3);
  auto leader = script.In("leader");
  leader.WaitsFor(won, 10ms).Until(Result::kTimedOut, 10ms);
  leader.WaitsFor(lost, 10ms).Until(Result::kTimedOut, 20ms);
  leader.At(50ms).WaitsFor(won, 10ms).Until(Result::kReady, 50ms);
  leader.WaitsFor(lost, 10ms).Until(Result::kFailed, 50ms);
  leader.Sees(won, {.ready = true, .fail = false, .timed_out = false, .yes = 2, .no = 1});
  leader.Sees(lost, {.ready = false, .fail = true, .timed_out = false, .yes = 0, .no = 2});
  auto replies = script.In("replies");
  replies.At(5ms).No(won, 2);
  replies.At(30ms).Yes(won, 0);
  replies.At(31ms).Yes(won, 1);
  replies.At(32ms).No(lost, 1);
  replies.At(33ms).No(lost, 0);
  ExpectPasses(script);
}

GRADED_TEST(QuorumWaits, TimedOutUntilTheDecision, "time", 2,
            "TimedOut() is true from a wait's timeout until the decision, and at no other time") {
  Script script;
  const Id quorum = script.Quorum(1, 2);
  auto leader = script.In("leader");
  leader.Sees(quorum, {.timed_out = false});
  leader.WaitsFor(quorum, 10ms).Until(Result::kTimedOut, 10ms);
  leader.Sees(quorum, {.ready = false, .fail = false, .timed_out = true});
  leader.WaitsFor(quorum, 0ms).Until(Result::kTimedOut, 10ms);
  leader.WaitsFor(quorum, 30ms).Until(Result::kFailed, 30ms);
  leader.Sees(quorum, {.ready = false, .fail = true, .timed_out = false});
  auto bystander = script.In("bystander");
  bystander.At(5ms).Sees(quorum, {.timed_out = false});
  bystander.At(15ms).Sees(quorum, {.ready = false, .fail = false, .timed_out = true});
  bystander.At(20ms).No(quorum, 0);
  bystander.Sees(quorum, {.ready = false, .fail = false, .timed_out = true, .no = 1});
  bystander.At(30ms).No(quorum, 1);
  bystander.Sees(quorum, {.ready = false, .fail = true, .timed_out = false, .no = 2});
  ExpectPasses(script);
}

}  // namespace
}  // namespace depfast::lab1
