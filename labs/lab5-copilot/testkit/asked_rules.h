// AskedRules: the rules of the solution under test, asked of a replica.
//
//   AskedRules rules;
//   const Explored explored = Explore(scope, rules.All(), 50'000);
#pragma once

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "copilot_model.h"
#include "copilot_rules.h"
#include "rule_questions.h"
#include "testkit/client.h"
#include "testkit/cluster.h"

namespace depfast::copilot {

class AskedRules {
 public:
  // Starts a cluster.
  AskedRules();
  // Adds a death, or a question without an answer, to the report of a test.
  ~AskedRules();
  AskedRules(const AskedRules&) = delete;
  AskedRules& operator=(const AskedRules&) = delete;

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

  // Whether every question so far had an answer. Without one the rest get empty answers.
  bool has_answers() const { return has_answers_; }

 private:
  template <typename Question>
  RuleAnswer Ask(const Question& question);

  testkit::Cluster cluster_;
  testkit::Client client_;
  std::map<std::pair<MethodId, std::string>, RuleAnswer> answers_;  // by method and question
  bool has_answers_ = true;
};

// For failure messages of GoogleTest.
void PrintTo(const Value& value, std::ostream* out);
void PrintTo(const Undecided& undecided, std::ostream* out);
void PrintTo(const Rival& rival, std::ostream* out);
void PrintTo(Next next, std::ostream* out);
void PrintTo(Record::Kind kind, std::ostream* out);

}  // namespace depfast::copilot
