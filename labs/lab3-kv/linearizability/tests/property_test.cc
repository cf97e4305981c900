// The checker against a judge that tries every order, on 60,000 small histories; and long ones.
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

namespace depfast::kv {
namespace {

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

void ExpectAgreement(std::uint64_t seed, KvHistory (*draw)(RandomStream&)) {
  constexpr int kHistories = 30'000;
  RandomStream random(seed);
  int linearizable = 0;
  for (int i = 0; i < kHistories; ++i) {
    const KvHistory history = draw(random);
    SCOPED_TRACE("history " + std::to_string(i) + "\n" + Describe(history));
    const bool has_order = HasOrder(history);
    linearizable += has_order ? 1 : 0;
    const LinearizabilityResult result = CheckLinearizability(history, kPlenty);
    ASSERT_EQ(result.verdict, has_order ? Verdict::kLinearizable : Verdict::kViolation);
  }
  EXPECT_GE(5 * linearizable, kHistories);
  EXPECT_LE(5 * linearizable, 4 * kHistories);
}

TEST(Property, OfRegistersCheckerAndJudgeAgree) { ExpectAgreement(1, RandomRegisterHistory); }

TEST(Property, OfAllCommandsCheckerAndJudgeAgree) { ExpectAgreement(2, RandomHistory); }

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

// Whether the operation's reply is known at the end of `marked`.
bool HasEndedBy(const KvHistory& history, std::size_t i, std::size_t marked) {
  const std::optional<KvAnswer>& answer = history[i].answer;
  return answer && std::pair(answer->at, i) <= std::pair(history[marked].answer->at, marked);
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

TEST(Property, TheMarkedReplyIsTheFirstThatNothingExplains) {
  RandomStream random(5);
  int violations = 0;
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE("history " + std::to_string(i));
    KvHistory history = LongHistory(random, 4, 300);
    for (int change = 0; change < 3; ++change) ChangeOneReply(random, history);
    const LinearizabilityResult result = CheckLinearizability(history, kPlenty);
    ASSERT_NE(result.verdict, Verdict::kUndecided);
    if (result.verdict != Verdict::kViolation) continue;
    ++violations;
    ASSERT_EQ(std::ranges::count(result.window, result.marked), 1);
    const bool is_first = result.explanation.find("the replies before") != std::string::npos;
    if (!is_first) continue;
    ASSERT_EQ(CheckLinearizability(Before(history, result.marked), kPlenty).verdict,
              Verdict::kLinearizable);
  }
  EXPECT_GT(violations, 100);
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
  EXPECT_EQ(digest, 2046701153342180575U);
}

}  // namespace
}  // namespace depfast::kv
