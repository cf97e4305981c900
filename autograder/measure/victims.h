// The replicas that a fault strikes.
#pragma once

#include <string>
#include <vector>

#include "depfast/peer.h"

namespace depfast::measure {

// The replicas that propose nothing have places, counted from 1 in the order of their ids after the
// first proposer; after the last replica comes replica 0. Returns those at `places`; if `places` is
// empty, those at the first places: the largest minority of `replicas`. Throws
// std::invalid_argument, in one line, if a place is nobody's, stands twice, or if there are more
// places than a minority.
std::vector<PeerId> FollowersAt(const std::vector<int>& places,
                                const std::vector<PeerId>& proposers, int replicas);

// The replica that has the role `victim`. `roles` names the roles of `proposers` in order, and last
// the role of all other replicas. Throws std::invalid_argument, in one line, if no proposer has the
// role.
PeerId ProposerOf(const std::vector<std::string>& roles, const std::string& victim,
                  const std::vector<PeerId>& proposers);

// The proposer that has the role `victim`, then the followers at `places`, if any. Throws as
// ProposerOf and FollowersAt; the proposer is one of the minority.
std::vector<PeerId> ProposerAndFollowers(const std::vector<std::string>& roles,
                                         const std::string& victim, const std::vector<int>& places,
                                         const std::vector<PeerId>& proposers, int replicas);

}  // namespace depfast::measure
