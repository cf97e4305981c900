// WaitingLine: admits a limited number at a time. The others wait and are admitted in the order in
// which they came. After a client that entered `alone`, nobody is admitted until it leaves.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <deque>
#include <vector>

namespace depfast::sim {

template <typename Client>
class WaitingLine {
 public:
  // Requires: places >= 1.
  explicit WaitingLine(std::size_t places) : places_(places) { assert(places >= 1); }

  // Returns true if `client` is inside now; otherwise it waits. `alone`: it may join those inside,
  // but nobody joins it. Requires: the client is neither inside nor waiting.
  bool Enter(const Client& client, bool alone = false) {
    assert(!Holds(inside_, client) && !Holds(waiting_, client));
    const bool admitted = waiting_.empty() && HasRoom();
    if (admitted) {
      inside_.push_back({client, alone});
    } else {
      waiting_.push_back({client, alone});
    }
    return admitted;
  }

  // `client` stops waiting or comes out; nothing happens if it is neither waiting nor inside.
  // Returns all that are admitted now.
  std::vector<Client> Leave(const Client& client) {
    std::vector<Client> admitted;
    std::erase_if(waiting_, [&](const Entry& entry) { return entry.client == client; });
    std::erase_if(inside_, [&](const Entry& entry) { return entry.client == client; });
    while (!waiting_.empty() && HasRoom()) {
      admitted.push_back(waiting_.front().client);
      inside_.push_back(waiting_.front());
      waiting_.pop_front();
    }
    return admitted;
  }

 private:
  struct Entry {
    Client client;
    bool alone;
  };

  bool HasRoom() const {
    return inside_.size() < places_ &&
           std::none_of(
               inside_.begin(), inside_.end(), [](const Entry& entry) { return entry.alone; });
  }

  template <typename List>
  static bool Holds(const List& list, const Client& client) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Entry& entry) { return entry.client == client; });
  }

  std::size_t places_;
  std::vector<Entry> inside_;  // at most places_
  std::deque<Entry> waiting_;  // empty if there is room
};

}  // namespace depfast::sim
