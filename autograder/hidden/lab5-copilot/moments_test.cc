// Hidden tests: the step in which something must happen. A bound on a command's time would not see
// that a wait ends a few milliseconds late.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "any_messages.h"
#include "copilot_observations.h"
#include "copilot_world.h"
#include "depfast/host/random.h"
#include "frame_counter.h"
#include "rule_model.h"
#include "stage.h"
#include "testkit/client.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

// The steps between two moments take this long at most: none of them waits.
constexpr Duration kAtOnce = 2ms;
// The value of copilot_base.h.
constexpr Duration kFastPatience = 5ms;

// When replies to the pilot's proposals arrive.
class ArrivedVotes : private sim::Observer {
 public:
  explicit ArrivedVotes(testkit::Cluster& cluster) { cluster.simulator().AddObserver(this); }

  // The `count`-th; kForever if there are fewer.
  Time Of(std::size_t count) const { return times_.size() < count ? kForever : times_[count - 1]; }
  void Reset() { times_.clear(); }

 private:
  void OnFrame(sim::FrameStage stage, PeerId, PeerId to, Time now, const Bytes& frame) override {
    if (stage != sim::FrameStage::kArrived || to != 0) return;
    std::string error;
    const auto decoded = DecodeFrame(*frame, error);
    if (decoded && decoded->header.kind == FrameKind::kReply &&
        decoded->header.method == FastAccept::kMethod) {
      times_.push_back(now);
    }
  }

  std::vector<Time> times_;
};

// The pilot of some replicas proposes one command. The replicas in `dead` are down, and its own
// disk is slow.
struct OneRound {
  int replicas = 3;
  std::vector<PeerId> dead = {};
  Duration distance{0};  // each way
  Duration own_disk{0};
};

class RoundOf {
 public:
  explicit RoundOf(const OneRound& round)
      : world_({.replicas = round.replicas,
                .seed = 601,
                .profile = sim::Profile::TeachingLowJitter()}),
        client_(world_.cluster.simulator()),
        votes_(world_.cluster),
        proposals_(world_.cluster),
        accepts_(world_.cluster),
        commits_(world_.cluster) {
    Perform(round);
  }

  // From the proposal on; kForever if there is none within 400 ms.
  Duration ToAccept() const { return First(accepts_) - Begin(); }
  Duration ToCommit() const { return First(commits_) - Begin(); }
  Duration ToVote(std::size_t count) const { return votes_.Of(count) - Begin(); }

 private:
  void Perform(const OneRound& round) {
    ASSERT_TRUE(world_.WaitForPilots());
    ASSERT_TRUE(world_.Commit(20)) << "nothing is committed without a fault";
    world_.cluster.RunFor(200ms);
    for (const PeerId dead : round.dead) world_.cluster.Crash(dead);
    if (round.own_disk > 0ms) world_.cluster.Begin(faults::FsDelay({0}, round.own_disk));
    std::vector<PeerId> all;
    for (PeerId id = 0; id < round.replicas; ++id) all.push_back(id);
    // Without its witness's vote a fast decision needs the own disk: so that vote is never the
    // last.
    const std::vector<PeerId> followers(all.begin() + 2, all.end());
    world_.cluster.Begin(faults::LinkSlow(followers, {0}, 1ms));
    if (round.distance > 0ms) world_.cluster.Begin(faults::NetSlow(all, round.distance));
    from_ = world_.cluster.now();
    votes_.Reset();
    SubmitTo(client_, 0, 1);
    world_.cluster.RunFor(400ms);
    EXPECT_LT(Begin(), kForever) << "the pilot does not propose the command";
  }

  Time Begin() const { return First(proposals_); }

  template <typename Request>
  Time First(const SentRequests<Request>& sent) const {
    for (const auto& [from, to, when, request] : sent.all()) {
      if (from == 0 && when >= from_ && request.lane == Lane::kPilot) return when;
    }
    return kForever;
  }

  CopilotWorld world_;
  testkit::Client client_;
  ArrivedVotes votes_;
  SentRequests<FastAccept> proposals_;
  SentRequests<Accept> accepts_;
  SentRequests<Commit> commits_;
  Time from_{0};
};

GRADED_TEST(
    CopilotMoments, AFastDecisionNeedsNoDiskOfItsOwn, "5a", 1,
    "Where the others' fast-accepts are a fast quorum, the witness's among them, a proposer "
    "decides with the last of them, however slow its own disk is.") {
  for (const int replicas : {3, 5, 7}) {
    for (const Duration distance : {0ms, 10ms}) {
      if (replicas == 7 && distance > 0ms) continue;  // the fast path is over before
      SCOPED_TRACE(std::to_string(replicas) + " replicas, distant by " +
                   std::to_string(distance / 1ms) + " ms");
      const RoundOf round({.replicas = replicas, .distance = distance, .own_disk = 200ms});
      const int f = (replicas - 1) / 2;
      const auto fast = static_cast<std::size_t>(f + (f + 1) / 2);
      ASSERT_LT(round.ToVote(fast), kForever) << "too few replicas answer";
      EXPECT_LT(round.ToCommit(), round.ToVote(fast) + kAtOnce)
          << "the proposer waits for its own disk, or for more votes";
    }
  }
}

// Both other replicas have recorded Q.1, which conflicts with P.1.
void AnImpossibleFastPathIsOver() {
  Stage stage(602);
  for (const PeerId id : {PeerId{1}, kFollower}) {
    EXPECT_TRUE(stage.Ask(ProposalOfQ(1, 0), id).recorded);
  }
  stage.cluster.Heal();
  const ArrivedVotes votes(stage.cluster);
  const SentRequests<FastAccept> proposals(stage.cluster);
  const SentRequests<Accept> accepts(stage.cluster);
  SubmitTo(stage.client(), 0, 1);
  stage.cluster.RunUntil([&] { return !accepts.all().empty(); }, 500ms);
  ASSERT_FALSE(proposals.all().empty() || accepts.all().empty()) << "no slow path";
  const Time latest = std::min(votes.Of(2), proposals.all().front().when + kFastPatience);
  EXPECT_LT(accepts.all().front().when, latest + kAtOnce)
      << "two of three suggest another dependency, and the proposer waits for its patience";
}

// P.1 and P.2 are long, and the follower has not taken them: so it is left out of P.3. The copilot
// has recorded Q.1, which conflicts with P.3.
void AVoteThatIsNotAskedForIsLost() {
  constexpr std::size_t kLong = std::size_t{400} << 10;
  Stage stage(605);
  stage.cluster.Heal();
  stage.cluster.Begin(faults::LinkSlow({0}, {kFollower}, 10s));
  const SentRequests<FastAccept> proposals(stage.cluster);
  const SentRequests<Accept> accepts(stage.cluster);
  const SentRequests<Commit> commits(stage.cluster);
  for (const std::uint64_t number : {1U, 2U}) {
    stage.client().Call(
        0, Submit{std::string(kLong, 'x')}, 5s, [](const std::optional<SubmitReply>&) {},
        Dependency::Client(OwnCommand(number).name));
    const auto is_decided = [&](const auto& sent) { return sent.request.index == number; };
    ASSERT_TRUE(stage.cluster.RunUntil(
        [&] { return std::ranges::any_of(commits.all(), is_decided); }, 500ms))
        << "P." << number << " is not decided by two of three replicas";
  }
  EXPECT_TRUE(stage.Ask(ProposalOfQ(1, 0), 1).recorded);
  SubmitTo(stage.client(), 0, 3);
  stage.cluster.RunUntil([&] { return !accepts.all().empty(); }, 500ms);
  const auto of_p3 = [](const auto& sent) { return sent.request.index == 3; };
  ASSERT_EQ(std::ranges::count_if(proposals.all(), of_p3), 1) << "of two peers one is in reach";
  ASSERT_TRUE(!accepts.all().empty() && of_p3(accepts.all().front())) << "no slow path";
  EXPECT_EQ(std::ranges::count_if(accepts.all(), of_p3), 1) << "of two peers one is in reach";
  EXPECT_LT(accepts.all().front().when - std::ranges::find_if(proposals.all(), of_p3)->when,
            kFastPatience - 1ms)
      << "the peer in reach suggests another dependency, and the proposer waits for its patience";
}

GRADED_TEST(CopilotMoments, TheSlowPathBeginsInTime, "5b", 1,
            "A proposer with a majority takes the slow path as soon as the fast path is "
            "impossible, or kFastPatience has passed since the broadcast. Its own disk does not "
            "count.") {
  ASSERT_NO_FATAL_FAILURE(AnImpossibleFastPathIsOver());
  ASSERT_NO_FATAL_FAILURE(AVoteThatIsNotAskedForIsLost());
  // Four of the others vote, and a fast quorum lacks the proposer's own vote.
  const RoundOf slow_disk({.replicas = 7, .dead = {5, 6}, .own_disk = 200ms});
  EXPECT_GT(slow_disk.ToAccept(), kFastPatience - 1ms) << "the fast path is given up";
  EXPECT_LT(slow_disk.ToAccept(), kFastPatience + kAtOnce)
      << "with a slow disk of the proposer's own";
  // The patience is over before a majority has answered.
  const RoundOf distant({.replicas = 7, .dead = {4, 5, 6}, .distance = 10ms});
  ASSERT_LT(distant.ToVote(3), kForever) << "too few replicas answer";
  EXPECT_LT(distant.ToAccept(), distant.ToVote(3) + kAtOnce)
      << "with the majority's votes, in a distant cluster";
}

// Counts the entries that the follower runs.
class RunCounter : private sim::Observer {
 public:
  explicit RunCounter(testkit::Cluster& cluster) { cluster.simulator().AddObserver(this); }
  EntryIndex Ran(Lane lane) const { return ran_[static_cast<std::size_t>(lane)]; }

 private:
  void OnStep(PeerId replica, const sim::StepInput&, const sim::StepOutput& output) override {
    for (const sim::Output& one : output.outputs) {
      const auto* const seen = std::get_if<Observation>(&one);
      if (replica != kFollower || seen == nullptr || seen->kind != kRunObservation) continue;
      ran_[seen->values[0]] = seen->values[1];
    }
  }

  std::array<EntryIndex, 2> ran_{};
};

// Decisions come in any order. A model knows which entries may have run after each.
class AnyDecisions {
 public:
  explicit AnyDecisions(std::uint64_t number)
      : random_(testkit::TheEnvironment().seed, 603, number),
        stage_(603 + number),
        counter_(stage_.cluster) {}

  void Send() {
    std::vector<Commit> commits;
    for (EntryIndex index = 1; index <= kEntries; ++index) {
      EXPECT_TRUE(stage_.Ask(ProposalOfP(index, 0)).recorded);
      EXPECT_TRUE(stage_.Ask(ProposalOfQ(index, 0)).recorded);
      commits.push_back(Any(Lane::kPilot, index, kPilots));
      commits.push_back(Any(Lane::kCopilot, index, kCopilots));
    }
    for (std::size_t left = commits.size(); left > 0 && !testing::Test::HasFailure(); --left) {
      std::swap(commits[random_.Below(left)], commits[left - 1]);
      SendOne(commits[left - 1]);
    }
  }

 private:
  static constexpr EntryIndex kEntries = 5;
  using Values = std::array<std::optional<Value>, kEntries + 2>;  // by index; the last is nothing

  Commit Any(Lane lane, EntryIndex index, View origin) {
    if (random_.Below(3) == 0) return {lane, index, true, 0, 0};
    return {lane, index, false, random_.Below(kEntries + 1), origin};
  }

  void SendOne(const Commit& commit) {
    steps_ += "\n  " + NameOf(commit.lane, commit.index) +
              (commit.no_op ? " is a no-op" : " depends on " + std::to_string(commit.dependency));
    EXPECT_TRUE(stage_.Ask(commit).known);
    Of(commit.lane)[commit.index] = Value{commit.no_op, commit.dependency};
    stage_.cluster.RunFor(kAtOnce);
    RunModel();
    for (const Lane lane : kLanes) {
      EXPECT_EQ(counter_.Ran(lane), ran_[static_cast<std::size_t>(lane)])
          << "entries of lane " << (lane == Lane::kPilot ? "P" : "Q")
          << " that have run, after the decisions" << steps_;
    }
  }

  void RunModel() {
    auto& [pilot, copilot] = ran_;
    for (;;) {
      const Next next = model::NextToRun(Of(Lane::kPilot)[pilot + 1], pilot,
                                         Of(Lane::kCopilot)[copilot + 1], copilot);
      if (next == Next::kNothing) return;
      ++(next == Next::kPilot ? pilot : copilot);
    }
  }

  Values& Of(Lane lane) { return decided_[static_cast<std::size_t>(lane)]; }

  RandomStream random_;
  Stage stage_;
  RunCounter counter_;
  std::array<Values, 2> decided_;
  std::array<EntryIndex, 2> ran_{};
  std::string steps_;
};

GRADED_TEST(CopilotMoments, WhatMayRunRunsAtOnce, "5c", 1,
            "Whatever order decisions come in, an entry runs with the decision that lets it run, a "
            "no-op, too.") {
  for (std::uint64_t number = 1; number <= 12 && !HasFailure(); ++number) {
    AnyDecisions(number).Send();
  }
}

}  // namespace
}  // namespace depfast::copilot
