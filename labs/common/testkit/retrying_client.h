// RetryingClient: sends a command to the replicas that propose, until its outcome is known.
//
// It finds the proposers by trying. A target that refuses or is down is replaced by the replica
// that it names, or by the next one. With several targets each attempt goes to all of them, and the
// first known answer counts (FirstAnswer): a slow target costs nothing. A single target is also
// replaced when it does not answer.
#pragma once

#include <algorithm>
#include <cassert>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "first_answer.h"
#include "sim/group_view.h"
#include "submit.h"
#include "testkit/client.h"

namespace depfast {

struct ClientOptions {
  Duration answer_timeout = 1s;  // of one attempt
  Duration give_up = 5s;         // of a command
  Duration pause = 20ms;         // before the next attempt
  int targets = 1;               // replicas that each attempt goes to
};

// Judges one answer, which is nothing if there was none in time.
struct Judgement {
  CommandOutcome outcome = CommandOutcome::kUnknown;
  PeerId try_instead = kNobody;  // a replica that the answer names, if it names any
};

// Request: an RPC message type. Judge: a function object, Judgement(const std::optional<Reply>&).
template <typename Request, typename Judge>
class RetryingClient {
 public:
  using Answer = std::optional<typename Request::Reply>;
  // `answer`: the answer that decided the outcome. Nothing if a missing answer decided it.
  using Done = std::function<void(CommandOutcome outcome, const Answer& answer)>;

  // Asks the replicas of `group`, which are named by their ids. The simulator must outlive the
  // client, and not run without it. Requires: options.targets is from 1 to the number of replicas.
  RetryingClient(const sim::GroupView& group, const ClientOptions& options)
      : group_(group),
        options_(options),
        client_(group.simulator()),
        targets_(static_cast<std::size_t>(options.targets)) {
    assert(options.targets >= 1 && options.targets <= group.replicas());
    std::iota(targets_.begin(), targets_.end(), 0);
  }

  // Sends `request` until its outcome is known, and calls `done` once. Tries again after a refusal,
  // and also without an answer if `repeatable`; gives up after options.give_up.
  void Execute(Request request, bool repeatable, Done done) {
    Try(std::make_shared<const Command>(
        Command{std::move(request), repeatable, group_.now() + options_.give_up, std::move(done)}));
  }

  // Sends `request` once, to one replica.
  void Ask(PeerId replica, const Request& request, std::function<void(const Answer&)> done) {
    client_.Call(group_.AddressOf(replica), request, options_.answer_timeout, std::move(done));
  }

  // The first replica to be asked. Requires: options.targets is 1.
  void set_target(PeerId replica) {
    assert(targets_.size() == 1);
    targets_.front() = replica;
  }

 private:
  struct Command {
    Request request;
    bool repeatable;
    Time give_up;
    Done done;
  };
  using CommandPtr = std::shared_ptr<const Command>;

  void Try(const CommandPtr& command) {
    SkipDeadTargets();
    if (targets_.size() == 1) {
      const PeerId asked = targets_.front();
      Ask(asked, command->request, [this, command, asked](const Answer& answer) {
        const Judgement judged = Judge()(answer);
        if (judged.outcome != CommandOutcome::kKnown) Replace(asked, judged.try_instead);
        End(command, judged.outcome, answer);
      });
    } else {
      TryAll(command);
    }
  }

  // All copies have one dependency, which no other command of any client has. So proposers know
  // that the copies are one command (ReplicatedLog::Submit).
  void TryAll(const CommandPtr& command) {
    const auto answers = std::make_shared<FirstAnswer>(options_.targets);
    const std::uint64_t name =
        (static_cast<std::uint64_t>(client_.id()) << kNumberBits) + ++attempts_;
    for (const PeerId asked : std::vector<PeerId>(targets_)) {
      client_.Call(
          group_.AddressOf(asked), Judge::Addressed(command->request, name),
          options_.answer_timeout,
          [this, command, asked, answers](const Answer& answer) {
            const Judgement judged = Judge()(answer);
            if (judged.outcome == CommandOutcome::kRefused) Replace(asked, judged.try_instead);
            if (const auto outcome = answers->Add(judged.outcome)) End(command, *outcome, answer);
          },
          Dependency::Client(name));
    }
  }

  void End(const CommandPtr& command, CommandOutcome outcome, const Answer& answer) {
    const bool again = outcome == CommandOutcome::kRefused ||
                       (outcome == CommandOutcome::kUnknown && command->repeatable);
    if (!again || group_.now() + options_.pause >= command->give_up) {
      command->done(outcome, answer);
      return;
    }
    group_.At(group_.now() + options_.pause, [this, command] { Try(command); });
  }

  // The connection to a replica that is down is refused at once.
  void SkipDeadTargets() {
    for (int i = 0; i < group_.replicas(); ++i) {
      const auto dead = std::find_if(targets_.begin(), targets_.end(),
                                     [&](PeerId id) { return !group_.IsUp(id); });
      if (dead == targets_.end()) return;
      *dead = NextAfter(*dead);
    }
  }

  // Does nothing if `asked` is no longer a target: another command has replaced it already.
  void Replace(PeerId asked, PeerId by) {
    const auto target = std::find(targets_.begin(), targets_.end(), asked);
    if (target == targets_.end()) return;
    const bool is_of_use = by >= 0 && by < group_.replicas() && !IsTarget(by);
    *target = is_of_use ? by : NextAfter(asked);
  }

  // The next replica that is no target; `replica` itself if all are.
  PeerId NextAfter(PeerId replica) const {
    PeerId next = replica;
    do {
      next = (next + 1) % group_.replicas();
    } while (next != replica && IsTarget(next));
    return next;
  }

  bool IsTarget(PeerId replica) const {
    return std::find(targets_.begin(), targets_.end(), replica) != targets_.end();
  }

  static constexpr int kNumberBits = 40;

  const sim::GroupView group_;
  const ClientOptions options_;
  testkit::Client client_;
  std::vector<PeerId> targets_;  // of the next attempt; distinct
  std::uint64_t attempts_ = 0;   // that went to several targets
};

}  // namespace depfast
