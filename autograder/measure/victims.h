// The replicas that a fault strikes, by their role.
#pragma once

#include <string>
#include <vector>

#include "depfast/peer.h"

namespace depfast::measure {

// The replicas that have the role `victim`, or, if it is empty, the last of `roles`.
//
// `roles` names the roles of `proposers` in order, and last the role of all other replicas. Of a
// proposer's role there is one victim. Of the last there are as many as the largest minority of
// `replicas`, or fewer if fewer have it; they begin after the first proposer. Throws
// std::invalid_argument, in one line, if no replica has the role.
std::vector<PeerId> VictimsOf(const std::vector<std::string>& roles, const std::string& victim,
                              const std::vector<PeerId>& proposers, int replicas);

}  // namespace depfast::measure
