// FirstAnswer: the outcome of a command that was sent to several replicas, from their answers.
// Given, not submitted.
#pragma once

#include <cassert>
#include <optional>

namespace depfast {

enum class CommandOutcome {
  kKnown,    // executed, or refused for an error in the command: the answer says which
  kRefused,  // not executed, and never will be by the replica that answered
  kUnknown,  // it may have been executed, or may be yet
};

class FirstAnswer {
 public:
  // `asked`: the number of replicas, at least 1. Each answers once, a lost answer counts as
  // kUnknown.
  explicit FirstAnswer(int asked) : missing_(asked) { assert(asked > 0); }

  // Takes the next answer. Returns the command's outcome if this answer decides it. The first known
  // answer decides kKnown. Without one the last answer decides: kUnknown if any replica may have
  // accepted the command, and kRefused if none has.
  std::optional<CommandOutcome> Add(CommandOutcome outcome) {
    assert(missing_ > 0);
    --missing_;
    any_unknown_ = any_unknown_ || outcome == CommandOutcome::kUnknown;
    if (is_decided_ || (outcome != CommandOutcome::kKnown && missing_ > 0)) return std::nullopt;
    is_decided_ = true;
    if (outcome == CommandOutcome::kKnown) return outcome;
    return any_unknown_ ? CommandOutcome::kUnknown : CommandOutcome::kRefused;
  }

 private:
  int missing_;
  bool any_unknown_ = false;
  bool is_decided_ = false;
};

}  // namespace depfast
