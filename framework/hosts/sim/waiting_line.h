// WaitingLine: admits a limited number at a time. The others wait and are admitted in the order in
// which they came. While one is inside that came with `alone`, nobody else is admitted.
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
  // Requires: places >= 1.
  explicit WaitingLine(std::size_t places) : places_(places) { assert(places >= 1); }

  // Returns true if `who` is inside now; otherwise it waits. Requires: it is neither inside nor
  // waiting.
  bool Enter(const Who& who, bool alone = false) {
    assert(!Holds(inside_, who) && !Holds(waiting_, who));
    const bool admitted = waiting_.empty() && HasRoom();
    if (admitted) {
      inside_.push_back({who, alone});
    } else {
      waiting_.push_back({who, alone});
    }
    return admitted;
  }

  // `who` stops waiting or comes out; nothing happens if it is neither waiting nor inside. Returns
  // all that are admitted now.
  std::vector<Who> Leave(const Who& who) {
    std::vector<Who> admitted;
    std::erase_if(waiting_, [&](const Entry& entry) { return entry.who == who; });
    std::erase_if(inside_, [&](const Entry& entry) { return entry.who == who; });
    while (!waiting_.empty() && HasRoom()) {
      admitted.push_back(waiting_.front().who);
      inside_.push_back(waiting_.front());
      waiting_.pop_front();
    }
    return admitted;
  }

 private:
  struct Entry {
    Who who;
    bool alone;
  };

  bool HasRoom() const {
    return inside_.size() < places_ &&
           std::none_of(
               inside_.begin(), inside_.end(), [](const Entry& entry) { return entry.alone; });
  }

  template <typename List>
  static bool Holds(const List& list, const Who& who) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Entry& entry) { return entry.who == who; });
  }

  std::size_t places_;
  std::vector<Entry> inside_;  // at most places_
  std::deque<Entry> waiting_;  // empty if there is room
};

}  // namespace depfast::sim
