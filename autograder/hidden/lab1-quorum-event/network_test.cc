// QuorumEvent over calls to replicas that are slow, dead or hard to reach.
#include <algorithm>

#include "script_runner.h"

namespace depfast::lab1 {
namespace {

constexpr int kRounds = 80;

GRADED_TEST(QuorumChildren, SlowMinority, "children", 2,
            "With one replica slow and one dead, a majority of five is as fast as the fast "
            "replicas") {
  Script script;
  auto leader = script.In("leader");
  Id latest = kNoEvent;
  for (int round = 0; round < kRounds; ++round) {
    const Duration start = 20ms * (round + 1);
    latest = script.Reserve();
    leader.At(start).Makes(Op::kMakeMajority, latest, 5);
    leader.Broadcasts(script.Reserve(), latest, {});
    leader.Yes(latest, 4);  // its own vote: the four peers are voters 0 to 3
    leader.WaitsFor(latest, 1s).Until(Result::kReady, start, start + 10ms);
    leader.Sees(latest, {.ready = true, .fail = false, .yes = 3, .no = 0});
  }
  leader.At(3s).Sees(latest, {.ready = true, .fail = false, .yes = 4, .no = 0});
  ExpectPasses(script,
               {.replicas = 5, .faults = {faults::NetSlow({2}, 400ms), faults::CrashFault({3})}});
}

GRADED_TEST(
    QuorumChildren, ReleasedStragglersAreLost, "children", 1,
    "After Release the votes of a broadcast's stragglers are lost: an undecided quorum that "
    "needs them fails, a ready quorum stays ready") {
  const PeerPlan quick;
  const PeerPlan slow = {.answer = PeerPlan::Answer::kYes, .delay_ns = 200'000'000};
  const PeerPlan silent = {.answer = PeerPlan::Answer::kNothing, .delay_ns = 0};
  Script script;
  const Id content = script.Quorum(2, 4);
  const Id eager = script.Quorum(3, 4);
  const Id broadcasts[] = {script.Reserve(), script.Reserve()};
  auto setup = script.In("setup");
  setup.Broadcasts(broadcasts[0], content, {quick, quick, slow, quick, silent});
  setup.Broadcasts(broadcasts[1], eager, {quick, slow, quick, silent, quick});
  script.In("content").WaitsFor(content).Until(Result::kReady, 0ms, 10ms);
  script.In("eager").WaitsFor(eager).Until(Result::kFailed, 50ms);
  auto leader = script.In("leader");
  leader.At(40ms).Sees(content, {.ready = true, .fail = false, .yes = 2, .no = 0});
  leader.Sees(eager, {.ready = false, .fail = false, .yes = 2, .no = 0});
  leader.At(50ms).Releases(broadcasts[0]);
  leader.Releases(broadcasts[1]);
  leader.At(400ms).Sees(content, {.ready = true, .fail = false, .yes = 2, .no = 0, .lost = 2});
  leader.Sees(eager, {.ready = false, .fail = true, .yes = 2, .no = 0, .lost = 2});
  ExpectPasses(script, {.replicas = 5});
}

// Rounds of calls with a timeout over a network that loses frames. A round's outcome is not known
// beforehand, but must agree with its votes.
class LossyRounds {
 public:
  LossyRounds() {
    auto leader = script_.In("leader");
    for (int round = 0; round < kRounds; ++round) {
      const Id quorum = script_.Reserve();
      leader.At(kRound * (round + 1)).Makes(Op::kMakeQuorum, quorum, kNeeded, kPeers);
      for (int peer = 1; peer <= kPeers; ++peer) {
        const Id call = script_.Reserve();
        leader.Calls(call, peer, {}, kCallTimeout);
        leader.Adds(quorum, call, Accept::kReply);
      }
      leader.WaitsFor(quorum, kRound);
      waits_.push_back(leader.step());
      leader.At(kRound * (round + 2) - 1ms).Sees(quorum, {});
      looks_.push_back(leader.step());
    }
  }

  const Script& script() const { return script_; }

  void Check(const ScriptLog& log) {
    ASSERT_EQ(log.lines.size(), script_.steps().size()) << "some step has not ended";
    for (std::size_t round = 0; round < waits_.size(); ++round) {
      const LogLine* const wait = LineOf(log, waits_[round]);
      const LogLine* const look = LineOf(log, looks_[round]);
      ASSERT_NE(wait, nullptr) << "round " << round << ": the wait has not ended";
      ASSERT_NE(look, nullptr) << "round " << round << ": the event is not read";
      ASSERT_FALSE(look->look.empty()) << "round " << round << ": the event cannot be read";
      CheckRound(round, *wait, look->look.front());
    }
    EXPECT_GT(ready_, kRounds / 4) << "rounds that were ready";
    EXPECT_GT(failed_, 0) << "rounds that failed";
  }

 private:
  static constexpr Duration kRound = 100ms;
  static constexpr Duration kCallTimeout = 50ms;
  static constexpr int kPeers = 4;
  static constexpr int kNeeded = 3;

  // Null if the log, which the replica has sent, has no such line.
  static const LogLine* LineOf(const ScriptLog& log, std::size_t step) {
    const auto found = std::find_if(log.lines.begin(), log.lines.end(),
                                    [step](const LogLine& line) { return line.step == step; });
    return found == log.lines.end() ? nullptr : &*found;
  }

  void CheckRound(std::size_t round, const LogLine& wait, const Look& look) {
    const bool ready = wait.result == Result::kReady;
    (ready ? ready_ : failed_) += 1;
    const Duration waited = Duration(wait.time_ns) - kRound * (static_cast<int>(round) + 1);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + std::to_string(look.yes) + " yes, " +
                 std::to_string(look.lost) + " lost of " + std::to_string(kPeers) + ", needed " +
                 std::to_string(kNeeded) + "; the wait took " + Milliseconds(waited.count()));
    EXPECT_EQ(look.no, 0) << "no peer rejects";
    EXPECT_EQ(look.yes + look.lost, kPeers) << "every call must be answered or have timed out";
    EXPECT_EQ(look.ready, look.yes >= kNeeded);
    EXPECT_EQ(look.fail, look.yes < kNeeded);
    EXPECT_FALSE(look.timed_out);
    EXPECT_EQ(wait.result, look.yes >= kNeeded ? Result::kReady : Result::kFailed);
    // Three of four replies came before the fourth call's timeout, or two calls had timed out.
    EXPECT_LE(waited, kCallTimeout + 5ms);
  }

  Script script_;
  std::vector<std::size_t> waits_;
  std::vector<std::size_t> looks_;
  int ready_ = 0;
  int failed_ = 0;
};

GRADED_TEST(QuorumChildren, LossyNetwork, "children", 1,
            "Over a network that drops, duplicates and reorders, every outcome agrees with the "
            "votes that led to it") {
  const std::vector<PeerId> everyone = {0, 1, 2, 3, 4};
  ScriptRunner runner(
      {.replicas = 5,
       .faults = {faults::DropFault(everyone, 150), faults::DuplicateFault(everyone, 200),
                  faults::ReorderFault(everyone, 200)}});
  LossyRounds rounds;
  const auto log = runner.Perform(rounds.script());
  ASSERT_EQ(runner.death(), "") << "the replica did not survive";
  ASSERT_TRUE(log.has_value()) << "the replica did not answer";
  rounds.Check(*log);
}

}  // namespace
}  // namespace depfast::lab1
