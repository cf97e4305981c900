#include "verify/open_requests.h"

#include <algorithm>

namespace depfast {

void OpenRequests::Add(PeerId peer, std::uint64_t dependency, Time now) {
  requests_.push_back({dependency, now, peer, true});
}

std::optional<Time> OpenRequests::Answer(PeerId peer, std::uint64_t dependency) {
  const auto found = std::find_if(requests_.begin(), requests_.end(), [&](const Request& each) {
    return each.open && each.peer == peer && each.dependency == dependency;
  });
  if (found == requests_.end()) return std::nullopt;
  const Time came = found->came;
  found->open = false;
  ++answered_;
  DropAnswered();
  return came;
}

bool OpenRequests::Has(std::uint64_t dependency) const {
  return std::any_of(requests_.rbegin(), requests_.rend(), [dependency](const Request& each) {
    return each.open && each.dependency == dependency;
  });
}

void OpenRequests::ForgetBefore(Time oldest) {
  while (!requests_.empty() && requests_.front().came < oldest) {
    requests_.front().open = false;
    ++answered_;
    DropAnswered();
  }
}

// Answered requests behind an open one are dropped once they are as many as the open ones, so that
// each costs a constant time.
void OpenRequests::DropAnswered() {
  while (!requests_.empty() && !requests_.front().open) {
    requests_.pop_front();
    --answered_;
  }
  if (2 * answered_ <= requests_.size()) return;
  std::erase_if(requests_, [](const Request& each) { return !each.open; });
  answered_ = 0;
}

}  // namespace depfast
