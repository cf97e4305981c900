// Votes and outcomes: when a quorum is one, and when it can no longer be. The first tests vote and
// look, so they pass before anything can wait.
#include "script_runner.h"

namespace depfast::lab1 {
namespace {

// --8<-- [start:graded]
GRADED_TEST(QuorumEvent, ReadyAtExactlyTheQuorum, "votes", 5,
            "A quorum is ready with exactly as many yes votes as it needs, from any voters") {
  Script script;
  const Id quorum = script.Quorum(3, 5);
  auto replies = script.In("replies");
  replies.At(1ms).Yes(quorum, 4);
  replies.At(2ms).Yes(quorum, 0);
  replies.Sees(quorum, {.ready = false, .fail = false, .yes = 2, .no = 0});
  replies.At(3ms).Yes(quorum, 2);
  replies.Sees(quorum, {.ready = true, .fail = false, .yes = 3, .no = 0});
  ExpectPasses(script);
}
// --8<-- [end:graded]

GRADED_TEST(QuorumEvent, FailsWhenAQuorumIsImpossible, "votes", 5,
            "A quorum fails as soon as the remaining voters cannot complete it") {
  Script script;
  const Id quorum = script.Quorum(3, 5);
  auto replies = script.In("replies");
  replies.At(1ms).No(quorum, 0);
  replies.At(2ms).Yes(quorum, 1);
  replies.At(3ms).Loses(quorum, 2);
  replies.Sees(quorum, {.ready = false, .fail = false, .yes = 1, .no = 1, .lost = 1});
  replies.At(4ms).No(quorum, 3);
  replies.Sees(quorum, {.ready = false, .fail = true, .yes = 1, .no = 2, .lost = 1});
  ExpectPasses(script);
}

GRADED_TEST(QuorumEvent, FirstVoteStands, "votes", 5,
            "A voter counts once: a duplicate or a different second vote changes nothing") {
  Script script;
  const Id quorum = script.Quorum(2, 3);
  auto replies = script.In("replies");
  replies.At(1ms).Yes(quorum, 0);
  replies.At(2ms).Yes(quorum, 0);
  replies.At(3ms).No(quorum, 0);
  replies.Loses(quorum, 0);
  replies.Sees(quorum, {.ready = false, .fail = false, .yes = 1, .no = 0, .lost = 0});
  replies.At(5ms).Yes(quorum, 1);
  replies.Sees(quorum, {.ready = true, .fail = false, .yes = 2, .no = 0});
  ExpectPasses(script);
}

GRADED_TEST(QuorumVotes, MajorityOfEverySize, "votes", 2,
            "A majority is more than half of the voters, for odd and even totals") {
  ScriptRunner runner;
  for (int total = 1; total <= 9; ++total) {
    int needed = 1;
    while (2 * needed <= total) ++needed;
    Script script;
    const Id quorum = script.Majority(total);
    script.In("leader").WaitsFor(quorum).Until(Result::kReady, 1ms * needed);
    auto replies = script.In("replies");
    replies.Sees(quorum, {.ready = false, .needed = needed, .total = total});
    for (int i = 0; i < needed; ++i) replies.At(1ms * (i + 1)).Yes(quorum, i);
    replies.Sees(quorum, {.ready = true, .yes = needed});
    ASSERT_TRUE(runner.Run(script));
  }
}

}  // namespace
}  // namespace depfast::lab1
