#include "rules_driver.h"

#include <tuple>
#include <utility>

#include "rule_questions.h"

namespace depfast::saucr {
namespace {

template <typename Question, typename Rule>
void Answer(Rpc& rpc, Rule* rule) {
  rpc.HandleInline<Question>(
      [rule](Question&& question, const Responder<typename Question::Reply>& responder) {
        responder.Send({std::apply(rule, std::move(question.arguments))});
      });
}

}  // namespace

void AnswerRuleQuestions(Rpc& rpc) {
  Answer<AskCommitted>(rpc, CommittedUpTo);
  Answer<AskMode>(rpc, NextMode);
  Answer<AskIsOnDisk>(rpc, IsOnDisk);
  Answer<AskFastSwitch>(rpc, FastSwitch);
  Answer<AskLatestOnDisk>(rpc, LatestOnDisk);
  Answer<AskMapOfRound>(rpc, MapOfRound);
  Answer<AskMerged>(rpc, Merged);
  Answer<AskRecoveredLle>(rpc, RecoveredLle);
  Answer<AskVote>(rpc, GrantsVote);
  Answer<AskData>(rpc, ChooseData);
}

}  // namespace depfast::saucr
