// Hidden tests: random questions to a replica's rules. A model knows the one right answer to each.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "any_messages.h"
#include "asked_rules.h"
#include "rule_model.h"
#include "safety.h"
#include "testkit/environment.h"

namespace depfast::copilot {
namespace {

using Kind = Record::Kind;

constexpr int kQuestions = 6000;  // of each test

// A record of an entry of the copilot's lane.
Record AnyRecord(RandomStream& random) {
  Record record;
  record.promised = FirstBallot(AnyView(random, kCopilots, 2));
  record.promised += random.Below(2);
  record.kind = static_cast<Kind>(random.Below(5));
  if (record.kind == Kind::kNone) return record;
  record.ballot = record.promised;
  if (record.kind <= Kind::kSuggested) record.ballot = FirstBallot(ViewOf(record.promised));
  record.initial = random.Below(5);
  record.least = random.Below(2) == 0 ? record.initial : random.Below(record.initial + 1);
  record.dependency = record.initial;
  if (record.kind >= Kind::kAccepted && random.Below(3) == 0) {
    record.no_op = true;
    record.dependency = 0;
  } else if (record.kind != Kind::kFastAccepted) {
    record.dependency += 1 + random.Below(3);
  }
  return record;
}

KeptRecords AnyRecords(RandomStream& random) {
  KeptRecords kept;
  kept.base = random.Below(2) == 0 ? 0 : random.Below(4);
  kept.latest_gone = random.Below(kept.base + 1);
  const std::uint64_t count = random.Below(4);
  for (std::uint64_t i = 0; i < count; ++i) kept.entries.push_back(AnyRecord(random));
  return kept;
}

std::string Kept(const KeptRecords& kept) {
  std::string words = "; other: base " + std::to_string(kept.base) + ", latest gone " +
                      std::to_string(kept.latest_gone);
  for (const Record& record : kept.entries) {
    words += ", " + testing::PrintToString(record.kind) + " (" + Words(record.promised) + ", " +
             Words(record.no_op, record.dependency) + ", least " + std::to_string(record.least) +
             ")";
  }
  return words;
}

// A value that is decided, if it is known.
std::optional<Value> AnyValue(RandomStream& random) {
  const std::uint64_t which = random.Below(4);
  if (which == 0) return std::nullopt;
  return which == 1 ? Value{.no_op = true} : Value{.dependency = random.Below(5)};
}

GRADED_TEST(CopilotQuestions, Suggestions, "5a", 1,
            "Random proposals get the suggestions that the rules say, whatever is recorded.") {
  AskedRules rules;
  RandomStream random(testkit::TheEnvironment().seed, 1);
  for (int i = 0; i < kQuestions && !HasFailure(); ++i) {
    const EntryIndex entry = 1 + random.Below(5), dependency = random.Below(7);
    const KeptRecords other = AnyRecords(random);
    const auto told = rules.Suggestion(entry, dependency, other.View());
    const auto right = model::Suggestion(entry, dependency, other.View());
    EXPECT_EQ(told, right) << (told < right ? Unsafe(Safety::kEqualStates) : "")  // not ordered
                           << "entry " << entry << ", dependency " << dependency << Kept(other);
  }
}

GRADED_TEST(CopilotQuestions, SlowDependencies, "5b", 1,
            "Random suggestions make the final dependency that the rules say.") {
  AskedRules rules;
  RandomStream random(testkit::TheEnvironment().seed, 2);
  for (int i = 0; i < kQuestions / 10 && !HasFailure(); ++i) {
    const Quorums quorums(3 + 2 * static_cast<int>(random.Below(3)));
    const auto least = static_cast<std::uint64_t>(quorums.majority());
    std::vector<EntryIndex> suggested(least + random.Below(least));
    std::ranges::generate(suggested, [&] { return random.Below(10); });
    const EntryIndex told = rules.SlowDependency(suggested, quorums);
    const EntryIndex right = model::SlowDependency(suggested, quorums);
    EXPECT_EQ(told, right) << (told < right ? Unsafe(Safety::kEqualStates) : "")  // not ordered
                           << quorums.replicas() << " replicas suggest "
                           << testing::PrintToString(suggested);
  }
}

GRADED_TEST(CopilotQuestions, NextEntries, "5c", 1,
            "Of two next entries, decided or not, that runs which the rules say.") {
  AskedRules rules;
  RandomStream random(testkit::TheEnvironment().seed, 3);
  for (int i = 0; i < kQuestions && !HasFailure(); ++i) {
    const auto pilot = AnyValue(random), copilot = AnyValue(random);
    const EntryIndex pilot_ran = random.Below(5), copilot_ran = random.Below(5);
    const Next told = rules.NextToRun(pilot, pilot_ran, copilot, copilot_ran);
    EXPECT_EQ(told, model::NextToRun(pilot, pilot_ran, copilot, copilot_ran))
        << (told == Next::kNothing ? "" : Unsafe(Safety::kEqualStates)) << "pilot "
        << testing::PrintToString(pilot) << " ran " << pilot_ran << ", copilot "
        << testing::PrintToString(copilot) << " ran " << copilot_ran;
  }
}

// The answers of a majority or more to a Prepare, as they may be: one value was proposed in each
// view, accepted at each ballot, and decided. An answer knows a rival, its promise alone, or
// nothing.
std::vector<Prepared> AnyAnswers(RandomStream& random, EntryIndex entry, const Quorums& quorums) {
  const int replicas = quorums.replicas();
  std::vector<int> silent;
  for (int i = 0; i < quorums.f(); ++i) {
    silent.push_back(static_cast<int>(random.Below(static_cast<std::uint64_t>(replicas))));
  }
  const std::uint64_t views = 1 + random.Below(2);
  // Mostly of none, sometimes of some or more answers.
  const std::uint64_t settled = random.Below(2) == 0 ? 0 : random.Below(3);
  const EntryIndex initial = random.Below(4);
  const auto witness = static_cast<std::int32_t>(1 + random.Below(2));
  std::vector<Rival> rivals;
  for (EntryIndex k = initial + 1; k <= initial + 3; ++k) {
    const auto stage =
        random.Below(2) == 0 ? Rival::Stage::kProposed : static_cast<Rival::Stage>(random.Below(4));
    rivals.push_back({k, static_cast<View>(replicas) * random.Below(2) + 1, stage});
  }
  std::vector<Prepared> answers;
  for (int replica = 0; replica < replicas; ++replica) {
    if (std::ranges::count(silent, replica) > 0) continue;
    Prepared answer{.replica = replica, .record = {}, .rivals = {}};
    Record& record = answer.record;
    record.kind = static_cast<Kind>(random.Below(3 + settled));
    const View view = static_cast<View>(replicas) * random.Below(views);
    if (record.kind != Kind::kNone) {
      record.promised = record.ballot = FirstBallot(view);
      record.initial = record.dependency = view == 0 ? initial : initial + 1;
      record.witness = witness;
      answer.decides = OwnerOf(view, replicas) == replica && random.Below(4) != 0;
    }
    if (record.kind == Kind::kSuggested) record.dependency += 1 + random.Below(2);
    if (record.kind == Kind::kAccepted) {
      record.ballot = FirstBallot(view) + random.Below(3);
      record.promised = record.ballot + random.Below(3);
      record.no_op = record.ballot % 3 == 1;
      record.dependency = record.no_op ? 0 : record.ballot % 5;
    }
    if (record.kind == Kind::kCommitted) {
      record.no_op = entry % 2 == 0;
      record.dependency = record.no_op ? 0 : entry;
    }
    for (const Rival& rival : rivals) {
      const std::uint64_t known = random.Below(4);
      if (known == 0) continue;
      answer.rivals.push_back(known == 1 ? Rival{.entry = rival.entry} : rival);
    }
    answers.push_back(answer);
  }
  return answers;
}

std::string Answered(const std::vector<Prepared>& answers) {
  std::string words;
  for (const auto& [replica, record, rivals, decides] : answers) {
    words += "\n  replica " + std::to_string(replica) + ": " + testing::PrintToString(record.kind) +
             ", " + Words(record.ballot) + ", " + Words(record.no_op, record.dependency) +
             ", witness " + std::to_string(record.witness) + (decides ? ", decides" : "") +
             ", rivals " + testing::PrintToString(rivals);
  }
  return words;
}

GRADED_TEST(CopilotQuestions, Takeovers, "5d", 1,
            "Random answers to a Prepare make the choice that the rules say, and random records "
            "have the rivals that they say.") {
  AskedRules rules;
  RandomStream random(testkit::TheEnvironment().seed, 4);
  for (int i = 0; i < kQuestions && !HasFailure(); ++i) {
    const EntryIndex entry = 1 + random.Below(5);
    const KeptRecords other = AnyRecords(random);
    const EntryIndex initial = random.Below(5);
    EXPECT_EQ(rules.RivalsOf(entry, initial, other.View()),
              model::RivalsOf(entry, initial, other.View()))
        << Unsafe(Safety::kOneValue) << "entry " << entry << ", initial " << initial << Kept(other);
    const Quorums quorums(3 + 2 * static_cast<int>(random.Below(3)));
    const auto answers = AnyAnswers(random, entry, quorums);
    const Choice told = rules.ChooseAfterPrepare(entry, answers, other.View(), quorums);
    EXPECT_EQ(told, model::ChooseAfterPrepare(entry, answers, other.View(), quorums))
        << (std::holds_alternative<Value>(told) ? Unsafe(Safety::kOneValue) : "") << "entry "
        << entry << ", " << quorums.replicas() << " replicas" << Kept(other) << Answered(answers);
  }
}

}  // namespace
}  // namespace depfast::copilot
