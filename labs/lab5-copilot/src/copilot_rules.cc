#include "copilot_rules.h"

#include "prepared_answers.h"

namespace depfast::copilot {

// Every function below is a stub. copilot_rules.h is the contract. Our lines: 130.

// ---- ordering ----

// TODO 5A
std::optional<EntryIndex> Suggestion(EntryIndex entry, EntryIndex dependency,
                                     const Records& other) {
  (void)entry, (void)dependency, (void)other;
  return std::nullopt;
}

// TODO 5B
EntryIndex SlowDependency(std::vector<EntryIndex> suggested, const Quorums& quorums) {
  (void)suggested, (void)quorums;
  return 0;
}

// ---- execution ----

// TODO 5C
Next NextToRun(const std::optional<Value>& pilot, EntryIndex pilot_ran,
               const std::optional<Value>& copilot, EntryIndex copilot_ran) {
  (void)pilot, (void)pilot_ran, (void)copilot, (void)copilot_ran;
  return Next::kNothing;
}

// ---- takeover ----

// TODO 5D
std::vector<Rival> RivalsOf(EntryIndex entry, EntryIndex initial, const Records& other) {
  (void)entry, (void)initial, (void)other;
  return {};
}

// TODO 5D
Choice ChooseAfterPrepare(EntryIndex entry, const std::vector<Prepared>& answers,
                          const Records& other, const Quorums& quorums) {
  (void)entry, (void)answers, (void)other, (void)quorums;
  return Value{.no_op = true};
}

}  // namespace depfast::copilot
