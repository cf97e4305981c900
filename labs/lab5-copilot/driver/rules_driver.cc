#include "rules_driver.h"

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "copilot_rules.h"
#include "rule_questions.h"

namespace depfast::copilot {
namespace {

RuleAnswer Answered(const AskSuggestion& question) {
  const auto suggested =
      copilot::Suggestion(question.entry, question.dependency, question.other.View());
  return {suggested ? 1 : 0, suggested.value_or(0)};
}

RuleAnswer Answered(const AskSlowDependency& question) {
  return {0, copilot::SlowDependency(question.suggested, Quorums(question.replicas))};
}

RuleAnswer Answered(const AskRivals& question) {
  return {0, 0, false, copilot::RivalsOf(question.entry, question.initial, question.other.View())};
}

RuleAnswer Answered(const AskChoice& question) {
  const Choice choice = copilot::ChooseAfterPrepare(
      question.entry, question.answers, question.other.View(), Quorums(question.replicas));
  if (const auto* const first = std::get_if<Undecided>(&choice)) return {1, first->entry};
  const Value value = std::get<Value>(choice);
  return {0, value.dependency, value.no_op};
}

std::optional<Value> Known(const KnownValue& value) {
  return value.known ? std::optional(Value{value.no_op, value.dependency}) : std::nullopt;
}

RuleAnswer Answered(const AskNext& question) {
  const Next next = copilot::NextToRun(Known(question.pilot), question.pilot_ran,
                                       Known(question.copilot), question.copilot_ran);
  return {static_cast<std::int32_t>(next)};
}

template <typename Question>
void AnswerQuestions(Rpc& rpc) {
  rpc.HandleInline<Question>([](const Question& question, const Responder<RuleAnswer>& responder) {
    responder.Send(Answered(question));
  });
}

}  // namespace

void AnswerRuleQuestions(Rpc& rpc) {
  AnswerQuestions<AskSuggestion>(rpc);
  AnswerQuestions<AskSlowDependency>(rpc);
  AnswerQuestions<AskRivals>(rpc);
  AnswerQuestions<AskChoice>(rpc);
  AnswerQuestions<AskNext>(rpc);
}

}  // namespace depfast::copilot
