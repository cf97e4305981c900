// Hidden tests: one replica's answers, message by message.
//
// The replicas do not hear each other. The test sends messages on behalf of candidates and leaders,
// and knows the one right answer to each.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "raft_world.h"
#include "safety.h"
#include "testkit/client.h"
#include "testkit/environment.h"

namespace depfast::raft {
namespace {

using Persistence = RaftWorld::Persistence;

// Three replicas, each alone, and a test that speaks for the others.
class Stage {
 public:
  Stage(std::uint64_t seed, Persistence persistence)
      : world({.replicas = 3, .seed = seed}, persistence), client_(world.cluster.simulator()) {
    for (PeerId id = 0; id < 3; ++id) world.cluster.Partition({id});
    // A slow file system: an answer that does not wait for it is early.
    if (persistence == Persistence::kRequired) {
      world.cluster.Begin(faults::FsDelay({0, 1, 2}, 5ms));
    }
    world.cluster.RunFor(20ms);
  }

  // The reply of `replica`; a default one, and a failure, if there is none within 1 s.
  template <typename Request>
  typename Request::Reply Ask(PeerId replica, const Request& request) {
    std::optional<typename Request::Reply> answer;
    bool is_over = false;
    client_.Call(replica, request, 1s, [&](const std::optional<typename Request::Reply>& reply) {
      answer = reply;
      is_over = true;
    });
    world.cluster.RunUntil([&] { return is_over; }, 2s);
    EXPECT_TRUE(answer) << "replica " << replica << " does not answer a " << Request::kName;
    return answer.value_or(typename Request::Reply{});
  }

  // Asks without waiting for the answer.
  template <typename Request>
  void Send(PeerId replica, const Request& request) {
    client_.Call(replica, request, 2s, [this](const auto& reply) { answers_ += reply ? 1 : 0; });
  }
  int answers() const { return answers_; }  // to Send

  // Asks replica 0 without waiting for the answers, every `interval` for `duration`.
  // `request(i)` is the i-th message.
  template <typename MakeRequest>
  void Repeat(Duration interval, Duration duration, const MakeRequest& request) {
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(duration / interval); ++i) {
      Send(0, request(i));
      world.cluster.RunFor(interval);
    }
  }

  // A replica that waits campaigns meanwhile, unless these messages postpone it.
  template <typename MakeRequest>
  void ExpectNoDelay(const char* what, const MakeRequest& request) {
    const int before = CampaignsOf(0);
    Repeat(20ms, kElectionTimeoutMax + 20ms, request);
    EXPECT_GT(CampaignsOf(0), before) << "it does not campaign because of " << what;
  }

  int CampaignsOf(PeerId replica) const {
    int count = 0;
    for (const auto& campaign : world.checker.elections().campaigns()) {
      count += campaign.replica == replica ? 1 : 0;
    }
    return count;
  }

  RaftWorld world;

 private:
  testkit::Client client_;
  int answers_ = 0;
};

// Far enough for any log to be behind.
RequestVote PreVote(std::uint64_t term, PeerId candidate) {
  return {term, candidate, 1000, 1000, true};
}

void VotesFollowTheirRules(std::uint64_t seed, Persistence persistence) {
  Stage stage(seed, persistence);
  const auto vote = [&](std::uint64_t term, PeerId candidate) {
    return stage.Ask(0, RequestVote{term, candidate, 0, 0, false});
  };
  const auto first = vote(5, 1);
  EXPECT_TRUE(first.granted) << "the first candidate of a term, with an equal log";
  EXPECT_EQ(first.term, 5u);
  EXPECT_TRUE(vote(5, 1).granted) << "the same candidate asks again";
  EXPECT_FALSE(vote(5, 2).granted) << Unsafe(Safety::kOneVote) << "a second candidate of the term";
  const auto old = vote(4, 1);
  EXPECT_FALSE(old.granted) << Unsafe(Safety::kOneVote) << "a candidate of an old term";
  EXPECT_EQ(old.term, 5u);
  EXPECT_TRUE(vote(6, 2).granted) << "the first candidate of the next term";

  const auto pre_vote = stage.Ask(0, PreVote(7, 1));
  EXPECT_TRUE(pre_vote.granted) << "a pre-vote of the next term, without a leader";
  EXPECT_EQ(pre_vote.term, 6u) << "a reply names the replier's own term";
  EXPECT_FALSE(stage.Ask(0, PreVote(5, 1)).granted) << "a pre-vote of an old term";
  EXPECT_FALSE(stage.Ask(0, PreVote(6, 1)).granted) << "a pre-vote of a term with a vote";
  EXPECT_FALSE(vote(6, 1).granted) << Unsafe(Safety::kOneVote) << "a pre-vote is no vote";
  EXPECT_TRUE(vote(7, 2).granted) << "a pre-vote binds nobody";

  const int campaigns = stage.CampaignsOf(0);
  for (std::uint64_t term = 8; term < 16; ++term) {
    EXPECT_TRUE(vote(term, 2).granted);
    stage.world.cluster.RunFor(kElectionTimeoutMin - 50ms);
  }
  EXPECT_EQ(stage.CampaignsOf(0), campaigns) << "it campaigns soon after it has voted";
  EXPECT_TRUE(stage.world.AllInvariantsHold());
}

GRADED_TEST(RaftMessages, VotesFollowTheirRules, "2a", 1,
            "A vote is given once per term, and again to the same candidate; a pre-vote binds "
            "nobody.") {
  VotesFollowTheirRules(1301, Persistence::kNotYet);
}

void ALeaderIsKeptWhileItIsHeard(std::uint64_t seed, Persistence persistence) {
  Stage stage(seed, persistence);
  EXPECT_TRUE(stage.Ask(0, AppendEntries{7, 2, 0, 0, {}, 0}).success) << "a heartbeat";
  const int campaigns = stage.CampaignsOf(0);
  // The checker judges the answers.
  stage.Repeat(7ms, kElectionTimeoutMin - 20ms, [](auto) { return PreVote(8, 1); });
  EXPECT_EQ(stage.CampaignsOf(0), campaigns);
  EXPECT_GE(stage.world.checker.elections().situations().pre_votes_under_a_leader, 35);

  const AppendEntries old{6, 1, 0, 0, {}, 0};
  const InstallSnapshot old_chunk{6, 1, 9, 6, 4, 0, "abcd"};
  stage.ExpectNoDelay("an old leader's AppendEntries", [&](auto) { return old; });
  stage.ExpectNoDelay("an old leader's InstallSnapshot", [&](auto) { return old_chunk; });
  stage.ExpectNoDelay("pre-votes", [](auto) { return PreVote(8, 1); });
  EXPECT_TRUE(stage.Ask(0, PreVote(8, 1)).granted) << "its leader is silent for too long";
  const auto refused = stage.Ask(0, old);
  EXPECT_FALSE(refused.success);
  EXPECT_EQ(refused.term, 7u);
  const auto chunk = stage.Ask(0, old_chunk);
  EXPECT_EQ(chunk.term, 7u);
  EXPECT_LT(chunk.received, 4u) << "a snapshot of an old leader";
  EXPECT_TRUE(stage.world.AllInvariantsHold());
}

GRADED_TEST(RaftMessages, OnlyTheLeadersMessagesKeepItAlive, "2a", 1,
            "A follower refuses pre-votes and does not campaign while it hears its leader; an old "
            "leader's messages do not count.") {
  ALeaderIsKeptWhileItIsHeard(1302, Persistence::kNotYet);
}

// Entries of these terms, with a command for each that no other entry has.
std::vector<LogEntry> EntriesOf(const std::vector<std::uint64_t>& terms) {
  static std::uint64_t number = 0;
  std::vector<LogEntry> entries;
  for (const std::uint64_t term : terms) {
    entries.push_back({term, CommandText(++number, 100)});
  }
  return entries;
}

void AVoteNeedsAnUpToDateLog(std::uint64_t seed, Persistence persistence) {
  struct Case {
    std::uint64_t last_index, last_term;
    bool granted;
    const char* candidate;
  };
  constexpr Case kCases[] = {
      {3, 4, true, "an equal log"},
      {2, 4, false, "a shorter log of the same last term"},
      {4, 4, true, "a longer log"},
      {9, 3, false, "a longer log with an older last term"},
      {1, 5, true, "a shorter log with a newer last term"},
      {3, 3, false, "an equally long log with an older last term"},
      {0, 0, false, "an empty log"},
  };
  Stage stage(seed, persistence);
  ASSERT_TRUE(stage.Ask(0, AppendEntries{4, 2, 0, 0, EntriesOf({2, 2, 4}), 0}).success);
  stage.world.cluster.RunFor(kElectionTimeoutMax);  // no leader is alive
  std::uint64_t term = 4;
  for (const Case& each : kCases) {
    ++term;
    RequestVote request{term, 1, each.last_index, each.last_term, true};
    const auto pre_vote = stage.Ask(0, request);
    request.pre_vote = false;
    const auto reply = stage.Ask(0, request);
    EXPECT_EQ(reply.granted, each.granted)
        << (reply.granted ? Unsafe(Safety::kAcknowledgedIsKept) : "") << "vote: " << each.candidate;
    EXPECT_EQ(pre_vote.granted, each.granted) << "pre-vote: " << each.candidate;
    EXPECT_EQ(reply.term, term) << "a newer term counts, also with a vote that is denied";
  }
  EXPECT_TRUE(stage.world.AllInvariantsHold());
}

GRADED_TEST(RaftMessages, AVoteNeedsAnUpToDateLog, "2b", 1,
            "Votes and pre-votes go to candidates whose log is at least as up to date.") {
  AVoteNeedsAnUpToDateLog(1303, Persistence::kNotYet);
}

GRADED_TEST(RaftMessages, ADeniedVotePostponesNoCampaign, "2b", 1,
            "A replica that denies a vote or a pre-vote does not postpone its own campaign.") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Stage stage(1320 + seed, Persistence::kNotYet);
    ASSERT_TRUE(stage.Ask(0, AppendEntries{4, 2, 0, 0, EntriesOf({4}), 0}).success);
    stage.ExpectNoDelay("a denied pre-vote", [](auto) { return RequestVote{5, 1, 0, 0, true}; });
    stage.ExpectNoDelay("denied votes of an old term",
                        [](auto) { return RequestVote{3, 1, 9, 9, false}; });
    stage.ExpectNoDelay("denied votes of new terms",
                        [](std::uint64_t i) { return RequestVote{5 + i, 1, 0, 0, false}; });
    EXPECT_GE(stage.world.checker.elections().situations().votes_denied, 50);
    ASSERT_TRUE(stage.world.AllInvariantsHold());
  }
}

void EntriesFollowTheirRules(std::uint64_t seed, Persistence persistence) {
  Stage stage(seed, persistence);
  const auto log = EntriesOf({1, 1, 2, 2, 2, 3});
  const auto entries = [&](std::size_t first, std::size_t end) {
    return std::vector<LogEntry>(log.begin() + static_cast<std::ptrdiff_t>(first - 1),
                                 log.begin() + static_cast<std::ptrdiff_t>(end - 1));
  };
  // Sends to two replicas, a majority. Returns the reply of one.
  const auto append = [&](const AppendEntries& request) {
    stage.Ask(1, request);
    return stage.Ask(0, request);
  };
  const auto takes = [&](const AppendEntries& request) {
    const auto reply = append(request);
    EXPECT_EQ(reply.match_index,
              reply.success ? request.prev_log_index + request.entries.size() : 0)
        << Unsafe(Safety::kAcknowledgedIsKept) << "it confirms other entries than it was sent";
    return reply.success;
  };
  const auto conflict_of = [&](const AppendEntries& request) {
    const auto reply = append(request);
    EXPECT_FALSE(reply.success) << Unsafe(Safety::kAcknowledgedIsKept)
                                << "its log differs before these entries";
    EXPECT_EQ(reply.term, request.term);
    return reply.conflict_index;
  };
  EXPECT_TRUE(takes({3, 2, 0, 0, entries(1, 7), 0}));
  EXPECT_TRUE(takes({3, 2, 2, 1, entries(3, 5), 0})) << "entries that it has";
  EXPECT_TRUE(takes({3, 2, 6, 3, {}, 0}))
      << Unsafe(Safety::kAcknowledgedIsKept) << "old entries that came again cost later ones";
  const std::uint64_t behind = conflict_of({3, 2, 9, 3, {}, 0});
  EXPECT_TRUE(behind >= 1 && behind <= 7) << "its log ends at index 6, not at " << behind - 1;
  const std::uint64_t differs = conflict_of({4, 2, 5, 3, {}, 0});
  EXPECT_TRUE(differs >= 1 && differs <= 5) << "its entry 5 has another term";
  EXPECT_TRUE(takes({4, 2, 6, 3, {}, 0}))
      << Unsafe(Safety::kAcknowledgedIsKept) << "a refusal removes no entry";

  // Entries 1 and 2 are confirmed by this message, and no others.
  EXPECT_TRUE(takes({4, 2, 2, 1, {}, 4}));
  EXPECT_EQ(stage.world.checker.claims(0).commit_index, 2u);
  EXPECT_TRUE(takes({4, 2, 1, 1, entries(2, 5), 3}));
  EXPECT_EQ(stage.world.checker.claims(0).commit_index, 3u) << "the leader has committed 3 entries";
  EXPECT_TRUE(takes({4, 2, 1, 1, {}, 1}));
  EXPECT_EQ(stage.world.checker.claims(0).commit_index, 3u) << "a late message takes it back";

  EXPECT_TRUE(takes({5, 2, 4, 2, EntriesOf({5}), 3}));
  EXPECT_EQ(conflict_of({5, 2, 6, 3, {}, 3}), 6u) << "entries 5 and 6 gave way to another one";
  EXPECT_TRUE(takes({5, 2, 5, 5, {}, 3}));
  const auto old = stage.Ask(0, AppendEntries{4, 1, 4, 2, entries(5, 7), 6});
  EXPECT_FALSE(old.success) << Unsafe(Safety::kAcknowledgedIsKept) << "entries of an old leader";
  EXPECT_EQ(old.term, 5u);
  const auto not_proposer = stage.Ask(0, Submit{"a command"});
  EXPECT_EQ(not_proposer.status, SubmitStatus::kNotProposer);
  EXPECT_EQ(not_proposer.proposer, 2) << "it names another leader than its term's";
  EXPECT_TRUE(takes({5, 2, 5, 5, {}, 5}))
      << Unsafe(Safety::kAcknowledgedIsKept) << "an old leader's entries were taken";
  EXPECT_EQ(stage.world.checker.claims(0).commit_index, 5u);
  EXPECT_EQ(stage.world.checker.claims(0).applied_index, 5u);
  EXPECT_TRUE(stage.world.AllInvariantsHold());
}

GRADED_TEST(RaftMessages, EntriesFollowTheirRules, "2b", 2,
            "A follower takes, keeps, replaces, refuses and commits the right entries.") {
  EntriesFollowTheirRules(1304, Persistence::kNotYet);
}

// Messages of rising terms come faster than the disk can write. The checker compares each answer
// with the disk.
void ManyMessagesAtOnce(std::uint64_t seed) {
  Stage stage(seed, Persistence::kRequired);
  const auto log = EntriesOf(std::vector<std::uint64_t>(60, 1));
  for (std::uint64_t i = 0; i < log.size(); ++i) {
    const std::uint64_t term = 10 + i;
    const AppendEntries next{term, 2, i, i == 0 ? 0u : 1u, {log[i]}, 0};
    stage.Send(0, next);
    stage.Send(0, next);
    stage.Send(0, AppendEntries{term, 2, 500, 1, {}, 0});
    stage.world.cluster.RunFor(i % 3 * 1ms);
    stage.Send(0, RequestVote{term + 1, 1, 0, 0, false});
    for (int copy = 0; copy < 2; ++copy) {
      stage.Send(0, RequestVote{term + 1, 1, 500, i % 2, false});
    }
    stage.world.cluster.RunFor(i % 5 * 1ms);
    stage.Send(0, RequestVote{term + 1, 1, 500, 500, true});
    stage.Send(0, AppendEntries{term, 2, 0, 0, {}, 0});
    stage.Send(0, InstallSnapshot{term, 2, 600, 1, 4, 0, "abcd"});
  }
  stage.world.cluster.RunFor(3s);
  EXPECT_GE(stage.answers(), 240) << "it hardly answers";
  EXPECT_TRUE(stage.world.AllInvariantsHold());
}

// A replica that starts has not read its disk when the first requests come.
void ARestartForgetsNothing(std::uint64_t seed) {
  Stage stage(seed, Persistence::kRequired);
  auto& cluster = stage.world.cluster;
  ASSERT_TRUE(stage.Ask(0, AppendEntries{4, 2, 0, 0, EntriesOf({2, 2, 4}), 0}).success);
  ASSERT_TRUE(stage.Ask(0, RequestVote{5, 1, 3, 4, false}).granted);
  cluster.Begin(faults::FsDelay({0}, 20ms));
  for (const Duration delay : {0ms, 1ms, 20ms, 60ms}) {
    cluster.Crash(0);
    cluster.Restart(0);
    cluster.RunFor(delay);
    EXPECT_FALSE(stage.Ask(0, RequestVote{5, 2, 3, 4, false}).granted)
        << Unsafe(Safety::kOneVote) << "it has voted for 1";
    EXPECT_FALSE(stage.Ask(0, RequestVote{6, 2, 2, 4, true}).granted) << "its log has 3 entries";
    const auto old = stage.Ask(0, AppendEntries{4, 2, 3, 4, {}, 0});
    EXPECT_FALSE(old.success) << Unsafe(Safety::kAcknowledgedIsKept) << "entries of an old term";
    EXPECT_EQ(old.term, 5u);
    EXPECT_TRUE(stage.Ask(0, RequestVote{5, 1, 3, 4, false}).granted) << "it has voted for 1";
  }
  EXPECT_TRUE(stage.Ask(0, AppendEntries{6, 2, 3, 4, {}, 0}).success) << "it has 3 entries";
  EXPECT_TRUE(stage.world.AllInvariantsHold());
}

// A heartbeat follows the entries and acknowledges them. The disk is slow.
void AHeartbeatAcknowledgesWhatIsOnDisk(std::uint64_t seed) {
  Stage stage(seed, Persistence::kRequired);
  ASSERT_TRUE(stage.Ask(0, AppendEntries{2, 2, 0, 0, EntriesOf({2, 2, 2, 2}), 0}).success);
  stage.world.cluster.Begin(faults::FsDelay({0}, 150ms));
  const auto expect_wait = [&](const char* what, const AppendEntries& request,
                               const AppendEntries& then) {
    stage.Ask(0, AppendEntries{then.term, 2, 0, 0, {}, 0});  // the term is on disk
    stage.Send(0, request);
    const Time from = stage.world.cluster.now();
    EXPECT_TRUE(stage.Ask(0, then).success);
    EXPECT_GT(stage.world.cluster.now() - from, 100ms)
        << Unsafe(Safety::kDurablePromise) << "a heartbeat acknowledges " << what
        << " that is not on disk yet";
  };
  expect_wait("an entry", {3, 2, 4, 2, EntriesOf({3}), 0}, {3, 2, 5, 3, {}, 0});
  expect_wait("an entry in another's place", {4, 2, 2, 2, EntriesOf({4}), 0}, {4, 2, 3, 4, {}, 0});
  EXPECT_TRUE(stage.world.AllInvariantsHold());
}

GRADED_TEST(RaftMessages, EveryAnswerIsDurable, "2c", 1,
            "Every answer, a refusal too, leaves when its term and its entries are on disk, and "
            "none before the disk is read.") {
  VotesFollowTheirRules(1311, Persistence::kRequired);
  ALeaderIsKeptWhileItIsHeard(1312, Persistence::kRequired);
  AVoteNeedsAnUpToDateLog(1313, Persistence::kRequired);
  EntriesFollowTheirRules(1314, Persistence::kRequired);
  ManyMessagesAtOnce(1315);
  ARestartForgetsNothing(1316);
  AHeartbeatAcknowledgesWhatIsOnDisk(1317);
}

}  // namespace
}  // namespace depfast::raft
