// The checker against a judge that tries every order, on 200,000 small histories; and long ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "histories.h"
#include "linearizability/linearizability.h"
#include "linearizability/replies.h"
#include "linearizability/search.h"
#include "linearizability/zones.h"

namespace depfast::kv {
namespace {

constexpr std::uint64_t kPlenty = 1'000'000;

std::string Describe(const KvHistory& history) {
  std::string text;
  for (const KvOperation& operation : history) {
    text += std::to_string(operation.begin / 1us) + " to ";
    text += operation.answer ? std::to_string(operation.answer->at / 1us) : "never";
    text += " us: " + operation.command.Text();
    text += operation.answer ? " -> " + ToText(operation.answer->reply) + "\n" : "\n";
  }
  return text;
}

struct Tally {
  int linearizable = 0;
  int violations = 0;

  void Add(bool has_order) { ++(has_order ? linearizable : violations); }
  void ExpectBothFrequent() const {
    EXPECT_GE(5 * linearizable, linearizable + violations);
    EXPECT_GE(5 * violations, linearizable + violations);
  }
};

bool Contains(const std::vector<std::size_t>& indices, std::size_t i) {
  return std::find(indices.begin(), indices.end(), i) != indices.end();
}

KvHistory PartOf(const KvHistory& history, const std::vector<std::size_t>& indices) {
  KvHistory part;
  for (const std::size_t i : indices) part.push_back(history[i]);
  return part;
}

// ---- registers: zones, search and judge agree ----

std::vector<std::size_t> WithoutUnansweredReads(const KvHistory& history) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (history[i].answer || !history[i].command.IsRead()) indices.push_back(i);
  }
  return indices;
}

// A window of zones has no order even alone, and each read in it is needed.
void ExpectTightRegisterWindow(const KvHistory& history, const LinearizabilityResult& result) {
  ASSERT_TRUE(Contains(result.window, result.marked));
  ASSERT_FALSE(HasOrder(PartOf(history, result.window))) << result.explanation;
  if (result.window.size() == 1) return;
  for (const std::size_t i : result.window) {
    if (!history[i].command.IsRead()) continue;
    std::vector<std::size_t> fewer = result.window;
    fewer.erase(std::find(fewer.begin(), fewer.end(), i));
    ASSERT_TRUE(HasOrder(PartOf(history, fewer))) << result.explanation;
  }
}

TEST(Property, OfRegistersZonesAndSearchAndJudgeAgree) {
  constexpr int kHistories = 100'000;
  RandomStream random(1);
  Tally tally;
  for (int i = 0; i < kHistories; ++i) {
    const KvHistory history = RandomRegisterHistory(random);
    SCOPED_TRACE("history " + std::to_string(i) + "\n" + Describe(history));
    const bool has_order = HasOrder(history);
    tally.Add(has_order);
    const ZoneResult zones = CheckZones(history, WithoutUnansweredReads(history));
    ASSERT_TRUE(zones.applies);
    ASSERT_EQ(zones.linearizable, has_order);
    const Verdict expected = has_order ? Verdict::kLinearizable : Verdict::kViolation;
    ASSERT_EQ(Search(ProblemOf(history), kPlenty).verdict, expected);
    const LinearizabilityResult result = CheckLinearizability(history, kPlenty);
    ASSERT_EQ(result.verdict, expected);
    if (!has_order) {
      ASSERT_NO_FATAL_FAILURE(ExpectTightRegisterWindow(history, result));
    }
  }
  tally.ExpectBothFrequent();
}

// ---- all commands: search and judge agree ----

// Whether the operation's reply is known at the end of `marked`.
bool HasEndedBy(const KvHistory& history, std::size_t i, std::size_t marked) {
  const std::optional<KvAnswer>& answer = history[i].answer;
  return answer && std::pair(answer->at, i) <= std::pair(history[marked].answer->at, marked);
}

// The history up to the end of `marked`, with the other operations loose. Unlike in FindWindow, a
// loose operation may happen at most once.
std::vector<Judged> WithOthersLoose(const KvHistory& history, const std::vector<std::size_t>& kept,
                                    std::size_t marked) {
  std::vector<Judged> operations;
  for (std::size_t i = 0; i < history.size(); ++i) {
    const KvOperation& operation = history[i];
    if (operation.begin > history[marked].answer->at) continue;
    if (!HasEndedBy(history, i, marked)) {
      operations.push_back({&operation, Role::kMay, kNever});
    } else {
      const Role role = Contains(kept, i) ? Role::kMust : Role::kLoose;
      operations.push_back({&operation, role, operation.answer->at});
    }
  }
  return operations;
}

struct WindowTally {
  int windows = 0;
  int tight = 0;  // windows in which the judge needs every operation
};

void ExpectTrueWindow(const KvHistory& history, const LinearizabilityResult& result,
                      WindowTally& tally) {
  ASSERT_TRUE(Contains(result.window, result.marked));
  ASSERT_FALSE(HasOrder(WithOthersLoose(history, result.window, result.marked)))
      << result.explanation;
  bool is_tight = true;
  for (const std::size_t i : result.window) {
    std::vector<std::size_t> fewer = result.window;
    fewer.erase(std::find(fewer.begin(), fewer.end(), i));
    is_tight = is_tight && HasOrder(WithOthersLoose(history, fewer, result.marked));
  }
  ++tally.windows;
  tally.tight += is_tight ? 1 : 0;
}

TEST(Property, OfAllCommandsSearchAndJudgeAgree) {
  constexpr int kHistories = 100'000;
  RandomStream random(2);
  Tally tally;
  WindowTally windows;
  for (int i = 0; i < kHistories; ++i) {
    const KvHistory history = RandomHistory(random);
    SCOPED_TRACE("history " + std::to_string(i) + "\n" + Describe(history));
    const bool has_order = HasOrder(history);
    tally.Add(has_order);
    const LinearizabilityResult result = CheckLinearizability(history, kPlenty);
    ASSERT_EQ(result.verdict, has_order ? Verdict::kLinearizable : Verdict::kViolation);
    if (!has_order) {
      ASSERT_NO_FATAL_FAILURE(ExpectTrueWindow(history, result, windows));
    }
  }
  tally.ExpectBothFrequent();
  // A loose operation may happen more than once, the judge's only once: a few windows are larger.
  EXPECT_GE(10 * windows.tight, 9 * windows.windows) << windows.tight << " " << windows.windows;
}

// ---- long histories ----

TEST(Property, NoBoundMakesAViolationOfALongHistoryWithoutOne) {
  RandomStream random(4);
  int undecided = 0;
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE("history " + std::to_string(i));
    const KvHistory history = LongHistory(random, 6, 300);
    for (const std::uint64_t steps_max : {10U, 100U, 300U, 1'000U, 3'000U}) {
      const LinearizabilityResult result = CheckLinearizability(history, steps_max);
      ASSERT_NE(result.verdict, Verdict::kViolation) << result.explanation;
      undecided += result.verdict == Verdict::kUndecided ? 1 : 0;
    }
    ASSERT_EQ(CheckLinearizability(history, kPlenty).verdict, Verdict::kLinearizable);
  }
  EXPECT_GT(undecided, 100);
}

// A window alone has no order.
void ExpectWindowSpeaksForItself(const KvHistory& history, const LinearizabilityResult& result) {
  std::vector<Judged> operations;
  for (const std::size_t i : result.window) {
    if (HasEndedBy(history, i, result.marked)) {
      operations.push_back({&history[i], Role::kMust, history[i].answer->at});
    } else {
      operations.push_back({&history[i], Role::kMay, kNever});
    }
  }
  ASSERT_FALSE(HasOrder(operations)) << result.explanation;
}

// The history as it was known just before the end of `marked`.
KvHistory Before(const KvHistory& history, std::size_t marked) {
  KvHistory before;
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (history[i].begin > history[marked].answer->at) continue;
    before.push_back(history[i]);
    if (i == marked || !HasEndedBy(history, i, marked)) before.back().answer.reset();
  }
  return before;
}

TEST(Property, WrongRepliesInALongHistoryAreShownInAFewLines) {
  RandomStream random(5);
  int violations = 0;
  int short_ones = 0;
  int not_smallest = 0;
  int not_first = 0;
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE("history " + std::to_string(i));
    KvHistory history = LongHistory(random, 4, 300);
    for (int change = 0; change < 3; ++change) ChangeOneReply(random, history);
    const Verdict verdict = CheckLinearizability(history, kPlenty).verdict;
    ASSERT_NE(verdict, Verdict::kUndecided);
    for (const std::uint64_t steps_max : {300U, 1'000U, 3'000U, 1'000'000U}) {
      const LinearizabilityResult result = CheckLinearizability(history, steps_max);
      ASSERT_TRUE(result.verdict == verdict || result.verdict == Verdict::kUndecided);
      if (result.verdict != Verdict::kViolation) continue;
      const auto says = [&result](const char* words) {
        return result.explanation.find(words) != std::string::npos;
      };
      ++violations;
      not_smallest += says("fewer operations might show it") ? 1 : 0;
      const bool is_first = says("all replies before the marked one can be explained");
      not_first += is_first ? 0 : 1;
      if (is_first) {
        ASSERT_EQ(CheckLinearizability(Before(history, result.marked), kPlenty).verdict,
                  Verdict::kLinearizable);
      }
      if (result.window.size() > 8) continue;
      ++short_ones;
      ASSERT_NO_FATAL_FAILURE(ExpectWindowSpeaksForItself(history, result));
    }
  }
  EXPECT_GT(violations, 300);
  EXPECT_GE(10 * short_ones, 8 * violations);
  EXPECT_GT(not_smallest, 10);
  EXPECT_GT(not_first, 10);
}

// ---- determinism ----

// Equal under every compiler and on every platform. It changes only with the words of an
// explanation, with the order of the search and with the histories above.
TEST(Property, ResultsDoNotDependOnTheCompiler) {
  RandomStream random(3);
  std::uint64_t digest = 0;
  const auto add = [&digest](std::uint64_t number) { digest = RandomStream::Mix(digest + number); };
  for (int i = 0; i < 2'000; ++i) {
    const KvHistory history = i % 2 == 0 ? RandomRegisterHistory(random) : RandomHistory(random);
    const LinearizabilityResult result = CheckLinearizability(history, kPlenty);
    add(static_cast<std::uint64_t>(result.verdict));
    for (const char c : result.explanation) add(static_cast<unsigned char>(c));
  }
  EXPECT_EQ(digest, 7398297580253129219U);
}

}  // namespace
}  // namespace depfast::kv
