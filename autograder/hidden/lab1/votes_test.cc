// Votes and outcomes, thoroughly.
#include "quorum_model.h"
#include "script_runner.h"

namespace depfast::lab1 {
namespace {

constexpr int kVotersMax = 9;

// The i-th voter to speak: every voter once, not in order.
int Speaker(int i, int total) { return (total - 1 - i + total / 2) % total; }

GRADED_TEST(QuorumVotes, EveryThreshold, "votes", 3,
            "For every size and need, the quorum is ready at exactly the vote that completes it") {
  ScriptRunner runner;
  for (int total = 1; total <= kVotersMax; ++total) {
    for (int needed = 1; needed <= total; ++needed) {
      Script script;
      const Id quorum = script.Quorum(needed, total);
      QuorumModel model(needed, total);
      script.In("leader").WaitsFor(quorum).Until(Result::kReady, 1ms * needed);
      for (int i = 0; i < total; ++i) {
        const int voter = Speaker(i, total);
        script.In("replies").At(1ms * (i + 1)).Yes(quorum, voter);
        model.Vote(voter, true);
        script.In("replies").Sees(quorum, model.Looks(false));
      }
      ASSERT_TRUE(runner.Run(script));
    }
  }
}

GRADED_TEST(QuorumVotes, EveryFailThreshold, "votes", 3,
            "For every size and need, the quorum fails at exactly the vote that makes it "
            "impossible, with and without yes votes before") {
  ScriptRunner runner;
  for (int total = 1; total <= kVotersMax; ++total) {
    for (int needed = 1; needed <= total; ++needed) {
      for (const int yes : {0, needed - 1}) {
        Script script;
        const Id quorum = script.Quorum(needed, total);
        QuorumModel model(needed, total);
        script.In("leader").WaitsFor(quorum).Until(Result::kFailed,
                                                   1ms * (yes + total - needed + 1));
        for (int i = 0; i < total; ++i) {
          const int voter = Speaker(i, total);
          auto replies = script.In("replies");
          replies.At(1ms * (i + 1));
          i < yes ? replies.Yes(quorum, voter) : replies.No(quorum, voter);
          model.Vote(voter, i < yes);
          replies.Sees(quorum, model.Looks(false));
        }
        ASSERT_TRUE(runner.Run(script));
      }
    }
  }
}

GRADED_TEST(QuorumVotes, DuplicatesAndChangesOfMind, "votes", 3,
            "A voter's first vote stands, yes or no, before and after the decision") {
  Script script;
  const Id quorum = script.Quorum(2, 4);
  script.In("leader").WaitsFor(quorum).Until(Result::kReady, 7ms);
  auto replies = script.In("replies");
  replies.At(1ms).No(quorum, 3);
  replies.At(2ms).Yes(quorum, 3);
  replies.At(3ms).No(quorum, 3);
  replies.At(3ms).No(quorum, 3);
  replies.At(4ms).Yes(quorum, 1);
  replies.At(5ms).Yes(quorum, 1);
  replies.At(6ms).No(quorum, 1);
  replies.Sees(quorum, {.ready = false, .fail = false, .yes = 1, .no = 1});
  replies.At(7ms).Yes(quorum, 0);
  replies.At(8ms).Yes(quorum, 0);
  replies.At(9ms).No(quorum, 0);
  replies.At(10ms).Yes(quorum, 3);
  replies.Sees(quorum, {.ready = true, .fail = false, .yes = 2, .no = 1});
  ExpectPasses(script);
}

GRADED_TEST(QuorumVotes, BadArguments, "votes", 3,
            "Impossible quorums, voters that do not exist and children that are null are refused, "
            "and a refusal changes nothing") {
  Script script;
  const Id quorum = script.Quorum(2, 2);
  auto caller = script.In("caller");
  for (const auto& [needed, total] : {std::pair(0, 3), {-1, 3}, {4, 3}, {1, 0}, {0, 0}}) {
    caller.Makes(Op::kMakeQuorum, script.Reserve(), needed, total).Throws(Result::kInvalidArgument);
  }
  caller.Yes(quorum, -1).Throws(Result::kOutOfRange);
  caller.Yes(quorum, 2).Throws(Result::kOutOfRange);
  caller.No(quorum, 2).Throws(Result::kOutOfRange);
  caller.Adds(quorum, kNoEvent).Throws(Result::kInvalidArgument);
  caller.Sees(quorum, {.ready = false, .fail = false, .yes = 0, .no = 0, .total = 2});
  const Id children[] = {script.Promise(), script.Promise(), script.Promise()};
  caller.Adds(quorum, children[0]);
  caller.Adds(quorum, children[1]);
  caller.Adds(quorum, children[2]).Throws(Result::kOutOfRange);
  caller.Keeps(children[2]);
  caller.Keeps(children[0]);
  caller.Sees(quorum, {.ready = false, .yes = 1, .no = 0});
  caller.Keeps(children[1]);
  caller.Sees(quorum, {.ready = true, .yes = 2, .no = 0});
  ExpectPasses(script);
}

GRADED_TEST(QuorumVotes, MajorityOfEverySize, "votes", 3,
            "A majority is more than half of the voters, for odd and even numbers of them") {
  ScriptRunner runner;
  for (int total = 1; total <= kVotersMax; ++total) {
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

GRADED_TEST(QuorumVotes, RandomVotes, "votes", 3,
            "Whatever votes come in whatever order, counts and outcomes are those of the model") {
  EXPECT_TRUE(RandomScriptsPass(300, 0));
}

GRADED_TEST(QuorumVotes, WhatReportsRead, "votes", 3,
            "Reports read a quorum as what it is: its label, how many answers a wait needs out of "
            "how many, and counts that include late votes") {
  Script script;
  const Id quorum = script.Quorum(2, 5);
  script.In("leader").WaitsFor(quorum).Until(Result::kReady, 2ms);
  auto replies = script.In("replies");
  const auto look = [&](int yes, int no, bool ready) {
    replies.Sees(quorum, {.yes = yes,
                          .no = no,
                          .needed = 2,
                          .total = 5,
                          .is_ready = ready,
                          .is_failed = false,
                          .shape_needed = 2,
                          .shape_total = 5,
                          .label = "quorum"});
  };
  look(0, 0, false);
  replies.At(1ms).Yes(quorum, 0);
  look(1, 0, false);
  replies.At(2ms).Yes(quorum, 4);
  look(2, 0, true);
  replies.At(3ms).Yes(quorum, 3);
  replies.At(4ms).No(quorum, 2);
  look(3, 1, true);
  ExpectPasses(script);
}

}  // namespace
}  // namespace depfast::lab1
