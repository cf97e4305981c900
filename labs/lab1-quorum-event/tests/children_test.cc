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
  leader.WaitsFor(quorum, 1s).Until(Result::kReady, 0ms, 10ms);
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

}  // namespace
}  // namespace depfast::lab1
