// ClientPaths: which waits of a replica clients wait for.
//
// A wait is on a client's path if its coroutine works for a request that had no answer when the
// wait began. The client waits for it until the request is answered.
//
// This is the hot path of verification, so requests are a queue and not a table: they are mostly
// answered in the order in which they came, and a coroutine mostly waits for a recent one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "depfast/peer.h"
#include "depfast/time.h"

namespace depfast {

class ClientPaths {
 public:
  // A client's request has come, or a replica's that works for one. Requires: no earlier call had a
  // later `now`.
  void Add(PeerId peer, std::uint64_t dependency, Time now);

  // The oldest request of the peer with that dependency id is answered. Returns when it came;
  // kNever if there is none.
  Time Answer(PeerId peer, std::uint64_t dependency, Time now);

  // A coroutine that works for that dependency begins a wait. Requires: it has ended its last one.
  void BeginWait(std::uint64_t task, std::uint64_t dependency);
  // The wait ends. Returns the time of it that was on a path.
  Duration EndWait(std::uint64_t task, std::uint64_t dependency, Time since, Time now);
  // Whether the coroutine is in a wait that a client still waits for.
  bool IsOnPath(std::uint64_t task, std::uint64_t dependency) const;

  // Requests that came before are never answered.
  void ForgetBefore(Time oldest);

  // The number of requests in memory: at most twice the number of open ones.
  std::size_t size() const { return requests_.size(); }

 private:
  struct Request {
    std::uint64_t dependency;
    Time came;
    PeerId peer;
    bool open;
    int waits;  // on this request's path, if it is open
  };
  // Waits that go on although no request with their dependency id is open.
  struct Overdue {
    int waits = 0;
    Time answered{0};  // kNever: forgotten
  };

  // The newest open request with that dependency id; null if there is none.
  Request* Find(std::uint64_t dependency);
  const Request* Find(std::uint64_t dependency) const;
  void Close(Request& request, Time now);
  void DropAnswered();
  auto begin() { return requests_.begin() + first_; }

  std::vector<Request> requests_;  // in the order in which they came
  std::ptrdiff_t first_ = 0;       // the first open one; those before it are dropped in one go
  std::ptrdiff_t answered_ = 0;    // behind it

  // Each wait adds an element and removes it: the pool keeps the memory.
  std::pmr::unsynchronized_pool_resource pool_;
  std::pmr::unordered_set<std::uint64_t> waiting_{&pool_};           // tasks, on a path
  std::pmr::unordered_map<std::uint64_t, Overdue> overdue_{&pool_};  // by dependency
};

}  // namespace depfast
