// The public tests of the rules alone: students see, run and replay them.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "asked_rules.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

using Kind = Record::Kind;

// Three replicas: 0 is the pilot, 1 the copilot. The copilot's first view is 1.
const Quorums kThree(3);
constexpr Ballot kPilotsBallot = FirstBallot(0);
constexpr Ballot kCopilotsBallot = FirstBallot(1);

// Entry 1 of the copilot's lane, proposed with that dependency and recorded so.
Record Proposed(EntryIndex dependency) {
  return {Kind::kFastAccepted, false, kCopilotsBallot, kCopilotsBallot, dependency,
          dependency,          0,     dependency};
}

GRADED_TEST(CopilotRules, AConflictIsSuggested, "5a", 1,
            "A dependency is compatible unless a later entry is recorded that depends on something "
            "before this one. Then that later entry is suggested.") {
  AskedRules rules;
  const std::vector<Record> none;
  EXPECT_EQ(rules.Suggestion(1, 0, {0, none, 0}), std::nullopt) << "nothing is recorded";
  const std::vector<Record> before = {Proposed(0)};
  EXPECT_EQ(rules.Suggestion(1, 1, {0, before, 0}), std::nullopt) << "P.1 depends on Q.1";
  EXPECT_EQ(rules.Suggestion(1, 0, {0, before, 0}), 1U) << "neither depends on the other";
  const std::vector<Record> behind = {Proposed(1)};
  EXPECT_EQ(rules.Suggestion(1, 0, {0, behind, 0}), std::nullopt) << "Q.1 depends on P.1";
}

GRADED_TEST(CopilotRules, TheSlowPathTakesTheMajoritysDependency, "5b", 1,
            "Of the suggested dependencies the slow path takes the majority-th smallest.") {
  AskedRules rules;
  EXPECT_EQ(rules.SlowDependency({0, 0}, kThree), 0U);
  EXPECT_EQ(rules.SlowDependency({0, 3}, kThree), 3U);
  EXPECT_EQ(rules.SlowDependency({7, 0, 3}, kThree), 3U) << "in any order";
}

GRADED_TEST(CopilotRules, AnEntryWaitsForItsDependency, "5c", 1,
            "An entry runs after its dependency. In a cycle the pilot's entry runs first.") {
  AskedRules rules;
  const Value after_first{false, 1};
  const Value first{false, 0};
  EXPECT_EQ(rules.NextToRun(after_first, 0, std::nullopt, 0), Next::kNothing);
  EXPECT_EQ(rules.NextToRun(after_first, 0, first, 0), Next::kCopilot);
  EXPECT_EQ(rules.NextToRun(after_first, 0, std::nullopt, 1), Next::kPilot);
  EXPECT_EQ(rules.NextToRun(after_first, 0, after_first, 0), Next::kPilot) << "a cycle";
}

GRADED_TEST(CopilotRules, ATakeoverKeepsWhatMayBeCommitted, "5d", 1,
            "A taker keeps a committed value, else that of the highest ballot, else the value that "
            "enough have fast-accepted. Otherwise it makes a no-op.") {
  AskedRules rules;
  const std::vector<Record> none;
  const Records other{0, none, 0};
  const auto answer = [](int replica, Kind kind, Ballot ballot, EntryIndex dependency) {
    return Prepared{replica, {kind, false, ballot, ballot, 0, dependency, 1, 0}, {}, false};
  };
  const Ballot taken = kPilotsBallot + 5;
  EXPECT_EQ(
      rules.ChooseAfterPrepare(
          1, {answer(1, Kind::kAccepted, kPilotsBallot, 1), answer(2, Kind::kAccepted, taken, 2)},
          other, kThree),
      Choice(Value{false, 2}))
      << "accepted at two ballots";
  EXPECT_EQ(
      rules.ChooseAfterPrepare(
          1, {answer(1, Kind::kCommitted, kPilotsBallot, 3), answer(2, Kind::kAccepted, taken, 2)},
          other, kThree),
      Choice(Value{false, 3}))
      << "committed";
  EXPECT_EQ(rules.ChooseAfterPrepare(
                1, {answer(1, Kind::kNone, 0, 0), answer(2, Kind::kFastAccepted, kPilotsBallot, 0)},
                other, kThree),
            Choice(Value{false, 0}))
      << "the silent pilot has one fast-accept, its own, and replica 2 gave the second";
  EXPECT_EQ(rules.ChooseAfterPrepare(
                1, {answer(1, Kind::kNone, 0, 0), answer(2, Kind::kNone, 0, 0)}, other, kThree),
            Choice(Value{true, 0}))
      << "nobody else has the entry";
}

}  // namespace
}  // namespace depfast::copilot
