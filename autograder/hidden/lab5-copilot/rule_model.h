// The rules of lab 5's handout, word for word and one by one: what random questions are compared
// with.
#pragma once

#include <optional>
#include <vector>

#include "copilot_rules.h"

namespace depfast::copilot::model {

// See copilot_rules.h.
std::optional<EntryIndex> Suggestion(EntryIndex entry, EntryIndex dependency, const Records& other);
EntryIndex SlowDependency(std::vector<EntryIndex> suggested, const Quorums& quorums);
std::vector<Rival> RivalsOf(EntryIndex entry, EntryIndex initial, const Records& other);
Choice ChooseAfterPrepare(EntryIndex entry, const std::vector<Prepared>& answers,
                          const Records& other, const Quorums& quorums);
Next NextToRun(const std::optional<Value>& pilot, EntryIndex pilot_ran,
               const std::optional<Value>& copilot, EntryIndex copilot_ran);

// Whether commands, initial dependency and origin come from the first of two records.
bool Latest(const Record& one, const Record& two);

}  // namespace depfast::copilot::model
