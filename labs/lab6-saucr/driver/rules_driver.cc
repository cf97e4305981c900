#include "rules_driver.h"

#include <optional>

#include "rule_questions.h"
#include "saucr_rules.h"

namespace depfast::saucr {
namespace {

RuleAnswer NumberIs(std::int64_t number) { return {.number = number}; }
RuleAnswer MapIs(const LleMap& map) { return {.map = map}; }
RuleAnswer EntryIs(const std::optional<EntryId>& entry) {
  return {.has_entry = entry.has_value(), .entry = entry.value_or(EntryId())};
}

RuleAnswer Answered(const AskCommitted& question) {
  const Quorums quorums(static_cast<int>(question.acks.size()));
  return NumberIs(static_cast<std::int64_t>(
      CommittedUpTo(question.term_began_at, question.acks, question.lives, quorums)));
}

RuleAnswer Answered(const AskMode& question) {
  return {.mode = NextMode(question.now, question.functional, Quorums(question.replicas))};
}

RuleAnswer Answered(const AskIsOnDisk& question) { return NumberIs(IsOnDisk(question.markers)); }

RuleAnswer Answered(const AskFastSwitch& question) {
  return EntryIs(FastSwitch(question.markers, question.appended));
}

RuleAnswer Answered(const AskLatestOnDisk& question) {
  return EntryIs(LatestOnDisk(question.markers, question.last, question.recovered));
}

RuleAnswer Answered(const AskMapOfRound& question) {
  return MapIs(MapOfRound(question.known, question.last, question.named));
}

RuleAnswer Answered(const AskMerged& question) {
  return MapIs(Merged(question.ours, question.told));
}

RuleAnswer Answered(const AskRecoveredLle& question) {
  return EntryIs(
      RecoveredLle(question.self, question.on_disk, question.answers, Quorums(question.replicas)));
}

RuleAnswer Answered(const AskVote& question) {
  return NumberIs(GrantsVote(question.is_recovering, question.ours, question.candidates));
}

RuleAnswer Answered(const AskData& question) {
  return {.choice = ChooseData(question.own, question.recovered, question.answers,
                               Quorums(question.replicas))};
}

template <typename... Questions>
void AnswerQuestions(Rpc& rpc) {
  (rpc.HandleInline<Questions>(
       [](const Questions& question, const Responder<RuleAnswer>& responder) {
         responder.Send(Answered(question));
       }),
   ...);
}

}  // namespace

void AnswerRuleQuestions(Rpc& rpc) {
  AnswerQuestions<AskCommitted, AskMode, AskIsOnDisk, AskFastSwitch, AskLatestOnDisk, AskMapOfRound,
                  AskMerged, AskRecoveredLle, AskVote, AskData>(rpc);
}

}  // namespace depfast::saucr
