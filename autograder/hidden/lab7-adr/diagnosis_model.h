// The one right answer to each question about who is slow: rules D1 to D5 and E1, by tables of all
// replicas and links.
#pragma once

#include <optional>
#include <vector>

#include "levels.h"

namespace depfast::adr {

Suspicion ModelDiagnose(PeerId self, const Levels& own, const std::vector<PeerReport>& peers,
                        int replicas);
bool ModelSendsClientsAway(const Suspicion& suspicion, std::optional<Duration> since_named,
                           const std::vector<PeerReport>& peers, int replicas);

}  // namespace depfast::adr
