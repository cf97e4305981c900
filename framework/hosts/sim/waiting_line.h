// WaitingLine: a place that takes one at a time, or so many together; the others wait and are
// served in the order in which they came.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <deque>
#include <vector>

namespace depfast::sim {

template <typename Who>
class WaitingLine {
 public:
  // Nobody comes in before the place is empty, and then `together` at once. Requires: it is >= 1.
  explicit WaitingLine(std::size_t together) : together_(together) { assert(together >= 1); }

  bool idle() const { return inside_.empty(); }

  // Returns whether `who` is inside now; if not, it waits. Requires: it is neither already.
  bool Enter(const Who& who) {
    assert(!Holds(inside_, who) && !Holds(waiting_, who));
    const bool admitted = inside_.empty();
    if (admitted) {
      inside_.push_back(who);
    } else {
      waiting_.push_back(who);
    }
    return admitted;
  }

  // `who` goes, from wherever it is; nothing happens if it is not here. Returns who comes in
  // because of it.
  std::vector<Who> Leave(const Who& who) {
    std::erase(waiting_, who);
    if (std::erase(inside_, who) == 0 || !inside_.empty() || waiting_.empty()) return {};
    const auto count = std::min(together_, waiting_.size());
    const auto last = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    inside_.assign(waiting_.begin(), last);
    waiting_.erase(waiting_.begin(), last);
    return inside_;
  }

 private:
  template <typename List>
  static bool Holds(const List& list, const Who& who) {
    return std::find(list.begin(), list.end(), who) != list.end();
  }

  std::size_t together_;
  std::vector<Who> inside_;  // at most together_; nobody waits while it is empty
  std::deque<Who> waiting_;
};

}  // namespace depfast::sim
