// Children: RPC calls that vote, slow replicas, quorums in quorums.
#include "script_runner.h"

namespace depfast::lab1 {
namespace {

constexpr PeerPlan kNo = {.answer = PeerPlan::Answer::kNo, .delay_ns = 0};
constexpr PeerPlan kError = {.answer = PeerPlan::Answer::kThrow, .delay_ns = 0};

GRADED_TEST(QuorumEvent, ChildrenVote, "children", 5,
            "A call votes yes when accept returns true, and no when accept returns false; the vote "
            "of a call that fails is lost") {
  Script script;
  const Id quorum = script.Quorum(2, 4);
  int peer = 0;
  for (const PeerPlan& plan : {PeerPlan{}, kNo, kError, PeerPlan{}}) {
    script.In("setup").Adds(quorum, script.Call(++peer, plan), Accept::kReply);
  }
  auto leader = script.In("leader");
  leader.At(50ms).Sees(quorum, {.ready = true, .fail = false, .yes = 2, .no = 1, .lost = 1});
  ExpectPasses(script, {.replicas = 5});
}

GRADED_TEST(QuorumEvent, SlowReplicaDoesNotDelay, "children", 5,
            "A quorum of fast replicas does not wait for the slow replica") {
  Script script;
  const Id quorum = script.Majority(3);
  for (int peer = 1; peer <= 3; ++peer) {
    script.In("setup").Adds(quorum, script.Call(peer), Accept::kReply);
  }
  auto leader = script.In("leader");
  leader.WaitsFor(quorum, 10s).Until(Result::kReady, 0ms, 10ms);
  leader.Sees(quorum, {.ready = true, .yes = 2, .no = 0});
  leader.At(600ms).Sees(quorum, {.ready = true, .yes = 3, .no = 0});
  ExpectPasses(script, {.replicas = 4, .faults = {faults::NetSlow({1}, 400ms)}});
}

GRADED_TEST(QuorumEvent, QuorumsNest, "children", 5,
            "A quorum can be a child of another quorum: it votes yes when it is ready, and no when "
            "it fails") {
  Script script;
  const Id outer = script.Quorum(2, 3);
  std::vector<Id> inner;
  for (int group = 0; group < 3; ++group) {
    inner.push_back(script.Quorum(2, 3));
    script.In("setup").Adds(outer, inner.back());
  }
  script.In("leader").WaitsFor(outer, 1s).Until(Result::kReady, 6ms);
  auto replies = script.In("replies");
  replies.At(1ms).Yes(inner[0], 0);
  replies.At(2ms).Yes(inner[0], 1);
  replies.Sees(outer, {.ready = false, .yes = 1, .no = 0});
  replies.At(3ms).No(inner[1], 2);
  replies.At(4ms).No(inner[1], 0);
  replies.Sees(outer, {.ready = false, .yes = 1, .no = 0, .lost = 1});
  replies.At(5ms).Yes(inner[2], 2);
  replies.At(6ms).Yes(inner[2], 1);
  replies.Sees(outer, {.ready = true, .fail = false, .yes = 2, .no = 0, .lost = 1});
  ExpectPasses(script);
}

// A fast path and a slow path over one round of calls (document 002, section 3.1.4 and figure 1).
// The fast path needs four of five replicas to agree, the slow path needs a majority of answers.
GRADED_TEST(QuorumEvent, OneCallInTwoQuorums, "children", 5,
            "One call can be a child of two quorums: each asks its own accept, so a reply can be a "
            "no in one and a yes in the other, and an error is lost in both") {
  Script script;
  const Id fast = script.Quorum(4, 5);
  const Id slow = script.Majority(5);
  const Id path = script.Or();
  auto setup = script.In("setup");
  constexpr PeerPlan kLateNo = {.answer = PeerPlan::Answer::kNo, .delay_ns = 10'000'000};
  constexpr PeerPlan kLateError = {.answer = PeerPlan::Answer::kThrow, .delay_ns = 20'000'000};
  constexpr PeerPlan kLateYes = {.answer = PeerPlan::Answer::kYes, .delay_ns = 30'000'000};
  int peer = 0;
  for (const PeerPlan& plan : {PeerPlan{}, kLateNo, kLateError, kLateYes}) {
    const Id call = script.Call(++peer, plan);
    setup.Adds(fast, call, Accept::kReply);
    setup.Adds(slow, call);
  }
  for (const Id quorum : {fast, slow}) {
    setup.Yes(quorum, 4);  // the leader's own vote
    setup.Adds(path, quorum);
  }
  script.In("leader").WaitsFor(path, 1s).Until(Result::kReady, 10ms, 15ms);
  script.In("fast path").WaitsFor(fast, 1s).Until(Result::kFailed, 20ms, 25ms);
  auto later = script.In("later");
  later.At(18ms).Sees(fast, {.ready = false, .fail = false, .yes = 2, .no = 1, .lost = 0});
  later.Sees(slow, {.ready = true, .fail = false, .yes = 3, .no = 0, .lost = 0});
  later.At(60ms).Sees(fast, {.ready = false, .fail = true, .yes = 3, .no = 1, .lost = 1});
  later.Sees(slow, {.ready = true, .fail = false, .yes = 4, .no = 0, .lost = 1});
  ExpectPasses(script, {.replicas = 5});
}

GRADED_TEST(QuorumChildren, DecidedChildrenVoteAtOnce, "children", 1,
            "A child that is decided before Add votes at once") {
  Script script;
  const Id kept = script.Promise();
  const Id broken = script.Promise();
  const Id value = script.Value();
  const Id inner = script.Quorum(1, 1);
  const Id quorum = script.Quorum(3, 4);
  auto adder = script.In("adder");
  adder.At(1ms).Keeps(kept);
  adder.Breaks(broken);
  adder.Sets(value, 7);
  adder.Yes(inner, 0);
  adder.Adds(quorum, kept);
  adder.Sees(quorum, {.ready = false, .yes = 1, .no = 0});
  adder.Adds(quorum, broken);
  adder.Sees(quorum, {.ready = false, .yes = 1, .no = 0, .lost = 1});
  adder.Adds(quorum, value, Accept::kTrue);
  adder.Sees(quorum, {.ready = false, .yes = 2, .no = 0, .lost = 1});
  adder.Adds(quorum, inner);
  adder.Sees(quorum, {.ready = true, .yes = 3, .no = 0, .lost = 1});
  adder.SeesAccepts(quorum, value, 1);
  ExpectPasses(script);
}

GRADED_TEST(QuorumChildren, ChildrenTakeVotersInOrder, "children", 1,
            "Children are voters 0, 1, ... in the order of Add; a child and VoteYes or VoteNo of "
            "its voter share one vote") {
  Script script;
  const Id quorum = script.Quorum(2, 4);
  const Id children[] = {script.Promise(), script.Promise(), script.Promise()};
  auto voter = script.In("voter");
  voter.At(1ms).No(quorum, 0);
  for (const Id child : children) voter.Adds(quorum, child);
  voter.Keeps(children[0]);
  voter.Sees(quorum, {.ready = false, .yes = 0, .no = 1});
  voter.Keeps(children[1]);
  voter.Yes(quorum, 1);
  voter.Sees(quorum, {.ready = false, .yes = 1, .no = 1});
  voter.No(quorum, 2);
  voter.Keeps(children[2]);
  voter.Sees(quorum, {.ready = false, .yes = 1, .no = 2});
  voter.Yes(quorum, 3);
  voter.Sees(quorum, {.ready = true, .yes = 2, .no = 2});
  ExpectPasses(script);
}

}  // namespace
}  // namespace depfast::lab1
