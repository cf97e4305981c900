#include "verify/client_paths.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace depfast {

// A client that repeats a request waits for the work that still goes on for it.
void ClientPaths::Add(PeerId peer, std::uint64_t dependency, Time now) {
  int waits = 0;
  if (!overdue_.empty()) {
    if (const auto overdue = overdue_.find(dependency); overdue != overdue_.end()) {
      waits = overdue->second.waits;
      overdue_.erase(overdue);
    }
  }
  requests_.push_back({dependency, now, peer, true, waits});
}

Time ClientPaths::Answer(PeerId peer, std::uint64_t dependency, Time now) {
  const auto found = std::find_if(begin(), requests_.end(), [&](const Request& each) {
    return each.open && each.peer == peer && each.dependency == dependency;
  });
  if (found == requests_.end()) return kNever;
  const Time came = found->came;
  Close(*found, now);
  DropAnswered();
  return came;
}

const ClientPaths::Request* ClientPaths::Find(std::uint64_t dependency) const {
  const auto found = std::find_if(requests_.rbegin(), requests_.rend(), [&](const Request& each) {
    return each.open && each.dependency == dependency;
  });
  return found == requests_.rend() ? nullptr : &*found;
}

ClientPaths::Request* ClientPaths::Find(std::uint64_t dependency) {
  return const_cast<Request*>(std::as_const(*this).Find(dependency));
}

// Its waits go to another request with the same dependency id, if one is open.
void ClientPaths::Close(Request& request, Time now) {
  request.open = false;
  ++answered_;
  const int waits = std::exchange(request.waits, 0);
  if (waits == 0) return;
  if (Request* other = Find(request.dependency)) {
    other->waits += waits;
  } else {
    overdue_[request.dependency] = {waits, now};
  }
}

void ClientPaths::BeginWait(std::uint64_t task, std::uint64_t dependency) {
  Request* request = Find(dependency);
  if (request == nullptr) return;
  ++request->waits;
  waiting_.insert(task);
}

Duration ClientPaths::EndWait(std::uint64_t task, std::uint64_t dependency, Time since, Time now) {
  if (waiting_.erase(task) == 0) return Duration::zero();
  const auto request = std::find_if(requests_.rbegin(), requests_.rend(), [&](const Request& each) {
    return each.waits > 0 && each.dependency == dependency;
  });
  if (request != requests_.rend()) {
    --request->waits;
    return now - since;
  }
  const auto overdue = overdue_.find(dependency);
  const Time answered = overdue->second.answered;
  if (--overdue->second.waits == 0) overdue_.erase(overdue);
  return std::min(now, answered) - since;
}

bool ClientPaths::IsOnPath(std::uint64_t task, std::uint64_t dependency) const {
  return waiting_.contains(task) && Find(dependency) != nullptr;
}

void ClientPaths::ForgetBefore(Time oldest) {
  while (begin() != requests_.end() && begin()->came < oldest) {
    Close(*begin(), kNever);
    DropAnswered();
  }
}

// Answered requests are dropped once they are half of all, so that each costs a constant time.
void ClientPaths::DropAnswered() {
  while (begin() != requests_.end() && !begin()->open) {
    ++first_;
    --answered_;
  }
  if (2 * (first_ + answered_) <= std::ssize(requests_)) return;
  std::erase_if(requests_, [](const Request& each) { return !each.open; });
  first_ = answered_ = 0;
}

}  // namespace depfast
