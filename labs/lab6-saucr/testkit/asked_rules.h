// AskedRules: the rules of the solution under test, asked of a replica.
//
//   AskedRules rules;
//   EXPECT_TRUE(rules.is_on_disk({}));
//   const Explored explored = Explore(scope, rules, 50'000);
#pragma once

#include <functional>
#include <ostream>

#include "asked_replica.h"
#include "rule_questions.h"
#include "saucr_model.h"

namespace depfast::saucr {

class AskedRules : private AskedReplica, public Rules {
 public:
  AskedRules()
      : Rules{.committed = Asks<AskCommitted>(),
              .is_on_disk = Asks<AskIsOnDisk>(),
              .fast_switch = Asks<AskFastSwitch>(),
              .latest_on_disk = Asks<AskLatestOnDisk>(),
              .map_of_round = Asks<AskMapOfRound>(),
              .merged = Asks<AskMerged>(),
              .recovered_lle = Asks<AskRecoveredLle>(),
              .grants_vote = Asks<AskVote>(),
              .choose = Asks<AskData>(),
              .next_mode = Asks<AskMode>()} {}

 private:
  template <typename Question>
  std::function<typename Question::Rule> Asks() {
    return
        [this](const auto&... arguments) { return Ask(Question{{Carried(arguments)...}}).result; };
  }
};

// For failure messages of GoogleTest.
inline void PrintTo(const EntryId& id, std::ostream* out) {
  *out << "(" << id.term << "," << id.index << ")";
}

inline void PrintTo(const Quorums& quorums, std::ostream* out) {
  *out << quorums.replicas() << " replicas";
}

inline void PrintTo(Mode mode, std::ostream* out) {
  *out << (mode == Mode::kFast ? "fast" : mode == Mode::kSlow ? "slow" : "an unknown mode");
}

inline void PrintTo(const DataChoice& choice, std::ostream* out) {
  using Kind = DataChoice::Kind;
  if (choice.kind == Kind::kTake) {
    *out << "take the log of replica " << choice.from;
  } else {
    *out << (choice.kind == Kind::kAskMore ? "ask more"
             : choice.kind == Kind::kOwn   ? "keep the own log"
                                           : "an unknown choice");
  }
}

}  // namespace depfast::saucr
