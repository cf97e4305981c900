#include "asked_rules.h"

#include <initializer_list>

namespace depfast::copilot {
namespace {

KnownValue Known(const std::optional<Value>& value) {
  return value ? KnownValue{true, value->no_op, value->dependency} : KnownValue{};
}

// A replica may send any number.
template <typename Enum>
std::string NameOf(Enum value, std::initializer_list<const char*> names) {
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names.begin()[index] : "unknown (" + std::to_string(index) + ")";
}

}  // namespace

std::optional<EntryIndex> AskedRules::Suggestion(EntryIndex entry, EntryIndex dependency,
                                                 const Records& other) {
  const RuleAnswer answer = Ask(AskSuggestion{entry, dependency, KeptRecords::Of(other)});
  return answer.which != 0 ? std::optional(answer.entry) : std::nullopt;
}

EntryIndex AskedRules::SlowDependency(const std::vector<EntryIndex>& suggested,
                                      const Quorums& quorums) {
  return Ask(AskSlowDependency{suggested, quorums.replicas()}).entry;
}

std::vector<Rival> AskedRules::RivalsOf(EntryIndex entry, EntryIndex initial,
                                        const Records& other) {
  return Ask(AskRivals{entry, initial, KeptRecords::Of(other)}).rivals;
}

Choice AskedRules::ChooseAfterPrepare(EntryIndex entry, const std::vector<Prepared>& answers,
                                      const Records& other, const Quorums& quorums) {
  const RuleAnswer answer =
      Ask(AskChoice{entry, answers, KeptRecords::Of(other), quorums.replicas()});
  if (answer.which != 0) return Undecided{answer.entry};
  return Value{answer.no_op, answer.no_op ? 0 : answer.entry};
}

Next AskedRules::NextToRun(const std::optional<Value>& pilot, EntryIndex pilot_ran,
                           const std::optional<Value>& copilot, EntryIndex copilot_ran) {
  const RuleAnswer answer = Ask(AskNext{Known(pilot), pilot_ran, Known(copilot), copilot_ran});
  return answer.which == 1 ? Next::kPilot : answer.which == 2 ? Next::kCopilot : Next::kNothing;
}

Rules AskedRules::All() {
  return {
      .suggestion = [this](EntryIndex entry, EntryIndex dependency,
                           const Records& other) { return Suggestion(entry, dependency, other); },
      .slow_dependency = [this](
                             const std::vector<EntryIndex>& suggested,
                             const Quorums& quorums) { return SlowDependency(suggested, quorums); },
      .rivals = [this](EntryIndex entry, EntryIndex initial,
                       const Records& other) { return RivalsOf(entry, initial, other); },
      .choose =
          [this](EntryIndex entry, const std::vector<Prepared>& answers, const Records& other,
                 const Quorums& quorums) {
            return ChooseAfterPrepare(entry, answers, other, quorums);
          }};
}

void PrintTo(const Value& value, std::ostream* out) {
  if (value.no_op) {
    *out << "a no-op";
  } else {
    *out << "dependency " << value.dependency;
  }
}

void PrintTo(const Undecided& undecided, std::ostream* out) {
  *out << "entry " << undecided.entry << " must be decided first";
}

void PrintTo(const Rival& rival, std::ostream* out) {
  *out << "entry " << rival.entry << " of view " << rival.view << ", "
       << NameOf(rival.stage, {"promised", "proposed", "accepted", "committed"});
}

void PrintTo(Next next, std::ostream* out) {
  *out << NameOf(next, {"nothing", "the pilot's", "the copilot's"});
}

void PrintTo(Record::Kind kind, std::ostream* out) {
  *out << NameOf(kind, {"nothing", "fast-accepted", "suggested", "accepted", "committed"});
}

}  // namespace depfast::copilot
