// Hidden tests: random messages to a replica. A model knows the one right answer to each.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "any_messages.h"
#include "depfast/host/random.h"
#include "frame_counter.h"
#include "rule_model.h"
#include "safety.h"
#include "stage.h"
#include "testkit/environment.h"
#include "vote_model.h"

namespace depfast::copilot {
namespace {

void ExpectEqual(const FastAcceptReply& reply, const FastAcceptReply& right) {
  EXPECT_EQ(reply.recorded, right.recorded) << (reply.recorded ? Unsafe(Safety::kOneValue) : "");
  EXPECT_EQ(reply.view, right.view);
  if (right.recorded) {
    EXPECT_EQ(reply.dependency, right.dependency) << Unsafe(Safety::kEqualStates);
  }
}

void ExpectEqual(const AcceptReply& reply, const AcceptReply& right) {
  EXPECT_EQ(reply.accepted, right.accepted) << (reply.accepted ? Unsafe(Safety::kOneValue) : "");
  EXPECT_EQ(reply.promised, right.promised);
}

void ExpectEqual(const PrepareReply& reply, const PrepareReply& right) {
  EXPECT_EQ(reply.promised, right.promised) << (reply.promised ? Unsafe(Safety::kOneValue) : "");
  EXPECT_EQ(reply.ballot, right.ballot);
  EXPECT_FALSE(reply.is_gone);
  EXPECT_FALSE(reply.decides) << Unsafe(Safety::kOneValue) << "this replica has proposed nothing";
  const Record &told = reply.record, &known = right.record;
  EXPECT_EQ(told.kind, known.kind) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.no_op, known.no_op) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.promised, known.promised);
  EXPECT_EQ(told.ballot, known.ballot) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.initial, known.initial) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.dependency, known.dependency) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.witness, known.witness) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(told.least, known.least) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(reply.origin, right.origin) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(reply.commands, right.commands) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(reply.rivals, right.rivals) << Unsafe(Safety::kOneValue);
}

void ExpectEqual(const CommitReply& reply, const CommitReply& right) {
  EXPECT_EQ(reply.known, right.known);
}

enum class Sends : std::uint8_t { kProposals, kAll, kAllWithRivals };

// Scripts of random messages to one replica, each of its own entries. Every other replica starts
// again now and then.
class AnyMessages {
 public:
  AnyMessages(Sends sends, std::uint64_t number)
      : sends_(sends),
        restarts_(number % 2 == 0),
        random_(testkit::TheEnvironment().seed, number),
        stage_(560 + number) {}

  // The next script. Stops after the first wrong answer.
  void Send(int count) {
    steps_ = first_ > 0 ? "\n  (messages of earlier entries)" : "";
    for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) SendOne();
    first_ += kGroup;
  }

 private:
  static constexpr std::uint64_t kViews = 3;

  void SendOne() {
    const Lane lane = random_.Below(2) == 0 ? Lane::kPilot : Lane::kCopilot;
    const EntryIndex index = first_ + 1 + random_.Below(kGroup);
    // Most in the present view: a later one ends it.
    const View view = AnyView(random_, model_.ViewOfLane(lane), random_.Below(5) == 0 ? kViews : 1);
    const Ballot first = FirstBallot(view);
    const std::uint64_t what = random_.Below(16);
    if (what == 0 && restarts_) {
      steps_ += "\n  it starts again";
      stage_.RestartFollower();
    } else if (sends_ == Sends::kProposals || what < 8) {
      Check(AProposal(lane, view, index));
    } else if (what < 11) {
      Check(AnAccept(lane, first + random_.Below(5), index));
    } else if (what < 15) {
      const Ballot ballot = first + 1 + random_.Below(5);
      const bool knows_initial = sends_ == Sends::kAllWithRivals && random_.Below(2) == 0;
      Check(Prepare{lane, ballot, index, knows_initial,
                    knows_initial ? first_ + random_.Below(kGroup) : 0});
    } else if (const Commit commit = ACommit(lane, view, index);
               !restarts_ && model_.IsKnown(commit)) {
      Check(commit);
    }
  }

  template <typename Request>
  void Check(const Request& request) {
    steps_ += std::string("\n  ") + Request::kName + " of " + NameOf(request.lane, request.index) +
              ": " + Words(request);
    SCOPED_TRACE("the last answer is wrong:" + steps_);
    const auto reply = stage_.Ask(request);
    auto right = model_.On(request);
    if constexpr (std::is_same_v<Request, Prepare>) {
      if (sends_ != Sends::kAllWithRivals) right.rivals = reply.rivals;  // they belong to 5D
    }
    ExpectEqual(reply, right);
  }

  Sends sends_;
  bool restarts_;  // instead of commits: what is decided may be forgotten, and learned again
  RandomStream random_;
  Stage stage_;
  VoteModel model_;
  EntryIndex first_ = 0;  // all entries of the script come after this one
  std::string steps_;
};

// Short scripts first: the first that fails is easy to read.
void SendAnything(Sends sends) {
  for (std::uint64_t number = 1; number <= 6; ++number) {
    AnyMessages messages(sends, number);
    for (const int length : {3, 6, 12, 30}) {
      for (int i = 0; i < 20 && !testing::Test::HasFailure(); ++i) messages.Send(length);
    }
  }
}

GRADED_TEST(CopilotAnything, Proposals, "5a", 1,
            "Random proposals of both lanes and of several views are answered by the rules, also "
            "after a restart.") {
  SendAnything(Sends::kProposals);
}

GRADED_TEST(CopilotAnything, Messages, "5b", 1,
            "Random proposals, Accepts, Prepares and Commits are answered by the rules, also after "
            "a restart.") {
  SendAnything(Sends::kAll);
}

GRADED_TEST(
    CopilotAnything, Promises, "5d", 1,
    "Random proposals, Accepts, Prepares and Commits are answered by the rules, and a promise "
    "names the rivals of its entry.") {
  SendAnything(Sends::kAllWithRivals);
}

// A takeover by the copilot, while the pilot is dead. The copilot and the follower have recorded
// P.1 from random messages. In half of the worlds they know decided entries of Q before some of
// them. So a model knows their answers to the Prepare, and the choice.
class AnyTakeover {
 public:
  // Takeovers of P.1, and the taker's Accepts for it, in all worlds.
  struct Counts {
    int takeovers = 0;
    int accepts = 0;
  };

  AnyTakeover(std::uint64_t number, Counts& counts)
      : number_(number),
        counts_(counts),
        random_(testkit::TheEnvironment().seed, number, 1),
        stage_(760 + number),
        prepares_(stage_.cluster),
        accepts_(stage_.cluster),
        decided_(stage_.cluster) {}

  // Random messages. The copilot may have no need to take P.1 over.
  void Run(int messages) {
    const std::uint64_t told_of_q = random_.Below(2 * static_cast<std::uint64_t>(messages));
    for (int i = 0; i < messages; ++i) {
      if (static_cast<std::uint64_t>(i) == told_of_q) TellOfQ(1 + random_.Below(kGroup));
      TellOne();
    }
    TakeOver();
  }

  // The proposals of each receiver, of two, and the moments at which both hear of Q.
  struct Proposals {
    std::array<FastAccept, 2> all;
    std::vector<std::size_t> of_taker, of_follower;  // numbers
    EntryIndex q_before, q_after;                    // the last entries of Q that they know
  };
  void Run(const Proposals& proposals) {
    TellOfQ(proposals.q_before);
    for (const std::size_t number : proposals.of_taker) Tell(kTaker, proposals.all.at(number));
    for (const std::size_t number : proposals.of_follower)
      Tell(kFollower, proposals.all.at(number));
    TellOfQ(proposals.q_after);
    TakeOver();
  }

 private:
  static constexpr PeerId kTaker = 1;

  void TakeOver() {
    TellOfThePromise();
    stage_.ConnectWithoutThePilot();
    SubmitTo(stage_.client(), kTaker, 1);
    stage_.cluster.RunUntil([&] { return Committed(Lane::kPilot); }, 600ms);
    if (prepares_.all().empty()) return;
    ++counts_.takeovers;
    SCOPED_TRACE("the takeover is wrong:" + steps_);
    EXPECT_TRUE(Committed(Lane::kPilot)) << "P.1 is not decided";
    stage_.cluster.RunFor(100ms);
    ExpectTheChoice();
  }

  // The follower would refuse a lower ballot. A taker may wait for the dead pilot's answer then,
  // for longer than this test does.
  void TellOfThePromise() {
    const Ballot promised = PromisedBy(follower_);
    if (promised <= PromisedBy(taker_)) return;
    Tell(kTaker, Prepare{Lane::kPilot, promised, 1, true, 0});
  }

  static Ballot PromisedBy(const VoteModel& replica) {
    return std::max(FirstBallot(replica.ViewOfLane(Lane::kPilot)),
                    replica.Of(Lane::kPilot, 1).record.promised);
  }

  void TellOne() {
    const PeerId to = random_.Below(2) == 0 ? kTaker : kFollower;
    // The later view is that of the taker's ballots, too.
    const View view = AnyView(random_, kPilots, random_.Below(3) == 0 ? 2 : 1);
    const std::uint64_t what = random_.Below(10);
    if (what < 6) {
      Tell(to, AProposal(Lane::kPilot, view, 1, number_));
    } else if (what < 8) {
      Tell(to, AnAccept(Lane::kPilot, FirstBallot(view) + random_.Below(5), 1, number_));
    } else if (what < 9) {
      Tell(to, Prepare{Lane::kPilot, FirstBallot(view) + 1 + random_.Below(5), 1, true, 0});
    } else if (const Commit commit = ACommit(Lane::kPilot, view, 1, number_);
               to == kFollower && follower_.IsKnown(commit)) {
      Tell(to, commit);
    }
  }

  // Another replica has taken the copilot's first entries over.
  void TellOfQ(EntryIndex last) {
    const Ballot ballot = FirstBallot(kCopilots) + 1;
    for (; own_ <= last; ++own_) {
      const Commands commands = ProposalOfQ(own_, 0).commands;
      for (const PeerId to : {kTaker, kFollower}) {
        Tell(to, Accept{Lane::kCopilot, ballot, own_, false, 0, 0, kCopilots, commands});
        Tell(to, Commit{Lane::kCopilot, own_, false, 0, kCopilots});
      }
    }
  }

  template <typename Request>
  void Tell(PeerId to, const Request& request) {
    steps_ += std::string("\n  ") + (to == kTaker ? "the taker" : "the follower") + " gets " +
              Request::kName + ": " + Words(request);
    stage_.Ask(request, to);
    (to == kTaker ? taker_ : follower_).On(request);
  }

  const Commit* Committed(Lane lane, EntryIndex index = 1) const {
    for (const auto& [from, to, when, commit] : decided_.all()) {
      if (commit.lane == lane && commit.index == index) return &commit;
    }
    return nullptr;
  }

  // With the copilot's own entry, which both have.
  void ExpectTheChoice() {
    const Commit* const own = Committed(Lane::kCopilot, own_);
    ASSERT_TRUE(own) << "Q." << own_ << " is not decided";
    std::vector<Record> other(own_);
    for (Record& record : other) record.kind = Record::Kind::kCommitted;
    other.back().dependency = own->dependency;
    const auto one = taker_.Of(Lane::kPilot, 1), two = follower_.Of(Lane::kPilot, 1);
    const auto& source = model::Latest(one.record, two.record) ? one : two;
    const auto rivals = model::RivalsOf(1, source.record.initial, {0, other, 0});
    const auto choice = model::ChooseAfterPrepare(
        1, {{kTaker, one.record, rivals}, {kFollower, two.record, rivals}}, {0, other, 0},
        Quorums(3));
    const Value right = std::get<Value>(choice);
    const auto told = stage_.Ask(Prepare{Lane::kPilot, FirstBallot(6) + 1, 1, false, 0}, kFollower);
    EXPECT_EQ(told.record.kind, Record::Kind::kCommitted);
    EXPECT_EQ(told.record.no_op, right.no_op) << Unsafe(Safety::kOneValue);
    EXPECT_EQ(told.record.dependency, right.dependency) << Unsafe(Safety::kOneValue);
    ExpectTheBallotOfPromises();
    if (right.no_op) return;
    int wrong = 0;
    for (const auto& [from, to, when, accept] : accepts_.all()) {
      wrong +=
          from == kTaker && accept.lane == Lane::kPilot && accept.initial != source.record.initial;
    }
    EXPECT_EQ(wrong, 0) << Unsafe(Safety::kOneValue) << "Accepts with another initial dependency";
    EXPECT_EQ(told.origin, source.origin) << Unsafe(Safety::kOneValue);
    EXPECT_EQ(told.commands, source.commands) << Unsafe(Safety::kOneValue);
  }

  // A taker sends no Accept for what it learns to be decided.
  void ExpectTheBallotOfPromises() const {
    int wrong = 0;
    for (const auto& [from, to, when, accept] : accepts_.all()) {
      if (from != kTaker || accept.lane != Lane::kPilot) continue;
      ++counts_.accepts;
      Ballot asked = 0;
      for (const auto& [taker, receiver, since, prepare] : prepares_.all()) {
        const bool is_of_p = taker == kTaker && prepare.lane == Lane::kPilot;
        if (is_of_p && since <= when) asked = prepare.ballot;
      }
      wrong += accept.ballot != asked;
    }
    EXPECT_EQ(wrong, 0) << Unsafe(Safety::kOneValue)
                        << "Accepts at a ballot that nobody has promised";
  }

  const std::uint64_t number_;
  Counts& counts_;
  RandomStream random_;
  Stage stage_;
  EntryIndex own_ = 1;  // the index of the copilot's own entry
  SentRequests<Prepare> prepares_;
  SentRequests<Accept> accepts_;
  SentRequests<Commit> decided_;
  VoteModel taker_, follower_;
  std::string steps_;
};

// A proposal of P.1 with that dependency. Different ones have different commands.
FastAccept AnotherProposal(View view, EntryIndex dependency) {
  FastAccept proposal = ProposalOfP(1, dependency, view);
  proposal.witness = 0;
  proposal.commands = CommandNumber(300 + view);
  return proposal;
}

// Proposals of two views, in all ways. The later one's proposer is silent, or the follower.
std::vector<AnyTakeover::Proposals> TwoProposals() {
  constexpr std::size_t kWays = 2 * 2 * 2 * 4 * 4 * 3;
  const std::vector<std::vector<std::size_t>> told = {{}, {0}, {1}, {0, 1}};
  std::vector<AnyTakeover::Proposals> found;
  for (std::size_t way = 0; way < kWays; ++way) {
    std::size_t rest = way;
    const auto choose = [&](std::size_t ways) { return std::exchange(rest, rest / ways) % ways; };
    // One choice a statement: compilers differ in the order in which they evaluate arguments.
    const FastAccept early = AnotherProposal(0, 2 * choose(2));
    const View later_view = 2 + choose(2);
    const FastAccept late = AnotherProposal(later_view, 2 * choose(2));
    const auto& of_taker = told[choose(4)];
    const auto& of_follower = told[choose(4)];
    const std::size_t when = choose(3);  // they hear of Q.1 and Q.2: never, before, after
    found.push_back(
        {{early, late}, of_taker, of_follower, when == 1 ? 2U : 0U, when > 0 ? 2U : 0U});
  }
  return found;
}

GRADED_TEST(
    CopilotAnything, Decisions, "5d", 1,
    "Whatever the copilot and a follower have recorded of a dead pilot's entry, the takeover "
    "decides what the rules say, with the commands of that value.") {
  std::uint64_t number = 0;
  AnyTakeover::Counts counts;
  for (const AnyTakeover::Proposals& proposals : TwoProposals()) {
    if (!HasFailure()) AnyTakeover(++number, counts).Run(proposals);
  }
  for (const int messages : {2, 4, 8}) {
    for (int i = 0; i < 60 && !HasFailure(); ++i) {
      AnyTakeover(++number, counts).Run(messages);
    }
  }
  EXPECT_TRUE(HasFailure() || counts.takeovers > 90) << counts.takeovers << " takeovers";
  EXPECT_TRUE(HasFailure() || counts.accepts > 0) << "no taker has sent an Accept";
}

}  // namespace
}  // namespace depfast::copilot
