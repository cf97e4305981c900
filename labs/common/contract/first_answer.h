// FirstAnswer: the fate of a command that was sent to several replicas, from their answers. Given,
// not submitted.
#pragma once

#include <cassert>
#include <optional>

namespace depfast {

enum class Fate {
  kKnown,    // executed, or refused for an error in the command: the answer says which
  kRefused,  // not executed, and never will be by the replica that answered
  kUnknown,  // it may have been executed, or may be yet
};

class FirstAnswer {
 public:
  // `asked`: the number of replicas, at least 1. Each answers once, a lost answer counts as
  // kUnknown.
  explicit FirstAnswer(int asked) : missing_(asked) { assert(asked > 0); }

  // Takes the next answer. Returns the command's fate if this answer decides it: kKnown with the
  // first that is known; else, with the last answer, kUnknown if any replica may have accepted the
  // command, and kRefused if none has.
  std::optional<Fate> Add(Fate fate) {
    assert(missing_ > 0);
    --missing_;
    any_unknown_ = any_unknown_ || fate == Fate::kUnknown;
    if (is_decided_ || (fate != Fate::kKnown && missing_ > 0)) return std::nullopt;
    is_decided_ = true;
    if (fate == Fate::kKnown) return fate;
    return any_unknown_ ? Fate::kUnknown : Fate::kRefused;
  }

 private:
  int missing_;
  bool any_unknown_ = false;
  bool is_decided_ = false;
};

}  // namespace depfast
