// OpenRequests: the requests of clients, and of replicas for them, that a replica has not answered.
//
// This is the hot path of verification, so it is a queue and not a table: requests are mostly
// answered in the order in which they came, and a coroutine mostly waits for a recent one.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "depfast/peer.h"
#include "depfast/time.h"

namespace depfast {

class OpenRequests {
 public:
  // Requires: no earlier call had a later `now`.
  void Add(PeerId peer, std::uint64_t dependency, Time now);

  // The oldest request of the peer with that dependency id is answered. Returns when it came;
  // nothing if there is none.
  std::optional<Time> Answer(PeerId peer, std::uint64_t dependency);

  // Whether a request with that dependency id is open, of any peer.
  bool Has(std::uint64_t dependency) const;

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
  };

  void DropAnswered();

  std::deque<Request> requests_;  // in the order in which they came; the first is open
  std::size_t answered_ = 0;      // of requests_
};

}  // namespace depfast
