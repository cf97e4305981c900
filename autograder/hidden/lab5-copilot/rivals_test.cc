// Hidden tests: a taker counts all rivals of an entry, and asks no more often than that needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>

#include "copilot_messages.h"
#include "frame_counter.h"
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
      : stage_(seed, 5), prepares_(stage_.cluster), commits_(stage_.cluster) {}

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

  // The number of ballots at which the taker has asked for P.1 since then.
  std::size_t Rounds() const {
    std::set<Ballot> ballots;
    for (std::size_t i = asked_before_; i < prepares_.all().size(); ++i) {
      const auto& [from, when, request] = prepares_.all()[i];
      if (from == kTaker && request.lane == Lane::kPilot) ballots.insert(request.ballot);
    }
    return ballots.size();
  }

 private:
  Stage stage_;
  SentRequests<Prepare> prepares_;
  SentRequests<Commit> commits_;
  std::size_t asked_before_ = 0;
};

// A taker that lacks the entry asks once, if the others have recorded it: their answers name the
// rivals.
void ATakerWithoutTheEntryAsksOnce() {
  TakeoverOfFive takeover(571);
  for (const PeerId id : {2, 3}) takeover.Tell(id, ProposalOfP(1, 0));
  const Commit decided = takeover.Decision();
  EXPECT_FALSE(decided.no_op) << "two fast-accepts may have been three with the proposer's";
  EXPECT_EQ(decided.dependency, 0U);
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
      << "the taker alone knows Q.1, which is decided to run before P.1";
}

// A replica that lacks the entry is asked again, with its initial dependency: its rivals count.
void ThoseOfAReplicaWithoutTheEntryCount() {
  TakeoverOfFive takeover(573);
  takeover.Tell(2, ProposalOfP(1, 0));
  takeover.TellOfDecision(3, 2, 0);
  EXPECT_TRUE(takeover.Decision().no_op)
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
      << "P.1 depends on nothing by its latest proposal, and replica 3 knows Q.2, which runs first";
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
