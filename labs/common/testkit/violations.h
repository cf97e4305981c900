// Violations: the broken invariants that a checker has found.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "depfast/time.h"
#include "testkit/history.h"
#include "testkit/violation.h"

namespace depfast {

// Invariant: an enumeration. In its namespace are ToString(invariant), its name in a report,
// HandoutRule(invariant), where a student reads the rule, and IsSafety(invariant), whether a
// violation may lose or change data.
template <typename Invariant>
class Violations {
 public:
  struct Violation {
    Invariant invariant;
    Time when{0};
    std::string what;  // one sentence
  };
  const std::vector<Violation>& violations() const { return violations_; }

 protected:
  // Writes violations and notes into `history` unless that is null. It must outlive this.
  explicit Violations(testkit::History* history) : history_(history) {}

  void Violate(Invariant invariant, const std::string& what,
               std::vector<testkit::EarlierStep> earlier = {}) {
    constexpr std::size_t kViolationsMax = 20;
    if (violations_.size() >= kViolationsMax) return;
    violations_.push_back({invariant, now_, what});
    if (history_ == nullptr) return;
    history_->AddViolation(now_, ToString(invariant), what, std::move(earlier));
  }
  // For people.
  void Note(const std::string& what) {
    if (history_ != nullptr) history_->Add(now_, what);
  }

  // The first violation as a sentence; empty if there is none. `rule`: where a student reads it, if
  // that is not HandoutRule.
  std::string First(bool of_safety, const std::string& rule = "") const {
    const auto first = std::ranges::find_if(violations_, [of_safety](const Violation& each) {
      return !of_safety || IsSafety(each.invariant);
    });
    if (first == violations_.end()) return "";
    return testkit::ViolationSentence(ToString(first->invariant), first->when, first->what,
                                      rule.empty() ? HandoutRule(first->invariant) : rule);
  }

  testkit::History* const history_;
  Time now_{0};  // of the present step

 private:
  std::vector<Violation> violations_;
};

}  // namespace depfast
