// Questions to your rules (copilot_rules.h). Given, not submitted.
//
// A test cannot call your functions: it runs in another process. It asks a replica, whose driver
// calls them.
#pragma once

#include <cstdint>
#include <vector>

#include "copilot_rules.h"
#include "copilot_types.h"
#include "depfast/host/codec.h"

namespace depfast::copilot {

// Records, as a message.
struct KeptRecords {
  EntryIndex base = 0;
  std::vector<Record> entries;
  EntryIndex latest_gone = 0;

  Records View() const { return {base, entries, latest_gone}; }
  static KeptRecords Of(const Records& records) {
    return {records.base, {records.entries.begin(), records.entries.end()}, records.latest_gone};
  }
  DEPFAST_FIELDS(base, entries, latest_gone)
};

// A std::optional, or a std::variant, as a message: which one, and its numbers.
struct RuleAnswer {
  std::int32_t which = 0;
  EntryIndex entry = 0;
  bool no_op = false;
  std::vector<Rival> rivals = {};
  DEPFAST_FIELDS(which, entry, no_op, rivals)
};

// Answer: which 1 and the suggested entry, or which 0.
struct AskSuggestion {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 111;
  static constexpr const char* kName = "AskSuggestion";
  EntryIndex entry = 0;
  EntryIndex dependency = 0;
  KeptRecords other;
  DEPFAST_FIELDS(entry, dependency, other)
};

struct AskSlowDependency {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 112;
  static constexpr const char* kName = "AskSlowDependency";
  std::vector<EntryIndex> suggested;
  std::int32_t replicas = 3;
  DEPFAST_FIELDS(suggested, replicas)
};

struct AskRivals {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 113;
  static constexpr const char* kName = "AskRivals";
  EntryIndex entry = 0;
  EntryIndex initial = 0;
  KeptRecords other;
  DEPFAST_FIELDS(entry, initial, other)
};

// Answer: which 0 and a value, or which 1 and the entry that is undecided.
struct AskChoice {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 114;
  static constexpr const char* kName = "AskChoice";
  EntryIndex entry = 0;
  std::vector<Prepared> answers;
  KeptRecords other;
  std::int32_t replicas = 3;
  DEPFAST_FIELDS(entry, answers, other, replicas)
};

// A value that may be unknown.
struct KnownValue {
  bool known = false;
  bool no_op = false;
  EntryIndex dependency = 0;
  DEPFAST_FIELDS(known, no_op, dependency)
};

// Answer: which is a Next.
struct AskNext {
  using Reply = RuleAnswer;
  static constexpr MethodId kMethod = 115;
  static constexpr const char* kName = "AskNext";
  KnownValue pilot;
  EntryIndex pilot_ran = 0;
  KnownValue copilot;
  EntryIndex copilot_ran = 0;
  DEPFAST_FIELDS(pilot, pilot_ran, copilot, copilot_ran)
};

}  // namespace depfast::copilot
