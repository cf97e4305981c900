// WaitingLine: a place that takes so many at a time; the others wait and are served in the order in
// which they came.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace depfast::sim {

template <typename Who>
class WaitingLine {
 public:
  // Requires: places >= 1.
  explicit WaitingLine(std::size_t places) : places_(places) { assert(places >= 1); }

  bool idle() const { return inside_.empty(); }

  // Returns whether `who` is inside now; if not, it waits. Requires: it is neither already.
  bool Enter(const Who& who) {
    assert(!Holds(inside_, who) && !Holds(waiting_, who));
    const bool admitted = inside_.size() < places_;
    if (admitted) {
      inside_.push_back(who);
    } else {
      waiting_.push_back(who);
    }
    return admitted;
  }

  // `who` goes, from wherever it is; nothing happens if it is not here. Returns who comes in for
  // it.
  std::optional<Who> Leave(const Who& who) {
    if (const auto place = std::find(inside_.begin(), inside_.end(), who); place != inside_.end()) {
      inside_.erase(place);
      if (waiting_.empty()) return std::nullopt;
      const Who next = waiting_.front();
      waiting_.pop_front();
      inside_.push_back(next);
      return next;
    }
    if (const auto place = std::find(waiting_.begin(), waiting_.end(), who);
        place != waiting_.end()) {
      waiting_.erase(place);
    }
    return std::nullopt;
  }

 private:
  template <typename List>
  static bool Holds(const List& list, const Who& who) {
    return std::find(list.begin(), list.end(), who) != list.end();
  }

  std::size_t places_;
  std::vector<Who> inside_;  // at most places_; nobody waits while there is room
  std::deque<Who> waiting_;
};

}  // namespace depfast::sim
