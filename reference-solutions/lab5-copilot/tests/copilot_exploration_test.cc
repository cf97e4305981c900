// Copilot's rules of ordering and takeover in all runs of small clusters, and wrong rules that fail
// there. Of the large scopes the nearest 300,000 states; COPILOT_STATES sets another number.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "copilot_model.h"
#include "copilot_scopes.h"
#include "testkit/some.h"

namespace depfast::copilot {
namespace {

constexpr std::size_t kAll = 100'000'000;

Rules RightRules() { return {&Suggestion, &SlowDependency, &RivalsOf, &ChooseAfterPrepare}; }

std::size_t StatesOfLargeScopes() {
  const char* const text = std::getenv("COPILOT_STATES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 300'000;
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

// Safe in all runs, or in the nearest states of a larger scope. Each of `met` comes up in some run.
struct SafeScope {
  const char* name;
  Scope scope;
  std::vector<std::uint64_t Coverage::*> met;
  std::size_t states_max = StatesOfLargeScopes();
  bool never_waits = false;  // no takeover is undecided
};

std::vector<SafeScope> SafeScopes() {
  constexpr auto kStates = &Coverage::states;
  constexpr auto kFast = &Coverage::fast_commits;
  constexpr auto kSlow = &Coverage::slow_commits;
  constexpr auto kRecovered = &Coverage::recovered;
  constexpr auto kGivenUp = &Coverage::given_up;
  constexpr auto kUndecided = &Coverage::undecided;
  constexpr auto kByOther = &Coverage::by_other_log;
  constexpr auto kAgain = &Coverage::proposed_again;
  return {
      {"ThreeReplicasAgreeOnTheOrderOfTwoEntries", kThreeReplicas, {kFast, kSlow}, kAll},
      {"FiveReplicasAgreeOnTheOrderOfTwoEntries", kFiveReplicas, {kFast, kSlow}, kAll},
      {"TheCopilotTakesAnEntryOver", kTakeoverByCopilot, {kRecovered, kGivenUp}, kAll, true},
      {"AFollowerTakesAnEntryOver", kTakeoverByFollower, {kRecovered, kGivenUp}, kAll, true},
      {"AFollowerOfFiveTakesOverWithoutBothPilots", kTakeoverAfterBothDeaths, {kByOther}, kAll},
      {"TheDeadCopilotHadAcceptedAndProposedAfterwards", kTwoTakersAfterAHiddenVote, {kByOther}},
      {"ThePilotForgetsItsCommits", kTakeoverAfterARestart, {kUndecided}, kAll},
      {"ATakerHasNotHeardOfANoOp", kTakerBehindANoOp, {kStates}},
      {"BothPilotsTakeOver", kBothPilotsTakeOver, {kStates}},
      {"TwoReplicasTakeOneEntryOver", kTwoTakersOfOneEntry, {kStates}},
      {"LongerLogs", kLongerLogs, {kStates}},
      {"ATakeoverBesideALongerLog", kTakeoverBesideALongerLog, {kStates}},
      {"FiveReplicasAndATakeover", kTakeoverOfFive, {kUndecided}},
      {"TakeoversDoNotWaitForEachOther", kTwoTakersAfterBothDeaths, {kStates}},
      {"AFollowerSucceedsThePilot", kSuccessionOfPilot, {kAgain, kFast, kSlow}, kAll},
      {"AFollowerSucceedsTheCopilot", kSuccessionOfCopilot, {kAgain}, kAll},
      {"TheSuccessorTakesOverWhatTheVotersKnew", kSuccessorTakesOver, {kRecovered, kGivenUp}},
      {"TheCopilotTakesOverInTheNewView", kTakeoverInNewView, {kRecovered, kGivenUp}},
      {"ATakerOfTheOldViewBesideTheSuccessor", kTakerAndSuccessor, {kStates}},
      {"AFollowerOfFiveSucceedsADeadPilot", kSuccessionOfFive, {kStates}},
      {"ATakerHasNotHeardOfALaterView", kTakerBehindALaterView, {kFast}},
      {"ATakerHasNotHeardOfALaterProposer", kTakerBehindALaterProposer, {kByOther}},
      {"PromisesOfAnOlderProposal", kPromisesOfAnOlderProposal, {kRecovered}},
  };
}

class CopilotExploration : public testing::TestWithParam<SafeScope> {};

TEST_P(CopilotExploration, IsSafe) {
  const SafeScope& safe = GetParam();
  const Explored explored = Explore(safe.scope, RightRules(), safe.states_max);
  Report(explored);
  EXPECT_EQ(explored.violated, "") << explored.InWords();
  EXPECT_EQ(explored.complete, explored.coverage.states < safe.states_max);
  for (const auto met : testkit::Some(safe.met)) EXPECT_GT(explored.coverage.*met, 0U);
  if (safe.never_waits) {
    EXPECT_EQ(explored.coverage.undecided, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, CopilotExploration, testing::ValuesIn(SafeScopes()),
                         [](const auto& safe) { return std::string(safe.param.name); });

// ---- what if a rule were another ----

constexpr const char* kNoOrder = "P.1 and Q.1 are committed in no order";
constexpr const char* kTwoValues = "P.1 is committed with two values";

// The right rules with another member.
template <typename Member, typename Wrong>
Rules With(Member Rules::* member, Wrong wrong) {
  Rules rules = RightRules();
  rules.*member = std::move(wrong);
  return rules;
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

Scope WithANoOpThatNobodyHeardOf() {
  Scope scope = kTakerBehindANoOp;
  for (const char* const step :
       {"replica 1 fast-accepts P.1 dependency 0", "replica 3 fast-accepts P.1 dependency 0",
        "replica 0 commits P.1 with dependency 0 on the fast path", "replica 2 takes P.1 over"}) {
    scope.begin.push_back(step);
  }
  return scope;
}

struct WhatIf {
  const char* name;
  Scope scope;
  Rules rules;
  const char* violated;
  bool is_printed = false;  // the handout prints the shortest way to the violation
};

std::vector<WhatIf> WhatIfs() {
  return {
      {"AFastQuorumWereSmaller", kFiveReplicas, With(&Rules::fast_quorum, 2), kNoOrder},
      {"EveryDependencyWereCompatible", kThreeReplicas,
       With(&Rules::suggestion,
            [](EntryIndex, EntryIndex, const Records&) { return std::optional<EntryIndex>(); }),
       kNoOrder},
      {"TheSlowPathTookTheSmallestDependency", kThreeReplicas,
       With(&Rules::slow_dependency,
            [](std::vector<EntryIndex> suggested, const Quorums&) {
              return *std::ranges::min_element(suggested);
            }),
       kNoOrder, true},
      // A replica that has promised an entry to a taker does not know what the taker will decide.
      {"APromiseOrderedNothing", kTakeoverAfterADeath,
       With(&Rules::suggestion, SuggestIf([](Record& each) { each.promised = 0; })), kNoOrder},
      // The notes of the protocol leave this open: the dependency "as recorded by this replica".
      {"AnEntryWereOrderedByWhatIsAcceptedSoFar", kTakeoverByCopilot,
       With(&Rules::suggestion, SuggestIf([](Record& each) { each.least = each.dependency; })),
       kNoOrder, true},
      // A replica that has not heard of the entry may know what comes before it.
      {"OnlySuggestionsWereConflicts", Scope{5, {kP1, kQ1}, {{kCopilot, kP1}}, Crash::kPilot},
       With(&Rules::choose, ChooseIf([](Prepared& each) {
         if (each.record.kind != Record::Kind::kSuggested) each.rivals.clear();
       })),
       kNoOrder},
      // The proposer of a conflicting entry refuses this one. Without that thought both takers
      // wait.
      {"ADeadPilotMightHaveAccepted", kTwoTakersAfterBothDeaths,
       With(&Rules::choose, ChooseIf([](Prepared& each) {
         for (Rival& rival : each.rivals) {
           if (rival.stage == Rival::Stage::kProposed) rival.stage = Rival::Stage::kPromised;
         }
       })),
       "all takeovers wait for each other"},
      // A conflict that is known by a promise alone is no refusal.
      {"EveryConflictWereARefusal", kTwoTakersAfterAHiddenVote,
       With(&Rules::choose, ChooseIf([](Prepared& each) {
         for (Rival& rival : each.rivals) rival.stage = Rival::Stage::kProposed;
       })),
       kTwoValues},
      // Then a proposer could accept an entry that it refuses while it does not know of the no-op.
      {"ANoOpEndedARefusal", WithANoOpThatNobodyHeardOf(),
       With(&Rules::suggestion, SuggestIf([](Record& each) {
         if (each.kind == Record::Kind::kCommitted && each.no_op) each = Record();
       })),
       kTwoValues},
      // The proposer of the rival has heard of a later proposal, and the taker has not.
      {"ALaterProposalEndedARefusal", kTakerBehindALaterView,
       With(&Rules::least, [](EntryIndex, EntryIndex now) { return now; }), kTwoValues},
      // The proposer of a later view is silent, and the one of the first view has answered.
      {"ALanesFirstPilotWereTakenForTheProposer", kTakeoverInNewView,
       With(&Rules::choose, ChooseIf([](Prepared& each) {
         if (each.record.kind < Record::Kind::kAccepted) each.record.ballot = FirstBallot(kPilot);
       })),
       kTwoValues, true},
      // Then a proposer could accept what it has refused, once its own entry is committed in that
      // order.
      {"ACommitEndedARefusal", kTakeoverAfterARestart,
       With(&Rules::suggestion, SuggestIf([](Record& each) {
         if (each.kind == Record::Kind::kCommitted) each.least = each.dependency;
       })),
       kTwoValues},
      {"APilotThatStartsAgainWereTakenAtItsWord", kTakeoverAfterARestart,
       With(&Rules::choose,
            ChooseIf([](Prepared& each) { each.decides = each.replica == kPilot; })),
       kTwoValues, true},
      {"ATakeoverIgnoredWhatWasAccepted", kTakeoverByCopilot,
       With(&Rules::choose, ChooseIf([](Prepared& each) {
         if (each.record.kind == Record::Kind::kAccepted) each.record.kind = Record::Kind::kNone;
       })),
       kTwoValues},
      {"ATakeoverGaveUpWhatMayBeCommitted", kTakeoverByCopilot,
       With(&Rules::choose,
            [](EntryIndex entry, const std::vector<Prepared>& answers, const Records& other,
               const Quorums& quorums) {
              Choice choice = ChooseAfterPrepare(entry, answers, other, quorums);
              const bool few =
                  static_cast<int>(WithFastAccept(answers).size()) < quorums.majority();
              const bool accepted = std::ranges::any_of(answers, [](const Prepared& each) {
                return each.record.kind >= Record::Kind::kAccepted;
              });
              return few && !accepted ? Choice(Value{.no_op = true}) : choice;
            }),
       kTwoValues, true},
  };
}

class CopilotWhatIf : public testing::TestWithParam<WhatIf> {};

TEST_P(CopilotWhatIf, IsUnsafe) {
  const Explored explored = Explore(GetParam().scope, GetParam().rules, kAll);
  EXPECT_EQ(explored.violated, GetParam().violated);
  EXPECT_GT(explored.steps.size(), 2U);
  std::printf("%s\n", explored.InWords().c_str());
  if (!GetParam().is_printed) return;
  std::string lines = "```\n";
  for (const auto& step : explored.steps) lines += step + "\n";
  lines += explored.violated + "\n```\n";
  std::ostringstream handout;
  handout << std::ifstream(HANDOUT).rdbuf();
  EXPECT_NE(handout.str().find(lines), std::string::npos) << HANDOUT << " lacks this:\n" << lines;
}

INSTANTIATE_TEST_SUITE_P(Of, CopilotWhatIf, testing::ValuesIn(WhatIfs()),
                         [](const auto& what_if) { return std::string(what_if.param.name); });

}  // namespace
}  // namespace depfast::copilot
