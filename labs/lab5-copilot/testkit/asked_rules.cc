#include "asked_rules.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>

namespace depfast::copilot {
namespace {

constexpr PeerId kAsked = 2;  // a follower: pilots have more to do

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

AskedRules::AskedRules() : cluster_({.replicas = 3, .seed = 1}), client_(cluster_.simulator()) {
  cluster_.Start();
  cluster_.RunFor(10ms);  // the replicas have made a step
}

AskedRules::~AskedRules() {
  if (!cluster_.first_death().empty()) ADD_FAILURE() << cluster_.first_death();
  if (!has_answers_) ADD_FAILURE() << "a replica does not answer a question to its rules";
}

template <typename Question>
RuleAnswer AskedRules::Ask(const Question& question) {
  msgpack::sbuffer bytes;
  msgpack::pack(bytes, question);
  const auto [known, is_new] =
      answers_.try_emplace({Question::kMethod, std::string(bytes.data(), bytes.size())});
  if (!is_new || !has_answers_) return known->second;
  struct Answered {
    bool is_over = false;
    std::optional<RuleAnswer> answer;
  };
  const auto answered = std::make_shared<Answered>();
  client_.Call(kAsked, question, 1s,
               [answered](const std::optional<RuleAnswer>& answer) { *answered = {true, answer}; });
  cluster_.RunUntil([&] { return answered->is_over || !cluster_.first_death().empty(); }, 2s);
  has_answers_ = answered->answer.has_value();
  return known->second = answered->answer.value_or(RuleAnswer());
}

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
  AskChoice question{entry, {}, KeptRecords::Of(other), quorums.replicas()};
  for (const Prepared& each : answers) {
    question.answers.push_back({each.replica, each.record, each.rivals, each.decides});
  }
  const RuleAnswer answer = Ask(question);
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
                             std::vector<EntryIndex> suggested,
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
