#include "two_proposer_log.h"

#include <utility>

#include "tally.h"

namespace depfast {
namespace {

constexpr Duration kPatience = 2s;

}  // namespace

std::unique_ptr<ReplicatedLog> MakeReplicatedLog(Runtime& runtime, StateMachine& machine) {
  return std::make_unique<TwoProposerLog>(runtime, machine);
}

void TwoProposerLog::Start() {
  runtime_.rpc().HandleInline<Place>(
      [this](const Place& request, const Responder<PlaceReply>& responder) {
        responder.Send({OnPlace(request)});
      });
  runtime_.rpc().HandleInline<Learn>(
      [this](const Learn& request, const Responder<PlaceReply>& responder) {
        OnLearn(request.index, request.command);
        responder.Send({request.index});
      });
}

void TwoProposerLog::Submit(std::string command, const Dependency& client, SubmitDone done) {
  if (!Proposes() || command.empty()) {
    done({SubmitStatus::kNotProposer, kFirstProposer, 0, ""});
    return;
  }
  AskSequencer({std::move(command), client.id}, client,
               [this, done = std::move(done)](std::uint64_t index) {
                 if (index == 0) {
                   done({SubmitStatus::kUnknown, runtime_.self(), 0, ""});
                 } else {
                   done({SubmitStatus::kCommitted, runtime_.self(), index, results_[index - 1]});
                 }
               });
}

void TwoProposerLog::ReadIndex(const Dependency& client, ReadDone done) {
  if (!Proposes()) {
    done(false);
    return;
  }
  AskSequencer({}, client, [done = std::move(done)](std::uint64_t index) { done(index != 0); });
}

void TwoProposerLog::AskSequencer(Place request, const Dependency& client,
                                  std::function<void(std::uint64_t)> then) {
  runtime_.Spawn("place", [this, request = std::move(request), client, then = std::move(then)] {
    runtime_.set_dependency(client);
    const auto call = runtime_.rpc().Call(sequencer_, request, kPatience);
    const std::uint64_t index = call->Wait() == Outcome::kReady ? call->reply().index : 0;
    if (index <= results_.size()) {
      then(index);
    } else {
      when_applied_.emplace(index, [then, index] { then(index); });
    }
  });
}

std::uint64_t TwoProposerLog::OnPlace(const Place& request) {
  const std::uint64_t last = results_.size();
  if (request.command.empty()) return last;
  if (request.name != 0) {
    const auto [placed, is_new] = placed_.emplace(request.name, last + 1);
    if (!is_new) return placed->second;
  }
  for (const PeerId peer : runtime_.peers()) {
    runtime_.rpc().Call(peer, Learn{last + 1, request.command});
  }
  OnLearn(last + 1, request.command);
  return last + 1;
}

void TwoProposerLog::OnLearn(std::uint64_t index, const std::string& command) {
  early_.emplace(index, command);
  for (auto next = early_.find(results_.size() + 1); next != early_.end();
       next = early_.find(results_.size() + 1)) {
    const std::uint64_t at = next->first;
    runtime_.Observe({kTestApplyObservation, {at, CommandHash(next->second)}});
    results_.push_back(machine_.Apply(at, next->second));
    early_.erase(next);
    const auto [first, last] = when_applied_.equal_range(at);
    std::vector<std::function<void()>> due;
    for (auto each = first; each != last; ++each) due.push_back(each->second);
    when_applied_.erase(first, last);
    for (const auto& call : due) call();
  }
}

}  // namespace depfast
