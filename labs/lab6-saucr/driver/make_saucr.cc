// The replicated log of lab 6 is the student's Saucr. Answers the questions to its rules, too.
#include <memory>
#include <tuple>
#include <utility>

#include "replicated_log.h"
#include "rule_questions.h"
#include "saucr.h"

namespace depfast {
namespace {

template <typename Question, typename Rule>
void Answer(Rpc& rpc, Rule* rule) {
  rpc.HandleInline<Question>(
      [rule](Question&& question, const Responder<typename Question::Reply>& responder) {
        responder.Send({std::apply(rule, std::move(question.arguments))});
      });
}

void AnswerRuleQuestions(Rpc& rpc) {
  using namespace saucr;
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

}  // namespace

std::unique_ptr<ReplicatedLog> MakeReplicatedLog(Runtime& runtime, StateMachine& machine) {
  AnswerRuleQuestions(runtime.rpc());
  return std::make_unique<saucr::Saucr>(runtime, machine);
}

}  // namespace depfast
