// Dependency ids: the request that a message belongs to (document 000, section 4.3.1).
//
// Only clients and heartbeats create one; servers pass on the id of the request they are working
// for. Work without an id is a background task. Too many background tasks, such as the repair of a
// slow follower, overload a healthy leader.
#pragma once

#include <cstdint>

namespace depfast {

// The request that a message or the work of a coroutine belongs to.
struct Dependency {
  enum class Kind : std::uint8_t { kNone = 0, kClient = 1, kHeartbeat = 2 };

  Kind kind = Kind::kNone;
  std::uint64_t id = 0;  // of the client's request; 0 unless kind is kClient

  friend bool operator==(const Dependency&, const Dependency&) = default;

  static Dependency Client(std::uint64_t id) { return {Kind::kClient, id}; }
  static Dependency Heartbeat() { return {Kind::kHeartbeat, 0}; }
};

}  // namespace depfast
