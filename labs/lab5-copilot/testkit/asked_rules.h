// AskedRules: the rules of the solution under test, asked of a replica.
//
//   AskedRules rules;
//   const Explored explored = Explore(scope, rules.All(), 50'000);
#pragma once

#include <optional>
#include <ostream>
#include <vector>

#include "asked_replica.h"
#include "copilot_model.h"
#include "copilot_rules.h"
#include "rule_questions.h"

namespace depfast::copilot {

class AskedRules : public AskedReplica {
 public:
  // See copilot_rules.h. The answer to a question that was asked before is remembered.
  std::optional<EntryIndex> Suggestion(EntryIndex entry, EntryIndex dependency,
                                       const Records& other);
  EntryIndex SlowDependency(const std::vector<EntryIndex>& suggested, const Quorums& quorums);
  std::vector<Rival> RivalsOf(EntryIndex entry, EntryIndex initial, const Records& other);
  Choice ChooseAfterPrepare(EntryIndex entry, const std::vector<Prepared>& answers,
                            const Records& other, const Quorums& quorums);
  Next NextToRun(const std::optional<Value>& pilot, EntryIndex pilot_ran,
                 const std::optional<Value>& copilot, EntryIndex copilot_ran);

  // All of them, for an exploration. The AskedRules must outlive it.
  Rules All();
};

// For failure messages of GoogleTest.
void PrintTo(const Value& value, std::ostream* out);
void PrintTo(const Undecided& undecided, std::ostream* out);
void PrintTo(const Rival& rival, std::ostream* out);
void PrintTo(Next next, std::ostream* out);
void PrintTo(Record::Kind kind, std::ostream* out);

}  // namespace depfast::copilot
