// Votes and outcomes, thoroughly.
#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "quorum_model.h"
#include "script_runner.h"
#include "testkit/some.h"

namespace depfast::lab1 {
namespace {

constexpr int kVotersMax = 9;

struct Size {
  int needed;
  int total;
};

// Every quorum of up to kVotersMax voters, and some larger than a machine word has bits.
std::vector<Size> Sizes() {
  std::vector<Size> sizes = {{17, 33}, {1, 65}, {66, 66}, {151, 300}};
  for (int total = 1; total <= kVotersMax; ++total) {
    for (int needed = 1; needed <= total; ++needed) sizes.push_back({needed, total});
  }
  return sizes;
}

// The i-th voter to vote: every voter once, not in order.
int Speaker(int i, int total) { return (total - 1 - i + total / 2) % total; }

GRADED_TEST(QuorumVotes, EveryThreshold, "votes", 2,
            "For every needed and total, the quorum is ready at exactly the vote that completes "
            "it") {
  ScriptRunner runner;
  for (const auto& [needed, total] : testkit::Some(Sizes())) {
    Script script;
    const Id quorum = script.Quorum(needed, total);
    QuorumModel model(needed, total);
    script.In("leader").WaitsFor(quorum).Until(Result::kReady, 1ms * needed);
    for (int i = 0; i < total; ++i) {
      const int voter = Speaker(i, total);
      script.In("replies").At(1ms * (i + 1)).Yes(quorum, voter);
      model.Cast(voter, Vote::kYes);
      script.In("replies").Sees(quorum, model.Looks(false));
    }
    ASSERT_TRUE(runner.Run(script));
  }
}

GRADED_TEST(QuorumVotes, EveryFailThreshold, "votes", 2,
            "For every needed and total, the quorum fails at exactly the vote that makes it "
            "impossible, a reject or a lost one, with and without earlier yes votes") {
  ScriptRunner runner;
  for (const auto& [needed, total] : testkit::Some(Sizes())) {
    for (const int yes : {0, needed - 1}) {
      Script script;
      const Id quorum = script.Quorum(needed, total);
      QuorumModel model(needed, total);
      script.In("leader").WaitsFor(quorum).Until(Result::kFailed, 1ms * (yes + total - needed + 1));
      for (int i = 0; i < total; ++i) {
        const int voter = Speaker(i, total);
        auto replies = script.In("replies");
        replies.At(1ms * (i + 1));
        const Vote vote = i < yes ? Vote::kYes : i % 2 == 0 ? Vote::kNo : Vote::kLost;
        replies.Votes(quorum, voter, vote);
        model.Cast(voter, vote);
        replies.Sees(quorum, model.Looks(false));
      }
      ASSERT_TRUE(runner.Run(script));
    }
  }
}

GRADED_TEST(QuorumVotes, DuplicatesAndChangesOfMind, "votes", 1,
            "A voter's first vote stands, yes, no or lost, before and after the decision") {
  Script script;
  const Id quorum = script.Quorum(2, 4);
  script.In("leader").WaitsFor(quorum).Until(Result::kReady, 7ms);
  auto replies = script.In("replies");
  replies.At(1ms).No(quorum, 3);
  replies.At(2ms).Yes(quorum, 3);
  replies.At(3ms).No(quorum, 3);
  replies.At(3ms).Loses(quorum, 3);
  replies.At(4ms).Yes(quorum, 1);
  replies.At(5ms).Yes(quorum, 1);
  replies.At(6ms).Loses(quorum, 1);
  replies.Sees(quorum, {.ready = false, .fail = false, .yes = 1, .no = 1});
  replies.At(7ms).Yes(quorum, 0);
  replies.At(8ms).Yes(quorum, 0);
  replies.At(9ms).No(quorum, 0);
  replies.At(10ms).Yes(quorum, 3);
  replies.Sees(quorum, {.ready = true, .fail = false, .yes = 2, .no = 1});
  ExpectPasses(script);
}

GRADED_TEST(QuorumVotes, BadArguments, "votes", 2,
            "Impossible quorums, unknown voters and null children are refused, and a refusal "
            "changes nothing") {
  Script script;
  const Id quorum = script.Quorum(2, 2);
  auto caller = script.In("caller");
  for (const auto& [needed, total] : {std::pair(0, 3), {-1, 3}, {4, 3}, {1, 0}, {0, 0}}) {
    caller.Makes(Op::kMakeQuorum, script.Reserve(), needed, total).Throws(Result::kInvalidArgument);
  }
  caller.Makes(Op::kMakeMajority, script.Reserve(), 0).Throws(Result::kInvalidArgument);
  for (const int stranger : {-1, 2}) {
    caller.Yes(quorum, stranger).Throws(Result::kOutOfRange);
    caller.No(quorum, stranger).Throws(Result::kOutOfRange);
    caller.Loses(quorum, stranger).Throws(Result::kOutOfRange);
  }
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

GRADED_TEST(QuorumVotes, RandomVotes, "votes", 1,
            "For any votes in any order, counts and outcomes are those of the model") {
  EXPECT_TRUE(RandomScriptsPass(300, 0));
}

GRADED_TEST(QuorumVotes, WaitDescriptionForReports, "votes", 1,
            "Reports read the quorum's label, needed, total, counts that include late votes, and "
            "the vote of each peer") {
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
                          .wait_needed = 2,
                          .wait_total = 5,
                          .peers = "",
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

  Script calls;
  const Id asked = calls.Quorum(3, 5);
  const Id outer = calls.Quorum(1, 2);
  const PeerPlan reject = {.answer = PeerPlan::Answer::kNo, .delay_ns = 0};
  const PeerPlan silent = {.answer = PeerPlan::Answer::kNothing, .delay_ns = 0};
  auto asker = calls.In("setup");
  asker.Adds(outer, asked);
  asker.Adds(asked, calls.Call(4, silent), Accept::kReply);
  asker.Adds(asked, calls.Call(3, silent, 20ms), Accept::kReply);
  asker.Adds(asked, calls.Call(2, reject), Accept::kReply);
  asker.Adds(asked, calls.Call(1), Accept::kReply);
  asker.Yes(asked, 4);  // its own vote: a voter without a peer
  asker.Sees(asked, {.yes = 1, .peers = "1 pending, 2 pending, 3 pending, 4 pending"});
  const char* votes = "1 yes, 2 no, 3 lost, 4 pending";
  asker.At(50ms).Sees(asked, {.yes = 2, .no = 1, .lost = 1, .peers = votes});
  asker.Sees(outer, {.wait_needed = 1, .wait_total = 2, .peers = votes});
  // The votes of the peers 3, 2 and 1 stand.
  asker.Yes(asked, 1).Yes(asked, 2).No(asked, 3);
  asker.Sees(asked, {.yes = 2, .no = 1, .lost = 1, .peers = votes});
  asker.Yes(asked, 0);  // with it the nested quorum votes
  asker.Sees(outer, {.yes = 1, .peers = "1 yes, 2 no, 3 lost, 4 yes"});
  ExpectPasses(calls, {.replicas = 5});
}

constexpr int kVoters = 3;

// "1 yes, 2 pending": the children of voters 0, 1, ... are calls to these peers.
std::string InWords(const std::vector<int>& peers, const std::vector<Vote>& votes) {
  static const std::map<Vote, std::string> kWords = {
      {Vote::kPending, "pending"}, {Vote::kYes, "yes"}, {Vote::kNo, "no"}, {Vote::kLost, "lost"}};
  std::map<int, std::string> by_peer;
  for (std::size_t voter = 0; voter < peers.size(); ++voter) {
    by_peer[peers[voter]] = kWords.at(votes[voter]);
  }
  std::string text;
  for (const auto& [peer, word] : by_peer) {
    text += (text.empty() ? "" : ", ") + std::to_string(peer) + " " + word;
  }
  return text;
}

// `order`: below kVoters, the voter that votes; from there on, the Add of a call to a peer.
void WriteOrder(Script& script, const std::vector<int>& order, std::size_t first_vote) {
  static const std::vector<Vote> kVotes = {Vote::kYes, Vote::kNo, Vote::kLost};
  const PeerPlan silent = {.answer = PeerPlan::Answer::kNothing, .delay_ns = 0};
  const Id quorum = script.Quorum(2, kVoters);
  auto actor = script.In("actor of " + std::to_string(quorum));
  std::vector<int> peers;
  std::vector<Vote> votes(kVoters, Vote::kPending);
  for (const int turn : order) {
    if (turn < kVoters) {
      const auto voter = static_cast<std::size_t>(turn);
      votes[voter] = kVotes[(voter + first_vote) % kVotes.size()];
      actor.Votes(quorum, turn, votes[voter]);
    } else {
      peers.push_back(turn - kVoters + 1);
      actor.Adds(quorum, script.Call(peers.back(), silent));
    }
    actor.Sees(quorum, {.peers = InWords(peers, votes)});
  }
}

GRADED_TEST(QuorumVotes, ReportsInEveryOrder, "votes", 1,
            "Whatever the order in which voters vote and get their children, reports show the peer "
            "of each child with its voter's vote") {
  constexpr std::size_t kAtOnce = 60;
  std::vector<int> order(2 * kVoters);
  std::iota(order.begin(), order.end(), 0);
  for (bool is_left = true; is_left && !testing::Test::HasFailure();) {
    Script script;
    for (std::size_t i = 0; i < kAtOnce && is_left; ++i) {
      WriteOrder(script, order, i);
      is_left = std::ranges::next_permutation(order).found;
    }
    ExpectPasses(script, {.replicas = kVoters + 1});
  }
}

}  // namespace
}  // namespace depfast::lab1
