// What a replica sends to its peers, and how long it remembers that. Given, not submitted.
#pragma once

#include <vector>

#include "depfast/broadcast.h"
#include "depfast/runtime.h"

namespace depfast::copilot {

// The replicas that take our messages. A slow one, with many bytes in our queue, learns later.
std::vector<PeerId> PeersInReach(Runtime& runtime);

// Releases calls that have no answer after a while. Returns at once.
void ReleaseLater(Runtime& runtime, BroadcastCalls calls);

}  // namespace depfast::copilot
