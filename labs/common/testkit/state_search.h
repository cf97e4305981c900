// StateSearch: the states that a small machine can reach, the nearest ones first. It looks for a
// state that violates an invariant, and tells a shortest way there.
//
//   class Switch : public StateSearch<Position, Coverage> {
//     void Step() override;  // calls Visit for each state that is one step away from now()
//     ...
//   };
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace depfast {

// Stands for a state: 128 bits, so that two states have the same one in a run in 10^22.
struct StatePrint {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const StatePrint&) const = default;
};

StatePrint PrintOf(const void* state, std::size_t size);

// Prints beside each other in one table: a search spends most of its time here. A print of zeros,
// which no state has, marks a free place.
class StatePrints {
 public:
  // False if it was there before.
  bool Insert(const StatePrint& print);

 private:
  std::vector<StatePrint> table_ = std::vector<StatePrint>(1024);  // a power of two
  std::size_t count_ = 0;
};

// The result of a search.
template <typename Coverage>
struct Explored {
  Coverage coverage;
  std::string violated;  // the first broken invariant, in words; empty if all states are good
  std::vector<std::string> steps;  // the shortest way to it, in words
  bool complete = false;           // all states, not only `states_max`

  std::string InWords() const {
    std::string text = violated;
    for (const std::string& step : steps) text += "\n  " + step;
    return text;
  }
};

// State: equal states have equal bytes. Coverage: the number of times that the search has met each
// situation that it must not miss; one of them is `states`.
template <typename State, typename Coverage>
class StateSearch {
 public:
  virtual ~StateSearch() = default;
  StateSearch(const StateSearch&) = delete;
  StateSearch& operator=(const StateSearch&) = delete;

  // Searches until a state violates an invariant, all states are known, or `states_max` are.
  // `begin`: the steps that every run begins with, in words. Call it once.
  // Throws std::invalid_argument, in one line, if one of them is no step there.
  Explored<Coverage> Search(const std::vector<std::string>& begin, std::size_t states_max) {
    Begin(begin);
    Visit(first_, [] { return std::string(); });
    while (!left_.empty() && violated_.empty() && ways_.size() < states_max) {
      now_ = left_.front();
      left_.pop_front();
      way_.step = 0;
      Step();
      ++way_.from;
    }
    coverage_.states = ways_.size();
    Explored<Coverage> explored{coverage_, violated_, {}, left_.empty()};
    if (!violated_.empty()) explored.steps = StepsToViolation();
    return explored;
  }

 protected:
  StateSearch() = default;

  // Takes each step that there is from now().
  virtual void Step() = 0;
  // Makes states equal that behave alike.
  virtual void Normalize(State& state) const = 0;
  // The bytes from the beginning of a state that tell states apart: in all, the rest is the same.
  virtual std::size_t KeyBytes() const { return sizeof(State); }
  // The invariant that the state breaks, in words; empty if there is none.
  virtual std::string Violated(const State& state) const = 0;

  const State& now() const { return now_; }
  Coverage& coverage() { return coverage_; }
  // False in the steps that every run begins with.
  bool has_begun() const { return has_begun_; }

  // A step leads to that state, which this normalizes. `said`: returns the step in words.
  template <typename Said>
  void Visit(State& state, const Said& said) {
    static_assert(std::has_unique_object_representations_v<State>);
    if (has_begun_ && std::memcmp(&state, &now_, sizeof state) == 0 && !ways_.empty()) return;
    Normalize(state);
    if (!has_begun_) {
      if (wanted_ && said() == *wanted_) {
        replayed_state_ = state;
        wanted_.reset();
      }
      return;
    }
    const std::uint32_t step = way_.step++;
    if (replayed_) {
      if (step == *replayed_) {
        words_ = said();
        replayed_state_ = state;
      }
      return;
    }
    if (!violated_.empty() || !known_.Insert(PrintOf(&state, KeyBytes()))) return;
    ways_.push_back({way_.from, step});
    left_.push_back(state);
    violated_ = Violated(state);
    bad_ = ways_.size() - 1;
  }

  // The present state breaks an invariant by the steps that it has.
  void Violate(std::string words) {
    violated_ = std::move(words);
    bad_ = way_.from;
  }

 private:
  // The way to a state: from that state, by that step, counted from 0.
  struct Way {
    std::uint32_t from = 0;
    std::uint32_t step = 0;
  };

  void Begin(const std::vector<std::string>& begin) {
    for (const std::string& words : begin) {
      wanted_ = words;
      Step();
      if (wanted_) throw std::invalid_argument("no step is: " + words);
      now_ = replayed_state_;
    }
    first_ = now_;
    has_begun_ = true;
  }

  // The shortest way to the broken invariant, in words. States are not kept: the steps are taken
  // again from the first one.
  std::vector<std::string> StepsToViolation() {
    std::vector<std::uint32_t> steps;
    for (std::size_t state = bad_; state != 0; state = ways_[state].from) {
      steps.push_back(ways_[state].step);
    }
    std::vector<std::string> words;
    now_ = first_;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      replayed_ = *step;
      way_.step = 0;
      Step();
      now_ = replayed_state_;
      words.push_back(std::move(words_));
    }
    return words;
  }

  Coverage coverage_;
  StatePrints known_;
  std::vector<Way> ways_;   // of all states, in the order of their discovery
  std::deque<State> left_;  // found, and not stepped from
  Way way_;                 // of the next step
  State first_;
  State now_;
  std::string violated_;
  std::size_t bad_ = 0;  // the state that violates an invariant
  bool has_begun_ = false;
  std::optional<std::string> wanted_;  // the next step of Begin
  // StepsToViolation takes one step again, and keeps what it leads to.
  std::optional<std::uint32_t> replayed_;
  State replayed_state_;
  std::string words_;
};

}  // namespace depfast
