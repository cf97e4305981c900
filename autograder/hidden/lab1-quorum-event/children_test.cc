// Children: events that vote, and quorums in other events.
#include <array>
#include <cstddef>
#include <string>

#include "quorum_model.h"
#include "script_runner.h"

namespace depfast::lab1 {
namespace {

constexpr PeerPlan Plan(PeerPlan::Answer answer, Duration delay = 0ms) {
  return {.answer = answer, .delay_ns = delay.count()};
}

GRADED_TEST(QuorumChildren, FailedChildrenAreLost, "children", 2,
            "The vote of a child that fails is lost, for any reason: an error, a reply that cannot "
            "be decoded, a timeout") {
  struct Case {
    PeerPlan plan;
    Duration timeout;
    Duration fails_after;
  };
  Script script;
  for (const Case& failing : {Case{Plan(PeerPlan::Answer::kThrow), kForever, 0ms},
                              Case{Plan(PeerPlan::Answer::kGarbled), kForever, 0ms},
                              Case{Plan(PeerPlan::Answer::kUnknown), kForever, 0ms},
                              Case{Plan(PeerPlan::Answer::kNothing), 30ms, 30ms},
                              Case{Plan(PeerPlan::Answer::kYes, 90ms), 40ms, 40ms}}) {
    const Id quorum = script.Quorum(2, 2);
    const Id good = script.Call(1);
    const Id bad = script.Call(1, failing.plan, failing.timeout);
    script.In("setup").Adds(quorum, good, Accept::kReply);
    script.In("setup").Adds(quorum, bad, Accept::kTrue);
    auto waiter = script.In("waiter " + std::to_string(quorum));
    waiter.WaitsFor(quorum, 1s)
        .Until(Result::kFailed, failing.fails_after, failing.fails_after + 10ms);
    waiter.At(200ms).Sees(quorum, {.ready = false, .fail = true, .yes = 1, .no = 0, .lost = 1});
    waiter.SeesAccepts(quorum, bad, 0);
  }
  ExpectPasses(script, {.replicas = 2});
}

GRADED_TEST(QuorumChildren, AcceptDecides, "children", 2,
            "Accept decides the vote of a ready child; it is called once, and not before the child "
            "is ready") {
  Script script;
  const Id quorum = script.Quorum(2, 4);
  const Id values[] = {script.Value(), script.Value(), script.Value()};
  const Id call = script.Call(1, Plan(PeerPlan::Answer::kNo, 50ms));
  auto setup = script.In("setup");
  setup.Adds(quorum, values[0], Accept::kFalse);
  setup.Adds(quorum, values[1], Accept::kTrue);
  setup.Adds(quorum, values[2]);
  setup.Adds(quorum, call, Accept::kReply);
  script.In("leader").WaitsFor(quorum).Until(Result::kReady, 20ms);
  auto writer = script.In("writer");
  writer.At(5ms).SeesAccepts(quorum, values[0], 0);
  for (const Duration when : {10ms, 12ms}) {
    writer.At(when).Sets(values[0], 1);
    writer.Sets(values[1], 1);
    writer.Sets(values[0], 0);
    writer.Sets(values[1], 0);
    writer.Sees(quorum, {.ready = false, .fail = false, .yes = 1, .no = 1});
  }
  writer.SeesAccepts(quorum, values[0], 1);
  writer.SeesAccepts(quorum, values[1], 1);
  writer.At(20ms).Sets(values[2], 1);
  writer.At(40ms).SeesAccepts(quorum, call, 0);
  writer.At(100ms).SeesAccepts(quorum, call, 1);
  writer.Sees(quorum, {.ready = true, .fail = false, .yes = 2, .no = 2, .lost = 0});
  ExpectPasses(script, {.replicas = 2});
}

GRADED_TEST(QuorumChildren, LateChildrenVote, "children", 1,
            "A child that is added after the decision or after a timeout is the next voter, and "
            "votes by its accept, whether it is decided then or later") {
  Script script;
  const Id won = script.Quorum(1, 5);
  const Id lost = script.Quorum(5, 5);
  const Id waited_for = script.Quorum(2, 4);
  const Id kept = script.Promise();
  const Id broken = script.Promise();
  const Id value = script.Value();
  auto leader = script.In("leader");
  leader.Keeps(kept);
  leader.Breaks(broken);
  leader.Yes(won, 4);
  leader.No(lost, 4);
  leader.WaitsFor(waited_for, 10ms).Until(Result::kTimedOut, 10ms);
  for (const Id quorum : {won, lost, waited_for}) {
    leader.Adds(quorum, kept, Accept::kFalse);
    leader.Adds(quorum, broken, Accept::kTrue);
    leader.Adds(quorum, value, Accept::kTrue);
  }
  for (const Id quorum : {won, lost}) leader.Adds(quorum, kept);
  leader.Sees(won, {.ready = true, .fail = false, .yes = 2, .no = 1, .lost = 1});
  leader.Sees(lost, {.ready = false, .fail = true, .yes = 1, .no = 2, .lost = 1});
  leader.Sees(waited_for, {.fail = false, .timed_out = true, .yes = 0, .no = 1, .lost = 1});
  leader.Sets(value, 1);
  leader.Sees(won, {.ready = true, .fail = false, .yes = 3, .no = 1, .lost = 1});
  leader.Sees(lost, {.ready = false, .fail = true, .yes = 2, .no = 2, .lost = 1});
  leader.Sees(waited_for, {.fail = false, .timed_out = true, .yes = 1, .no = 1, .lost = 1});
  leader.Adds(waited_for, kept);
  leader.Sees(waited_for, {.ready = true, .timed_out = false, .yes = 2, .no = 1, .lost = 1});
  for (const Id quorum : {won, lost, waited_for}) {
    leader.SeesAccepts(quorum, kept, 1);
    leader.SeesAccepts(quorum, broken, 0);
    leader.SeesAccepts(quorum, value, 1);
  }
  leader.Adds(won, value, Accept::kFalse);  // its voter has voted
  leader.SeesAccepts(won, value, 1);
  leader.Sees(won, {.ready = true, .yes = 3, .no = 1, .lost = 1});
  leader.Adds(won, value).Throws(Result::kOutOfRange);
  ExpectPasses(script);
}

GRADED_TEST(QuorumChildren, OneEventTwoVoters, "children", 1,
            "An event that is added twice is two voters, each with its own accept, whether it is "
            "ready before, ready later or fails") {
  Script script;
  const Id value = script.Value();
  const Id broken = script.Promise();
  const Id inner = script.Quorum(1, 2);
  const Id quorum = script.Quorum(4, 8);
  auto voter = script.In("voter");
  script.In("leader").WaitsFor(quorum).Until(Result::kReady, 10ms);
  voter.At(5ms).Adds(quorum, value, Accept::kTrue);  // voters 0 to 6
  voter.Adds(quorum, inner);
  voter.Adds(quorum, broken);
  voter.Adds(quorum, value, Accept::kFalse);
  voter.Adds(quorum, inner);
  voter.Adds(quorum, broken);
  voter.Adds(quorum, value);
  voter.Sets(value, 1);
  voter.Sees(quorum, {.ready = false, .yes = 2, .no = 1, .lost = 0});
  voter.SeesAccepts(quorum, value, 2);
  voter.Breaks(broken);
  voter.Sees(quorum, {.ready = false, .fail = false, .yes = 2, .no = 1, .lost = 2});
  voter.At(10ms).Yes(inner, 1);
  voter.Sees(quorum, {.ready = true, .fail = false, .yes = 4, .no = 1, .lost = 2});
  voter.Adds(quorum, value, Accept::kFalse);
  voter.Yes(inner, 0);
  voter.Sets(value, 2);
  voter.Sees(quorum, {.ready = true, .fail = false, .yes = 4, .no = 2, .lost = 2});
  voter.SeesAccepts(quorum, value, 3);
  ExpectPasses(script);
}

GRADED_TEST(
    QuorumChildren, ChildrenAreKeptAlive, "children", 1,
    "A quorum keeps a child alive until its voter has voted, before and after the decision, "
    "and no child longer than itself") {
  Script script;
  const Id quorum = script.Quorum(2, 5);
  const Id inner = script.Quorum(1, 1);
  const Id late = script.Promise();
  const Id children[] = {inner, script.Timer(10ms), script.Call(1, {.delay_ns = 20'000'000}), late,
                         script.Timer(40ms)};
  auto holder = script.In("holder");
  holder.Adds(inner, script.Timer(30ms));
  for (const Id child : children) holder.Adds(quorum, child);
  for (const Id child : children) holder.Drops(child).IsFreed(false);
  script.In("waiter").WaitsFor(quorum, 1s).Until(Result::kReady, 20ms, 30ms);
  holder.At(35ms).Sees(quorum, {.ready = true, .yes = 3, .peers = "1 yes"});
  holder.At(50ms).Sees(quorum, {.ready = true, .yes = 4});
  holder.SeesAlive(late);
  holder.Drops(quorum).IsFreed(true);
  for (const Id child : children) holder.SeesFreed(child);
  ExpectPasses(script, {.replicas = 2});
}

GRADED_TEST(QuorumChildren, LateRepliesFindNobody, "children", 1,
            "An event without references is destroyed even with calls outstanding; late replies "
            "to these calls do no harm") {
  Script script;
  const Id quorum = script.Quorum(2, 3);
  const Id calls[] = {script.Call(1), script.Call(2, Plan(PeerPlan::Answer::kYes, 50ms)),
                      script.Call(2, Plan(PeerPlan::Answer::kNo, 60ms))};
  for (const Id call : calls) script.In("setup").Adds(quorum, call, Accept::kReply);
  auto leader = script.In("leader");
  leader.WaitsFor(quorum, 20ms).Until(Result::kTimedOut, 20ms);
  leader.Sees(quorum, {.ready = false, .timed_out = true, .yes = 1, .no = 0});
  leader.Drops(quorum);
  leader.SeesFreed(quorum);
  leader.At(100ms).SeesAccepts(quorum, calls[1], 0);
  const Id next = script.Reserve();
  leader.Makes(Op::kMakeQuorum, next, 1, 1);
  leader.Adds(next, calls[1], Accept::kReply);
  leader.WaitsFor(next, 10ms).Until(Result::kReady, 100ms);
  leader.Drops(next);
  leader.SeesFreed(next);
  ExpectPasses(script, {.replicas = 3});
}

GRADED_TEST(QuorumChildren, NestsInEveryDirection, "children", 2,
            "Quorums nest in AndEvent, OrEvent and one another, and a nested quorum votes once, "
            "however many late votes it gets") {
  Script script;
  const Id leaf = script.Quorum(1, 3);
  const Id doomed = script.Quorum(2, 2);
  const Id top = script.Quorum(2, 3);
  const Id all = script.And();
  const Id any = script.Or();
  auto setup = script.In("setup");
  setup.Adds(top, leaf);
  setup.Adds(top, doomed);
  setup.Adds(top, script.Timer(20ms));
  setup.Adds(all, leaf);
  setup.Adds(all, top);
  setup.Adds(any, doomed);
  setup.Adds(any, top);
  script.In("waits for leaf").WaitsFor(leaf).Until(Result::kReady, 5ms);
  script.In("waits for doomed").WaitsFor(doomed).Until(Result::kFailed, 10ms);
  script.In("waits for top").WaitsFor(top).Until(Result::kReady, 20ms);
  script.In("waits for all").WaitsFor(all).Until(Result::kReady, 20ms);
  script.In("waits for any").WaitsFor(any).Until(Result::kReady, 20ms);
  auto voter = script.In("voter");
  voter.At(5ms).Yes(leaf, 0);
  voter.At(6ms).Yes(leaf, 1);
  voter.At(7ms).No(leaf, 2);
  voter.Sees(top, {.ready = false, .fail = false, .yes = 1, .no = 0});
  voter.At(10ms).No(doomed, 1);
  voter.At(11ms).Yes(doomed, 0);
  voter.Sees(top, {.ready = false, .fail = false, .yes = 1, .no = 0, .lost = 1});
  voter.At(30ms).Sees(top, {.ready = true, .fail = false, .yes = 2, .no = 0, .lost = 1});
  ExpectPasses(script);
}

// Three quorums over the same calls: all peers agree, a majority answers, and a majority rejects.
// Peer i answers after i * kApart.
class ThreeQuorums {
 public:
  static constexpr int kPeers = 4;
  static constexpr Duration kApart = 10ms;
  using Answers = std::array<PeerPlan::Answer, kPeers>;

  explicit ThreeQuorums(const Answers& answers) {
    std::array<Id, kPeers> calls{};
    for (int i = 0; i < kPeers; ++i) {
      calls[At(i)] = script_.Call(i + 1, Plan(answers[At(i)], kApart * (i + 1)));
    }
    Expect(answers, calls, kPeers, Accept::kReply);
    Expect(answers, calls, kPeers / 2 + 1, Accept::kNone);
    Expect(answers, calls, kPeers / 2 + 1, Accept::kReject);
  }

  const Script& script() const { return script_; }

 private:
  static std::size_t At(int i) { return static_cast<std::size_t>(i); }

  static Vote VoteOn(PeerPlan::Answer answer, Accept accept) {
    if (answer == PeerPlan::Answer::kThrow) return Vote::kLost;
    if (accept == Accept::kNone) return Vote::kYes;
    const bool agrees = answer == PeerPlan::Answer::kYes;
    return agrees == (accept == Accept::kReply) ? Vote::kYes : Vote::kNo;
  }

  // A quorum over all calls. It is looked at after each answer.
  void Expect(const Answers& answers, const std::array<Id, kPeers>& calls, int needed,
              Accept accept) {
    const Id quorum = script_.Quorum(needed, kPeers);
    for (const Id call : calls) script_.In("setup").Adds(quorum, call, accept);
    auto observer = script_.In("observer of " + std::to_string(quorum));
    QuorumModel model(needed, kPeers);
    for (int i = 0; i < kPeers; ++i) {
      model.Cast(i, VoteOn(answers[At(i)], accept));
      observer.At(kApart * (i + 1) + kApart / 2).Sees(quorum, model.Looks(false));
      const int asked = answers[At(i)] == PeerPlan::Answer::kThrow ? 0 : 1;
      if (accept != Accept::kNone) observer.SeesAccepts(quorum, calls[At(i)], asked);
    }
  }

  Script script_;
};

GRADED_TEST(QuorumChildren, OneCallInThreeQuorums, "children", 2,
            "Calls that are children of several quorums vote in each by its own accept; for every "
            "mix of agreeing, rejecting and lost answers, rejected and lost are told apart") {
  constexpr PeerPlan::Answer kKinds[] = {PeerPlan::Answer::kYes, PeerPlan::Answer::kNo,
                                         PeerPlan::Answer::kThrow};
  ScriptRunner runner({.replicas = ThreeQuorums::kPeers + 1});
  for (const auto first : kKinds) {
    for (const auto second : kKinds) {
      for (const auto third : kKinds) {
        for (const auto fourth : kKinds) {
          ASSERT_TRUE(runner.Run(ThreeQuorums({first, second, third, fourth}).script()));
        }
      }
    }
  }
}

}  // namespace
}  // namespace depfast::lab1
