// Records and answers that tests of the rules begin with.
#pragma once

#include <optional>
#include <vector>

#include "asked_rules.h"

namespace depfast::copilot {

inline const Quorums kThree(3);
inline const Quorums kFive(5);
inline const Quorums kSeven(7);
// The copilot begins its lane with this ballot.
inline constexpr Ballot kCopilotBallot = FirstBallot(1);

inline Record Of(Record::Kind kind, EntryIndex initial, EntryIndex dependency) {
  return {kind, false, kCopilotBallot, kCopilotBallot, initial, dependency, 0, initial};
}

// The answers to a taker of entry P.1. The pilot is replica 0, the witness replica 1.

inline Prepared Fast(int replica, EntryIndex dependency = 0) {
  return {replica,
          {Record::Kind::kFastAccepted, false, 0, 0, dependency, dependency, 1, dependency},
          {},
          false};
}

inline Prepared Suggests(int replica, EntryIndex dependency) {
  return {replica, {Record::Kind::kSuggested, false, 0, 0, 0, dependency, 1, 0}, {}, false};
}

inline Prepared Knows(int replica) { return {replica, Record(), {}, false}; }

inline const Choice kNoOp = Value{.no_op = true};
inline const Choice kKept = Value{.dependency = 0};

inline Choice Choose(AskedRules& rules, const std::vector<Prepared>& answers,
                     const Quorums& quorums, const std::vector<Record>& other = {}) {
  return rules.ChooseAfterPrepare(1, answers, {0, other, 0}, quorums);
}

}  // namespace depfast::copilot
