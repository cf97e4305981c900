// Hidden tests: a taker counts all rivals of an entry, and asks no more often than that needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "copilot_messages.h"
#include "frame_counter.h"
#include "safety.h"
#include "stage.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

constexpr PeerId kTaker = 1;

// P.1 of five replicas, of which the pilot and the last are dead. The copilot takes it over. A test
// says what the three have recorded: so one fast-accept may have been one of a fast quorum.
class TakeoverOfFive {
 public:
  explicit TakeoverOfFive(std::uint64_t seed)
      : stage_(seed, 5),
        prepares_(stage_.cluster),
        accepts_(stage_.cluster),
        commits_(stage_.cluster) {}

  template <typename Request>
  void Tell(PeerId to, const Request& request) {
    stage_.Ask(request, to);
  }

  // Another taker has decided Q.index, and `to` has heard of it.
  void TellOfDecision(PeerId to, EntryIndex index, EntryIndex dependency) {
    const Commands commands = ProposalOfQ(index, 0).commands;
    Tell(to, Accept{Lane::kCopilot, FirstBallot(kCopilots) + 3, index, false, 0, dependency,
                    kCopilots, commands});
    Tell(to, Commit{Lane::kCopilot, index, false, dependency, kCopilots});
  }

  // The three hear each other, and the copilot has a command. Returns what it decides for P.1.
  Commit Decision() {
    stage_.ConnectWithoutThePilot();
    stage_.cluster.Partition({4});
    asked_before_ = prepares_.all().size();
    SubmitTo(stage_.client(), kTaker, 1);
    const auto of_p = [](const auto& sent) {
      return sent.from == kTaker && sent.request.lane == Lane::kPilot && sent.request.index == 1;
    };
    stage_.cluster.RunUntil([&] { return std::ranges::any_of(commits_.all(), of_p); }, 2s);
    const auto found = std::ranges::find_if(commits_.all(), of_p);
    EXPECT_NE(found, commits_.all().end()) << "P.1 is not decided";
    return found == commits_.all().end() ? Commit() : found->request;
  }

  // Whether the taker has let others accept P.1, and always with this initial dependency.
  bool AcceptsWith(EntryIndex initial) const {
    int accepts = 0;
    for (const auto& [from, to, when, accept] : accepts_.all()) {
      if (from != kTaker || accept.lane != Lane::kPilot) continue;
      if (accept.initial != initial) return false;
      ++accepts;
    }
    return accepts > 0;
  }

  // The number of ballots at which the taker has asked for P.1 since then.
  std::size_t Rounds() const {
    std::set<Ballot> ballots;
    for (std::size_t i = asked_before_; i < prepares_.all().size(); ++i) {
      const auto& [from, to, when, request] = prepares_.all()[i];
      if (from == kTaker && request.lane == Lane::kPilot) ballots.insert(request.ballot);
    }
    return ballots.size();
  }

 private:
  Stage stage_;
  SentRequests<Prepare> prepares_;
  SentRequests<Accept> accepts_;
  SentRequests<Commit> commits_;
  std::size_t asked_before_ = 0;
};

// A taker that lacks the entry asks once, if the others have recorded it: their answers name the
// rivals.
void ATakerWithoutTheEntryAsksOnce() {
  TakeoverOfFive takeover(571);
  for (const PeerId id : {2, 3}) takeover.Tell(id, ProposalOfP(1, 0));
  const Commit decided = takeover.Decision();
  EXPECT_FALSE(decided.no_op) << Unsafe(Safety::kOneValue)
                              << "two fast-accepts may have been three with the proposer's";
  EXPECT_EQ(decided.dependency, 0U) << Unsafe(Safety::kOneValue);
  EXPECT_EQ(takeover.Rounds(), 1U) << "replicas 2 and 3 have recorded P.1, and name its rivals";
}

// A rival that the taker alone has recorded counts, although it lacked the entry.
void TheTakersOwnCount() {
  TakeoverOfFive takeover(572);
  takeover.TellOfDecision(kTaker, 1, 0);  // before P.1: so P.1 was not decided to come first
  takeover.TellOfDecision(kTaker, 2, 1);
  takeover.Tell(2, ProposalOfP(1, 0));
  takeover.Tell(3, ProposalOfQ(2, 0));
  takeover.Tell(3, ProposalOfP(1, 0));  // not a fast-accept
  EXPECT_TRUE(takeover.Decision().no_op)
      << Unsafe(Safety::kOneValue)
      << "the taker alone knows Q.1, which is decided to run before P.1";
}

// A replica that lacks the entry is asked again, with its initial dependency: its rivals count.
void ThoseOfAReplicaWithoutTheEntryCount() {
  TakeoverOfFive takeover(573);
  takeover.Tell(2, ProposalOfP(1, 0));
  takeover.TellOfDecision(3, 2, 0);
  EXPECT_TRUE(takeover.Decision().no_op)
      << Unsafe(Safety::kOneValue)
      << "replica 3 lacks P.1, and knows Q.2, which is decided to run before P.1";
}

// A taker that has recorded an older proposal asks again for the rivals of the latest one.
void TheyAreBehindTheRightDependency() {
  constexpr View kLater = 5;  // the pilot's, too
  TakeoverOfFive takeover(574);
  takeover.Tell(kTaker, ProposalOfP(1, 2));
  takeover.Tell(2, ProposalOfP(1, 0, kLater));
  takeover.TellOfDecision(3, 2, 0);
  EXPECT_TRUE(takeover.Decision().no_op)
      << Unsafe(Safety::kOneValue)
      << "P.1 depends on nothing by its latest proposal, and replica 3 knows Q.2, which runs first";
  EXPECT_TRUE(takeover.AcceptsWith(0))
      << Unsafe(Safety::kOneValue) << "the initial dependency is that of the latest proposal";
}

// The pilot of five replicas is dead. A test counts the ballots of the taker of P.1, and sees its
// decision.
class TakeoverByHand {
 public:
  explicit TakeoverByHand(std::uint64_t seed)
      : stage(seed, 5), prepares_(stage.cluster), commits_(stage.cluster) {}

  // Q.index is decided to depend on nothing, and `to` has heard of it.
  void TellOfFirst(PeerId to, EntryIndex index) {
    stage.Ask(AcceptOfQ(index), to);
    stage.Ask(Commit{Lane::kCopilot, index, false, 0, kCopilots}, to);
  }
  static Accept AcceptOfQ(EntryIndex index) {
    return {Lane::kCopilot, FirstBallot(kCopilots) + 3,    index, false, 0, 0,
            kCopilots,      ProposalOfQ(index, 0).commands};
  }

  // Runs until the taker has asked for P.1 at so many ballots.
  bool RunUntilAsked(std::size_t ballots) {
    return stage.cluster.RunUntil([&] { return Ballots() >= ballots; }, 2s);
  }

  std::optional<Commit> Decision(Duration at_most = 2s) {
    const auto of_p = [](const auto& sent) {
      return sent.request.lane == Lane::kPilot && sent.request.index == 1;
    };
    stage.cluster.RunUntil([&] { return std::ranges::any_of(commits_.all(), of_p); }, at_most);
    const auto found = std::ranges::find_if(commits_.all(), of_p);
    return found == commits_.all().end() ? std::nullopt : std::optional(found->request);
  }

  // The replica that asks for Q.1; nothing if none does.
  std::optional<PeerId> RunUntilTheRivalIsAsked(Duration at_most) {
    const auto of_q = [](const auto& sent) { return sent.request.lane == Lane::kCopilot; };
    stage.cluster.RunUntil([&] { return std::ranges::any_of(prepares_.all(), of_q); }, at_most);
    const auto found = std::ranges::find_if(prepares_.all(), of_q);
    return found == prepares_.all().end() ? std::nullopt : std::optional(found->from);
  }

  // Whether this replica has asked for P.1 since then.
  bool AsksAgain(PeerId taker, Time since) const {
    return std::ranges::any_of(prepares_.all(), [&](const auto& sent) {
      return sent.from == taker && sent.request.lane == Lane::kPilot && sent.when >= since;
    });
  }

  // Whether P.1 was asked for between the first question for Q.1 and its decision.
  bool AsksDuringTheRivals() const {
    const auto of_q = [](const auto& sent) {
      return sent.request.lane == Lane::kCopilot && sent.request.index == 1;
    };
    const auto asked = std::ranges::find_if(prepares_.all(), of_q);
    const auto decided = std::ranges::find_if(commits_.all(), of_q);
    if (asked == prepares_.all().end() || decided == commits_.all().end()) {
      ADD_FAILURE() << "Q.1 is not taken over";
      return false;
    }
    return std::ranges::any_of(prepares_.all(), [&](const auto& sent) {
      return sent.request.lane == Lane::kPilot && sent.when > asked->when &&
             sent.when < decided->when;
    });
  }

  Stage stage;

 private:
  std::size_t Ballots() const {
    std::set<Ballot> ballots;
    for (const auto& [from, to, when, request] : prepares_.all()) {
      if (request.lane == Lane::kPilot && request.index == 1) ballots.insert(request.ballot);
    }
    return ballots.size();
  }

  SentRequests<Prepare> prepares_;
  SentRequests<Commit> commits_;
};

// P.1 was proposed twice. At first the answers show the older proposal alone. The later one shows
// at the second ballot, and replica 3 names its rivals at the third.
GRADED_TEST(CopilotTakeover, ATakerAsksUntilItKnowsAll, "5d", 1,
            "If answers show a later proposal with another initial dependency, a taker asks for "
            "the rivals behind that one, however often this comes up.") {
  constexpr View kLater = 5;  // the pilot's, too
  TakeoverByHand takeover(575);
  takeover.stage.Ask(ProposalOfP(2, 0), kTaker);  // so it waits for the lane
  takeover.stage.Ask(ProposalOfP(1, 2), 2);
  takeover.TellOfFirst(3, 2);
  takeover.stage.Ask(ProposalOfP(1, 0, kLater), 4);
  takeover.stage.ConnectWithoutThePilot();
  takeover.stage.cluster.Begin(faults::LinkSlow({2}, {kTaker}, 5ms));
  takeover.stage.cluster.Begin(faults::LinkSlow({3}, {kTaker}, 6ms));
  SubmitTo(takeover.stage.client(), kTaker, 1);
  ASSERT_TRUE(takeover.RunUntilAsked(2)) << "replica 3 lacks P.1, and the taker does not ask again";
  takeover.stage.cluster.Begin(faults::CutFault({2}, {kTaker}));
  const auto decided = takeover.Decision();
  ASSERT_TRUE(decided) << "P.1 is not decided";
  EXPECT_TRUE(decided->no_op)
      << Unsafe(Safety::kOneValue)
      << "its latest proposal depends on nothing, and replica 3 knows Q.2, which runs first";
}

GRADED_TEST(CopilotTakeover, ADecisionMeanwhileCounts, "5d", 1,
            "A taker chooses by the other lane's records as they are when the answers are there: "
            "an entry that was decided meanwhile counts.") {
  TakeoverByHand takeover(576);
  takeover.stage.Ask(ProposalOfP(1, 0), 2);
  takeover.stage.ConnectWithoutThePilot();
  takeover.stage.cluster.Partition({4});
  takeover.stage.cluster.Begin(faults::LinkSlow({2, 3}, {kTaker}, 20ms));
  SubmitTo(takeover.stage.client(), kTaker, 1);
  ASSERT_TRUE(takeover.RunUntilAsked(2)) << "replica 3 lacks P.1, and the taker does not ask again";
  takeover.TellOfFirst(kTaker, 5);
  const auto decided = takeover.Decision();
  ASSERT_TRUE(decided) << "P.1 is not decided";
  EXPECT_TRUE(decided->no_op) << Unsafe(Safety::kOneValue)
                              << "Q.5 was decided to run before P.1, before the answers came";
}

// The test below says why. The taker is cut off once it has begun with its rival.
void ATakerWaitsForItsRivalForAWhile() {
  constexpr Duration kRoundPatience = 1s;  // as in copilot_base.h
  TakeoverByHand takeover(579);
  takeover.stage.Ask(ProposalOfP(1, 0), 2);
  takeover.stage.Ask(TakeoverByHand::AcceptOfQ(1), 4);
  takeover.stage.ConnectWithoutThePilot();
  takeover.stage.cluster.Partition({3});
  takeover.stage.cluster.Begin(faults::NetSlow({1, 2, 4}, 20ms));
  const auto taker = takeover.RunUntilTheRivalIsAsked(10s);
  ASSERT_TRUE(taker) << "nobody takes Q.1 over, which P.1 waits for";
  const Time cut = takeover.stage.cluster.now();
  takeover.stage.cluster.Partition({*taker});
  takeover.stage.cluster.RunFor(kRoundPatience * 3 / 2);
  EXPECT_TRUE(takeover.AsksAgain(*taker, cut + kRoundPatience / 2))
      << "it waits for Q.1 longer than kRoundPatience, and asks for P.1 no more";
}

// The copilot lives, and has not proposed Q.1. Replica 4 has accepted Q.1 for a taker, and nobody
// knows whether it is decided. Replica 2 or 4 becomes pilot, and takes P.1 over. No command comes.
GRADED_TEST(
    CopilotTakeover, AnUndecidedRivalComesFirst, "5d", 1,
    "A taker that finds an undecided rival has that decided first, waits for that, but not for "
    "ever, and then decides its own entry, although no command waits for it.") {
  ASSERT_NO_FATAL_FAILURE(ATakerWaitsForItsRivalForAWhile());
  TakeoverByHand takeover(577);
  takeover.stage.Ask(ProposalOfP(1, 0), 2);
  takeover.stage.Ask(TakeoverByHand::AcceptOfQ(1), 4);
  takeover.stage.ConnectWithoutThePilot();
  takeover.stage.cluster.Partition({3});
  takeover.stage.cluster.Begin(faults::NetSlow({1, 2, 4}, 20ms));
  const auto decided = takeover.Decision(10s);
  ASSERT_TRUE(decided) << "P.1 is not decided within 10 s of its pilot's death";
  EXPECT_TRUE(decided->no_op) << Unsafe(Safety::kOneValue) << "Q.1 is decided to run before P.1";
  EXPECT_FALSE(takeover.AsksDuringTheRivals()) << "it asks for P.1 while it takes Q.1 over";
}

GRADED_TEST(
    CopilotTakeover, AllRivalsCount, "5d", 1,
    "A taker knows the rivals behind the initial dependency of the latest proposal: its own, "
    "and those of replicas without the entry. It asks again only if an answer lacks them.") {
  ATakerWithoutTheEntryAsksOnce();
  TheTakersOwnCount();
  ThoseOfAReplicaWithoutTheEntryCount();
  TheyAreBehindTheRightDependency();
}

}  // namespace
}  // namespace depfast::copilot
