// Hidden tests: the rules at their edges.
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "asked_rules.h"
#include "rule_cases.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

using Kind = Record::Kind;
using RivalStage = Rival::Stage;

GRADED_TEST(
    CopilotOrdering, ARefusalIsForEver, "5a", 1,
    "An entry orders by the dependency with which it was proposed, also when a later one is "
    "suggested, accepted or committed.") {
  AskedRules rules;
  for (const Kind kind : {Kind::kSuggested, Kind::kAccepted, Kind::kCommitted}) {
    const std::vector<Record> recorded = {Of(kind, 0, 1)};
    EXPECT_EQ(rules.Suggestion(1, 0, {0, recorded, 0}), 1U) << "kind " << static_cast<int>(kind);
    const std::vector<Record> later = {Of(kind, 1, 1)};
    EXPECT_EQ(rules.Suggestion(1, 0, {0, later, 0}), std::nullopt)
        << "kind " << static_cast<int>(kind);
  }
}

GRADED_TEST(
    CopilotOrdering, ANoOpEndsNoRefusal, "5a", 1,
    "An entry that is accepted or committed as a no-op conflicts as before. An entry that is "
    "only promised may yet depend on nothing, so it conflicts.") {
  AskedRules rules;
  for (const Kind kind : {Kind::kAccepted, Kind::kCommitted}) {
    Record no_op = Of(kind, 0, 0);
    no_op.no_op = true;
    const std::vector<Record> refuses = {no_op};
    EXPECT_EQ(rules.Suggestion(1, 0, {0, refuses, 0}), 1U) << "it was proposed to come first";
    no_op.initial = no_op.least = 1;
    const std::vector<Record> allows = {no_op};
    EXPECT_EQ(rules.Suggestion(1, 0, {0, allows, 0}), std::nullopt);
  }
  Record promised;
  promised.promised = kCopilotBallot + 4;
  const std::vector<Record> taken = {promised};
  EXPECT_EQ(rules.Suggestion(1, 0, {0, taken, 0}), 1U) << "a taker has asked for Q.1";
  promised.promised = kCopilotBallot;
  const std::vector<Record> unknown = {promised};
  EXPECT_EQ(rules.Suggestion(1, 0, {0, unknown, 0}), std::nullopt) << "the view's first ballot";
}

GRADED_TEST(CopilotOrdering, WhatIsThrownAwayComesFirst, "5b", 1,
            "Entries that have run and are thrown away come before all that are kept.") {
  AskedRules rules;
  const std::vector<Record> none;
  EXPECT_EQ(rules.Suggestion(3, 4, {6, none, 5}), 6U) << "entries up to 6 are thrown away";
  EXPECT_EQ(rules.Suggestion(3, 6, {6, none, 5}), std::nullopt);
  const std::vector<Record> kept = {Of(Kind::kFastAccepted, 2, 2)};
  EXPECT_EQ(rules.Suggestion(3, 5, {6, kept, 5}), 7U);
  EXPECT_EQ(rules.Suggestion(2, 5, {6, kept, 5}), 6U) << "entry 7 comes after entry 2";
}

GRADED_TEST(
    CopilotChoice, TheRivalsTell, "5d", 1,
    "If the fast-accepts do not tell, the rivals do: no-op if one is decided to come first, "
    "the value if none is, and an undecided one must be decided first.") {
  AskedRules rules;
  // Five replicas. The pilot and replica 4 are silent; replica 3 has fast-accepted. A fast quorum
  // of three is possible.
  Prepared rival = Knows(2);
  rival.rivals = {{1, 1, RivalStage::kProposed}};
  const std::vector<Prepared> answers = {Knows(1), rival, Fast(3)};
  EXPECT_EQ(Choose(rules, answers, kFive), Choice(Undecided{1})) << "Q.1 is not decided";
  EXPECT_EQ(Choose(rules, answers, kFive, {Of(Kind::kAccepted, 0, 0)}), Choice(Undecided{1}));
  EXPECT_EQ(Choose(rules, answers, kFive, {Of(Kind::kCommitted, 0, 0)}), kNoOp)
      << "Q.1 is decided to come before P.1";
  EXPECT_EQ(Choose(rules, answers, kFive, {Of(Kind::kCommitted, 0, 1)}), kKept)
      << "Q.1 is decided to come after P.1";
  Record no_op = Of(Kind::kCommitted, 0, 0);
  no_op.no_op = true;
  EXPECT_EQ(Choose(rules, answers, kFive, {no_op}), kKept) << "a no-op orders nothing";
  EXPECT_EQ(Choose(rules, {Knows(1), Knows(2), Fast(3)}, kFive), kKept) << "there is no rival";
}

GRADED_TEST(CopilotChoice, TheProposerOfARivalHasRefused, "5d", 1,
            "The proposer of a rival has refused the entry: it is not counted among those that may "
            "have fast-accepted. One that is known by a promise alone says nothing.") {
  AskedRules rules;
  // Both pilots are silent.
  Prepared rival = Knows(2);
  rival.rivals = {{1, 1, RivalStage::kProposed}};
  EXPECT_EQ(Choose(rules, {rival, Fast(3), Knows(4)}, kFive), kNoOp)
      << "replica 3, the pilot, and not the copilot: no fast quorum of three";
  rival.rivals = {{1, 1, RivalStage::kPromised}};
  EXPECT_EQ(Choose(rules, {rival, Fast(3), Knows(4)}, kFive), Choice(Undecided{1}));
}

GRADED_TEST(CopilotChoice, APilotThatStartedAgainMayHaveForgotten, "5d", 1,
            "A proposer that has started again may have forgotten a commit, but none without the "
            "vote of its witness.") {
  AskedRules rules;
  // Five replicas: the pilot has started again, replicas 1 and 3 are silent or have not accepted.
  EXPECT_EQ(Choose(rules, {Fast(0), Fast(2), Knows(4)}, kFive), kKept)
      << "the witness, replica 1, is silent: with it a fast quorum may have accepted";
  EXPECT_EQ(Choose(rules, {Fast(0), Knows(1), Fast(2)}, kFive), kNoOp)
      << "the witness has not accepted, and a commit without it is not forgotten";
}

GRADED_TEST(
    CopilotChoice, AWitnessThatProposedARivalHasRefused, "5d", 1,
    "A silent witness that is the proposer of a rival has refused the entry: a pilot that has "
    "started again has not committed it.") {
  AskedRules rules;
  // The witness, replica 1, and one more are silent. With them four might have accepted.
  Prepared rival = Fast(2);
  rival.rivals = {{1, 1, RivalStage::kProposed}};
  EXPECT_EQ(Choose(rules, {Fast(0), rival, Knows(4)}, kFive), kNoOp);
  rival.rivals = {{1, 1, RivalStage::kPromised}};
  EXPECT_EQ(Choose(rules, {Fast(0), rival, Knows(4)}, kFive), Choice(Undecided{1}))
      << "a promise alone refuses nothing";
}

GRADED_TEST(CopilotChoice, RivalsAreWhatMayComeFirst, "5d", 1,
            "The rivals of an entry are the entries of the other lane, behind its initial "
            "dependency, that are or may yet be decided to depend on something before it.") {
  AskedRules rules;
  Record promised;
  promised.promised = kCopilotBallot + 4;
  const std::vector<Record> other = {Of(Kind::kFastAccepted, 0, 0), Of(Kind::kSuggested, 1, 3),
                                     Of(Kind::kAccepted, 0, 0),     Of(Kind::kCommitted, 0, 2),
                                     Of(Kind::kCommitted, 0, 1),    promised};
  const std::vector<Rival> expected = {{2, 1, RivalStage::kProposed},
                                       {3, 1, RivalStage::kAccepted},
                                       {5, 1, RivalStage::kCommitted},
                                       {6, 0, RivalStage::kPromised}};
  EXPECT_EQ(rules.RivalsOf(2, 1, {0, other, 0}), expected);
  EXPECT_EQ(rules.RivalsOf(2, 5, {0, other, 0}),
            (std::vector<Rival>{{6, 0, RivalStage::kPromised}}));
  Record anew = Of(Kind::kFastAccepted, 2, 2);
  anew.least = 0;
  EXPECT_EQ(rules.RivalsOf(2, 0, {0, {&anew, 1}, 0}),
            (std::vector<Rival>{{1, 1, RivalStage::kPromised}}))
      << "its latest proposer has refused nothing";
}

Prepared With(Prepared answer, std::vector<Rival> rivals) {
  answer.rivals = std::move(rivals);
  return answer;
}

void GoneRivalsTell(AskedRules& rules) {
  const std::vector<Record> none;
  const Records gone{3, none, 2};  // entry 3 was a no-op, entry 2 was not
  EXPECT_EQ(rules.RivalsOf(2, 1, gone), (std::vector<Rival>{{2, 0, RivalStage::kCommitted}}));
  EXPECT_EQ(rules.RivalsOf(2, 2, gone), std::vector<Rival>());
  const auto answers = [](EntryIndex rival) {
    return std::vector<Prepared>{Knows(1), With(Knows(2), {{rival, 1, RivalStage::kProposed}}),
                                 Fast(3)};
  };
  EXPECT_EQ(rules.ChooseAfterPrepare(1, answers(2), gone, kFive), kNoOp);
  EXPECT_EQ(rules.ChooseAfterPrepare(1, answers(3), gone, kFive), kKept);
}

GRADED_TEST(CopilotChoice, EachRivalTells, "5d", 1,
            "All rivals count, in order; one that is committed elsewhere comes first. One that is "
            "thrown away was decided to come first, or was a no-op: latest_gone tells.") {
  AskedRules rules;
  GoneRivalsTell(rules);
  const std::vector<Prepared> two = {
      Knows(1), With(Knows(2), {{1, 1, RivalStage::kProposed}, {2, 1, RivalStage::kProposed}}),
      Fast(3)};
  EXPECT_EQ(Choose(rules, two, kFive, {Of(Kind::kCommitted, 0, 1)}), Choice(Undecided{2}))
      << "Q.1 comes after P.1, and Q.2 is not decided";
  const std::vector<Prepared> elsewhere = {
      Knows(1), With(Knows(2), {{1, 1, RivalStage::kCommitted}}), Fast(3)};
  EXPECT_EQ(Choose(rules, elsewhere, kFive), kNoOp);
}

}  // namespace
}  // namespace depfast::copilot
