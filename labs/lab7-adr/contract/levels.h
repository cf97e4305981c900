// Levels: the slowness that replicas know and tell. Given, not submitted.
#pragma once

#include <cstdint>
#include <map>

#include "depfast/fields.h"
#include "depfast/peer.h"
#include "depfast/time.h"

namespace depfast::adr {

// The level of a variable (document 004, section 6.2): a warning is kSlow.
enum class Level : std::uint8_t { kWell, kSlow, kFatal };

enum class Resource : std::uint8_t { kProcessor, kDisk, kNetwork };

// The levels of one replica, each by a detector of its own.
struct Levels {
  Level processor = Level::kWell;
  Level disk = Level::kWell;
  // Levels of the round trips to each other replica. One that is missing is well.
  std::map<PeerId, Level> links = {};
  DEPFAST_FIELDS(processor, disk, links)
};

// A peer's answer in the health exchange, the enhanced protocol of document 004, section 4.2.2.
struct PeerReport {
  PeerId peer = 0;
  std::int64_t age_ns = 0;  // since it came
  Levels levels;
  DEPFAST_FIELDS(peer, age_ns, levels)
};

// An older report does not count.
inline constexpr Duration kReportAgeMax = 1s;
// A replica takes clients again when it has not named itself for this time.
inline constexpr Duration kWellBeforeClients = 5s;

// The answer to "who is slow?".
struct Suspicion {
  enum class Who : std::uint8_t { kNobody, kSelf, kPeer, kEverybody };
  Who who = Who::kNobody;
  PeerId peer = 0;                           // of kPeer
  Resource resource = Resource::kProcessor;  // of all but kNobody
  DEPFAST_FIELDS(who, peer, resource)

  // A field without a meaning does not count.
  friend bool operator==(const Suspicion& a, const Suspicion& b) {
    return a.who == b.who && (a.who != Who::kPeer || a.peer == b.peer) &&
           (a.who == Who::kNobody || a.resource == b.resource);
  }
};

}  // namespace depfast::adr
