// Finds the slow replica, and says if clients go (lab 7). Rules D1 to D5 and E1 are those of the
// handout. Both functions are pure. Their declarations are the contract: the driver uses them.
#pragma once

#include <optional>
#include <span>

#include "depfast/peer.h"
#include "depfast/time.h"
#include "levels.h"

namespace depfast::adr {

// The slow one of `replicas` replicas, as replica `self` sees it (7C). `own`: its levels. `peers`:
// the latest report of each peer that has sent one, in any order; old ones do not count.
Suspicion Diagnose(PeerId self, const Levels& own, std::span<const PeerReport> peers, int replicas);

// Whether a replica sends its clients to others (7E). `suspicion`: its diagnosis now.
// `since_named`: the time since its diagnosis named itself, 0 if it does now; nothing if it never
// has.
bool SendsClientsAway(const Suspicion& suspicion, std::optional<Duration> since_named,
                      std::span<const PeerReport> peers, int replicas);

}  // namespace depfast::adr
