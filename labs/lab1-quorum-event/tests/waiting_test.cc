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

}  // namespace
}  // namespace depfast::lab1
