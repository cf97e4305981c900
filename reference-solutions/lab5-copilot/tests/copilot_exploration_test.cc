// Copilot's rules of ordering and takeover in all runs of small clusters, and wrong rules that fail
// there. Of the large scopes the nearest 300,000 states; COPILOT_STATES sets another number.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "copilot_model.h"
#include "copilot_scopes.h"

namespace depfast::copilot {
namespace {

constexpr std::size_t kAll = 100'000'000;

Rules RightRules() { return {&Suggestion, &SlowDependency, &RivalsOf, &ChooseAfterPrepare}; }

std::size_t StatesOfLargeScopes() {
  const char* const text = std::getenv("COPILOT_STATES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 300'000;
}

std::string InWords(const Explored& explored) {
  std::string text = explored.violated;
  for (const auto& step : explored.steps) text += "\n  " + step;
  return text;
}

void Report(const Explored& explored) {
  const auto& [states, fast, slow, recovered, given_up, undecided, by_other, again] =
      explored.coverage;
  std::printf(
      "%llu states%s; commits: %llu fast, %llu slow; takeovers: %llu kept a value, %llu"
      " made a no-op, %llu had to wait, %llu kept one by the other log; %llu proposals again\n",
      static_cast<unsigned long long>(states), explored.complete ? ", all" : "",
      static_cast<unsigned long long>(fast), static_cast<unsigned long long>(slow),
      static_cast<unsigned long long>(recovered), static_cast<unsigned long long>(given_up),
      static_cast<unsigned long long>(undecided), static_cast<unsigned long long>(by_other),
      static_cast<unsigned long long>(again));
}

Coverage ExpectSafe(const Scope& scope, std::size_t states_max) {
  const Explored explored = Explore(scope, RightRules(), states_max);
  Report(explored);
  EXPECT_EQ(explored.violated, "") << InWords(explored);
  EXPECT_EQ(explored.complete, explored.coverage.states < states_max);
  return explored.coverage;
}

// ---- all runs of small scopes ----

TEST(CopilotExploration, ThreeReplicasAgreeOnTheOrderOfTwoEntries) {
  const Coverage coverage = ExpectSafe(kThreeReplicas, kAll);
  EXPECT_GT(coverage.fast_commits, 0U);
  EXPECT_GT(coverage.slow_commits, 0U);
}

TEST(CopilotExploration, FiveReplicasAgreeOnTheOrderOfTwoEntries) {
  const Coverage coverage = ExpectSafe(kFiveReplicas, kAll);
  EXPECT_GT(coverage.fast_commits, 0U);
  EXPECT_GT(coverage.slow_commits, 0U);
}

TEST(CopilotExploration, TheCopilotTakesAnEntryOver) {
  const Coverage coverage = ExpectSafe(kTakeoverByCopilot, kAll);
  EXPECT_GT(coverage.recovered, 0U);
  EXPECT_GT(coverage.given_up, 0U);
  EXPECT_EQ(coverage.undecided, 0U);
}

TEST(CopilotExploration, AFollowerTakesAnEntryOver) {
  const Coverage coverage = ExpectSafe(kTakeoverByFollower, kAll);
  EXPECT_GT(coverage.recovered, 0U);
  EXPECT_GT(coverage.given_up, 0U);
  EXPECT_EQ(coverage.undecided, 0U);
}

TEST(CopilotExploration, AFollowerOfFiveTakesOverWithoutBothPilots) {
  const Coverage coverage = ExpectSafe(kTakeoverAfterBothDeaths, kAll);
  EXPECT_GT(coverage.by_other_log, 0U);
}

TEST(CopilotExploration, TheDeadCopilotHadAcceptedAndProposedAfterwards) {
  EXPECT_GT(ExpectSafe(kTwoTakersAfterAHiddenVote, StatesOfLargeScopes()).by_other_log, 0U);
}

TEST(CopilotExploration, ThePilotForgetsItsCommits) {
  EXPECT_GT(ExpectSafe(kTakeoverAfterARestart, kAll).undecided, 0U);
}

TEST(CopilotExploration, ATakerHasNotHeardOfANoOp) {
  ExpectSafe(kTakerBehindANoOp, StatesOfLargeScopes());
}

// ---- the nearest states of larger scopes ----

TEST(CopilotExploration, BothPilotsTakeOver) {
  ExpectSafe(kBothPilotsTakeOver, StatesOfLargeScopes());
}

TEST(CopilotExploration, TwoReplicasTakeOneEntryOver) {
  ExpectSafe(kTwoTakersOfOneEntry, StatesOfLargeScopes());
}

TEST(CopilotExploration, LongerLogs) { ExpectSafe(kLongerLogs, StatesOfLargeScopes()); }

TEST(CopilotExploration, ATakeoverBesideALongerLog) {
  ExpectSafe(kTakeoverBesideALongerLog, StatesOfLargeScopes());
}

TEST(CopilotExploration, FiveReplicasAndATakeover) {
  const Coverage coverage = ExpectSafe(kTakeoverOfFive, StatesOfLargeScopes());
  EXPECT_GT(coverage.undecided, 0U);
}

TEST(CopilotExploration, TakeoversDoNotWaitForEachOther) {
  ExpectSafe(kTwoTakersAfterBothDeaths, StatesOfLargeScopes());
}

// ---- views ----

TEST(CopilotExploration, AFollowerSucceedsThePilot) {
  const Coverage coverage = ExpectSafe(kSuccessionOfPilot, kAll);
  EXPECT_GT(coverage.proposed_again, 0U);
  EXPECT_GT(coverage.fast_commits, 0U);
  EXPECT_GT(coverage.slow_commits, 0U);
}

TEST(CopilotExploration, AFollowerSucceedsTheCopilot) {
  EXPECT_GT(ExpectSafe(kSuccessionOfCopilot, kAll).proposed_again, 0U);
}

TEST(CopilotExploration, TheSuccessorTakesOverWhatTheVotersKnew) {
  const Coverage coverage = ExpectSafe(kSuccessorTakesOver, StatesOfLargeScopes());
  EXPECT_GT(coverage.recovered, 0U);
  EXPECT_GT(coverage.given_up, 0U);
}

TEST(CopilotExploration, TheCopilotTakesOverInTheNewView) {
  const Coverage coverage = ExpectSafe(kTakeoverInNewView, StatesOfLargeScopes());
  EXPECT_GT(coverage.recovered, 0U);
  EXPECT_GT(coverage.given_up, 0U);
}

TEST(CopilotExploration, ATakerOfTheOldViewBesideTheSuccessor) {
  ExpectSafe(kTakerAndSuccessor, StatesOfLargeScopes());
}

TEST(CopilotExploration, AFollowerOfFiveSucceedsADeadPilot) {
  ExpectSafe(kSuccessionOfFive, StatesOfLargeScopes());
}

TEST(CopilotExploration, ATakerHasNotHeardOfALaterView) {
  EXPECT_GT(ExpectSafe(kTakerBehindALaterView, StatesOfLargeScopes()).fast_commits, 0U);
}

TEST(CopilotExploration, ATakerHasNotHeardOfALaterProposer) {
  EXPECT_GT(ExpectSafe(kTakerBehindALaterProposer, StatesOfLargeScopes()).by_other_log, 0U);
}

TEST(CopilotExploration, PromisesOfAnOlderProposal) {
  EXPECT_GT(ExpectSafe(kPromisesOfAnOlderProposal, StatesOfLargeScopes()).recovered, 0U);
}

// ---- what if a rule were another ----

constexpr const char* kNoOrder = "P.1 and Q.1 are committed in no order";
constexpr const char* kTwoValues = "P.1 is committed with two values";

// Returns the shortest way to the violation.
Explored ExpectUnsafe(const Scope& scope, const Rules& rules, const std::string& violated) {
  const Explored explored = Explore(scope, rules, kAll);
  EXPECT_EQ(explored.violated, violated);
  EXPECT_GT(explored.steps.size(), 2U);
  std::printf("%s\n", InWords(explored).c_str());
  return explored;
}

// The handout prints this run.
void ExpectPrinted(const Explored& explored) {
  std::string lines = "```\n";
  for (const auto& step : explored.steps) lines += step + "\n";
  lines += explored.violated + "\n```\n";
  const std::ifstream file(HANDOUT);
  std::ostringstream handout;
  handout << file.rdbuf();
  EXPECT_NE(handout.str().find(lines), std::string::npos) << HANDOUT << " lacks this:\n" << lines;
}

// The right rule, by answers that say something else.
decltype(Rules::choose) ChooseIf(const std::function<void(Prepared&)>& change) {
  return [change](EntryIndex entry, std::vector<Prepared> answers, const Records& other,
                  const Quorums& quorums) {
    std::ranges::for_each(answers, change);
    return ChooseAfterPrepare(entry, answers, other, quorums);
  };
}

// The right rule, by records of the other lane that say something else.
decltype(Rules::suggestion) SuggestIf(const std::function<void(Record&)>& change) {
  return [change](EntryIndex entry, EntryIndex dependency, const Records& other) {
    std::vector<Record> records(other.entries.begin(), other.entries.end());
    std::ranges::for_each(records, change);
    return Suggestion(entry, dependency, {other.base, records, 0});
  };
}

std::vector<Prepared> WithFastAccept(const std::vector<Prepared>& answers) {
  std::vector<Prepared> fast;
  std::ranges::copy_if(answers, std::back_inserter(fast), [](const Prepared& each) {
    return each.record.kind == Record::Kind::kFastAccepted;
  });
  return fast;
}

TEST(CopilotWhatIf, AFastQuorumWereSmaller) {
  Rules rules = RightRules();
  rules.fast_quorum = 2;
  ExpectUnsafe(kFiveReplicas, rules, kNoOrder);
}

TEST(CopilotWhatIf, EveryDependencyWereCompatible) {
  Rules rules = RightRules();
  rules.suggestion = [](EntryIndex, EntryIndex, const Records&) {
    return std::optional<EntryIndex>();
  };
  ExpectUnsafe(kThreeReplicas, rules, kNoOrder);
}

TEST(CopilotWhatIf, TheSlowPathTookTheSmallestDependency) {
  Rules rules = RightRules();
  rules.slow_dependency = [](std::vector<EntryIndex> suggested, const Quorums&) {
    return *std::ranges::min_element(suggested);
  };
  ExpectPrinted(ExpectUnsafe(kThreeReplicas, rules, kNoOrder));
}

// A replica that has promised an entry to a taker does not know what the taker will decide.
TEST(CopilotWhatIf, APromiseOrderedNothing) {
  Rules rules = RightRules();
  rules.suggestion = SuggestIf([](Record& each) { each.promised = 0; });
  ExpectUnsafe(kTakeoverAfterADeath, rules, kNoOrder);
}

// The notes of the protocol leave this open: the dependency "as recorded by this replica".
TEST(CopilotWhatIf, AnEntryWereOrderedByWhatIsAcceptedSoFar) {
  Rules rules = RightRules();
  rules.suggestion = SuggestIf([](Record& each) { each.least = each.dependency; });
  ExpectPrinted(ExpectUnsafe(kTakeoverByCopilot, rules, kNoOrder));
}

// A replica that has not heard of the entry may know what comes before it.
TEST(CopilotWhatIf, OnlySuggestionsWereConflicts) {
  Rules rules = RightRules();
  rules.choose = ChooseIf([](Prepared& each) {
    if (each.record.kind != Record::Kind::kSuggested) each.rivals.clear();
  });
  ExpectUnsafe({5, {kP1, kQ1}, {{kCopilot, kP1}}, Crash::kPilot}, rules, kNoOrder);
}

// The proposer of a conflicting entry refuses this one. Without that thought both takers wait.
TEST(CopilotWhatIf, ADeadPilotMightHaveAccepted) {
  Rules rules = RightRules();
  rules.choose = ChooseIf([](Prepared& each) {
    for (Rival& rival : each.rivals) {
      if (rival.stage == Rival::Stage::kProposed) rival.stage = Rival::Stage::kPromised;
    }
  });
  ExpectUnsafe(kTwoTakersAfterBothDeaths, rules, "all takeovers wait for each other");
}

// A conflict that is known by a promise alone is no refusal.
TEST(CopilotWhatIf, EveryConflictWereARefusal) {
  Rules rules = RightRules();
  rules.choose = ChooseIf([](Prepared& each) {
    for (Rival& rival : each.rivals) rival.stage = Rival::Stage::kProposed;
  });
  ExpectUnsafe(kTwoTakersAfterAHiddenVote, rules, kTwoValues);
}

// Then a proposer could accept an entry that it refuses while it does not know of the no-op.
TEST(CopilotWhatIf, ANoOpEndedARefusal) {
  Rules rules = RightRules();
  rules.suggestion = SuggestIf([](Record& each) {
    if (each.kind == Record::Kind::kCommitted && each.no_op) each = Record();
  });
  Scope scope = kTakerBehindANoOp;
  for (const char* const step :
       {"replica 1 fast-accepts P.1 dependency 0", "replica 3 fast-accepts P.1 dependency 0",
        "replica 0 commits P.1 with dependency 0 on the fast path", "replica 2 takes P.1 over"}) {
    scope.begin.push_back(step);
  }
  ExpectUnsafe(scope, rules, kTwoValues);
}

// The proposer of the rival has heard of a later proposal, and the taker has not.
TEST(CopilotWhatIf, ALaterProposalEndedARefusal) {
  Rules rules = RightRules();
  rules.least = [](EntryIndex, EntryIndex now) { return now; };
  ExpectUnsafe(kTakerBehindALaterView, rules, kTwoValues);
}

// The proposer of a later view is silent, and the one of the first view has answered.
TEST(CopilotWhatIf, ALanesFirstPilotWereTakenForTheProposer) {
  Rules rules = RightRules();
  rules.choose = ChooseIf([](Prepared& each) {
    if (each.record.kind < Record::Kind::kAccepted) each.record.ballot = FirstBallot(kPilot);
  });
  ExpectPrinted(ExpectUnsafe(kTakeoverInNewView, rules, kTwoValues));
}

// Then a proposer could accept what it has refused, once its own entry is committed in that order.
TEST(CopilotWhatIf, ACommitEndedARefusal) {
  Rules rules = RightRules();
  rules.suggestion = SuggestIf([](Record& each) {
    if (each.kind == Record::Kind::kCommitted) each.least = each.dependency;
  });
  ExpectUnsafe(kTakeoverAfterARestart, rules, kTwoValues);
}

TEST(CopilotWhatIf, APilotThatStartsAgainWereTakenAtItsWord) {
  Rules rules = RightRules();
  rules.choose = ChooseIf([](Prepared& each) { each.decides = each.replica == kPilot; });
  ExpectPrinted(ExpectUnsafe(kTakeoverAfterARestart, rules, kTwoValues));
}

TEST(CopilotWhatIf, ATakeoverIgnoredWhatWasAccepted) {
  Rules rules = RightRules();
  rules.choose = ChooseIf([](Prepared& each) {
    if (each.record.kind == Record::Kind::kAccepted) each.record.kind = Record::Kind::kNone;
  });
  ExpectUnsafe(kTakeoverByCopilot, rules, kTwoValues);
}

TEST(CopilotWhatIf, ATakeoverGaveUpWhatMayBeCommitted) {
  Rules rules = RightRules();
  rules.choose = [](EntryIndex entry, const std::vector<Prepared>& answers, const Records& other,
                    const Quorums& quorums) {
    Choice choice = ChooseAfterPrepare(entry, answers, other, quorums);
    const bool few = static_cast<int>(WithFastAccept(answers).size()) < quorums.majority();
    const bool accepted = std::ranges::any_of(
        answers, [](const Prepared& each) { return each.record.kind >= Record::Kind::kAccepted; });
    return few && !accepted ? Choice(Value{.no_op = true}) : choice;
  };
  ExpectPrinted(ExpectUnsafe(kTakeoverByCopilot, rules, kTwoValues));
}

}  // namespace
}  // namespace depfast::copilot
